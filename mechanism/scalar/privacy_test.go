package scalar

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
)

// The tests of this file enumerate every database of up to three people over tiny
// universes, NULL included, and every outcome, and compare the bound with what the
// code's own answer, clamp and rate make of it.

var null = math.NaN()

// The tiny universes have 0 inside, at either end, below and above, and a grain below the step.
var tinyUniverses = []struct{ lo, hi, step float64 }{
	{0, 3, 1},
	{0, 0.3, 0.1},
	{-1, 2, 1},
	{-3, 0, 1},
	{2, 4, 1},
	{-4, -2, 1},
	{0.5, 2.5, 1},
	{2, 8, 3},
	{-1, 5, 3},
	{0, 5, 5},
}

var tinyEpsilons = []string{"0.6931471805599453", "0.1", "3"}

type tinyCase struct {
	agg    Aggregate
	metric budget.Metric
}

func (c tinyCase) String() string {
	name := c.agg.String()
	if p, ok := c.agg.(percentile); ok {
		name += fmt.Sprint(p.fraction)
	}
	return name + "/" + c.metric.String()
}

func tinyCases() []tinyCase {
	cases := []tinyCase{
		{Sum, budget.D1}, {Sum, budget.ND1}, {Sum, budget.DH},
	}
	for _, m := range []budget.Metric{budget.D1, budget.ND1, budget.DH, budget.DInf} {
		for _, agg := range []Aggregate{Min, Max, Median} {
			cases = append(cases, tinyCase{agg, m})
		}
		for _, p := range []string{"0", "33.3", "50", "66.7", "100"} {
			cases = append(cases, tinyCase{percentileOf(rational(p)), m})
		}
	}
	return cases
}

func TestEveryQueryKeepsItsEpsilon(t *testing.T) {
	for _, bounds := range tinyUniverses {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		dbs := databases(u)
		for _, c := range tinyCases() {
			d := distanceOf(u, c)
			for _, e := range tinyEpsilons {
				eps := rational(e)
				q := query(t, c.agg, u, c.metric, eps)
				if q.scored() != nil {
					if err := keepsEpsilon(dbs, lawsOf(t, q, dbs), d, eps); err != nil {
						t.Errorf("epsilon %s: %v", e, err)
					}
				}
				if q.scored() == nil || c.metric == budget.D1 { // noised, or may be
					spendsExactly(t, released(q), dbs, d, eps)
				}
			}
			if t.Failed() {
				t.Fatalf("%v: %v", u, c)
			}
		}
	}
}

func TestCountKeepsItsEpsilonPerRecord(t *testing.T) {
	dbs := databases(universe(t, 0, 1, 1))
	presence := metric{
		row:  func(a, b float64) int64 { return whole(math.IsNaN(a) != math.IsNaN(b)) },
		fold: add, one: big.NewRat(1, 1),
	}
	for _, e := range tinyEpsilons {
		eps := rational(e)
		spendsExactly(t, released(query(t, Count, nil, budget.D1, eps)), dbs, presence, eps)
	}
}

// Every pair of readings and every output: the truncated geometric mechanism itself.
func TestValueKeepsItsEpsilon(t *testing.T) {
	for _, bounds := range tinyUniverses {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		var dbs [][]float64
		for k := range u.last + 1 {
			dbs = append(dbs, []float64{u.Value(k)})
		}
		d := distanceOf(u, tinyCase{agg: Value})
		for _, e := range tinyEpsilons {
			eps := rational(e)
			spendsExactly(t, released(query(t, Value, u, budget.D1, eps)), dbs, d, eps)
		}
	}
}

// spendsExactly demands that r never spends more than eps times the distance, and
// that no noise is wasted: for some databases and outcome it spends all of it.
func spendsExactly(t *testing.T, r release, dbs [][]float64, d metric, eps *big.Rat) {
	t.Helper()
	pairs := r.closest(dbs, d)
	if err := overspent(r, pairs, eps); err != nil {
		t.Error(err)
	}
	if worst := loss(r, pairs, eps); math.Abs(worst-1) > 1e-9 {
		t.Errorf("spends %v of epsilon %v", worst, eps)
	}
}

// A sum under d1 over a universe without 0 is the one query for which a NULL is
// further than hi - lo from a value; see Query. (Thesis, footnote 2 of chapter 4.)
func TestSumWithoutZeroNeedsDistantNulls(t *testing.T) {
	u := universe(t, 2, 4, 1)
	eps := rational("0.1")
	r := released(query(t, Sum, u, budget.D1, eps))
	near := distanceOf(u, tinyCase{agg: Max, metric: budget.D1})
	if worst := loss(r, r.closest(databases(u), near), eps); math.Abs(worst-2) > 1e-9 {
		t.Errorf("with NULL at hi-lo the sum over 2..4 spends %v of its epsilon, want 4/(4-2)", worst)
	}
}

// The checker must catch the mistakes that are easily made.
func TestCheckerCatchesPlantedBugs(t *testing.T) {
	eps := rational("0.5")
	for _, bug := range []struct {
		name         string
		lo, hi, step float64
		c            tinyCase
		plant        func(*release)
		lastBit      bool // too small an excess for floats to show
	}{
		{name: "minimum with two thirds of the sensitivity", hi: 3, step: 1,
			c:     tinyCase{agg: Min, metric: budget.D1},
			plant: func(r *release) { r.rate *= 1.5 }},
		{name: "rate rounded up", hi: 0.3, step: 0.1,
			c:     tinyCase{agg: Median, metric: budget.DInf},
			plant: func(r *release) { r.rate = math.Nextafter(r.rate, 1) }, lastBit: true},
		{name: "maximum under dinf with two thirds of the sensitivity", hi: 3, step: 1,
			c:     tinyCase{agg: Max, metric: budget.DInf},
			plant: func(r *release) { r.rate *= 3. / 2 }},
		{name: "minimum under dh with Delta = 1", hi: 3, step: 1,
			c:     tinyCase{agg: Min, metric: budget.DH},
			plant: func(r *release) { r.rate *= 3 }},
		{name: "sum under nd1 with Delta = hi-lo although lo > 0", lo: 2, hi: 4, step: 1,
			c:     tinyCase{agg: Sum, metric: budget.ND1},
			plant: func(r *release) { r.rate *= 4. / 2 }},
		{name: "sum under nd1 with Delta = |hi| although lo < 0", lo: -1, hi: 2, step: 1,
			c:     tinyCase{agg: Sum, metric: budget.ND1},
			plant: func(r *release) { r.rate *= 3. / 2 }},
		{name: "minimum of no readings beyond hi", hi: 3, step: 1,
			c: tinyCase{agg: Min, metric: budget.D1},
			plant: func(r *release) {
				honest := r.answer
				r.answer = func(a *Accumulator) int128 {
					if a.rows == 0 {
						return fromInt64(r.query.universe.last + 1)
					}
					return honest(a)
				}
			}},
		{name: "sum under dinf", hi: 3, step: 1,
			c: tinyCase{agg: Max, metric: budget.DInf},
			plant: func(r *release) {
				sum := query(t, Sum, r.query.universe, budget.D1, eps)
				r.query = sum
				r.answer = func(a *Accumulator) int128 { return fromInt64(int64(a.sum.lo)) }
				r.lattice = func(*Accumulator) lattice { return lattice{high: highest} }
			}},
		{name: "sum clamped at n*hi", hi: 3, step: 1,
			c: tinyCase{agg: Sum, metric: budget.D1},
			plant: func(r *release) {
				r.lattice = func(a *Accumulator) lattice {
					l := r.query.noised().lattice
					l.high = fromInt64(a.rows * r.query.universe.last)
					return l
				}
			}},
		{name: "noise on multiples of step while lo is half a step", lo: 0.5, hi: 2.5, step: 1,
			c:     tinyCase{agg: Sum, metric: budget.D1},
			plant: func(r *release) { r.stride, r.rate = 2, 2*r.rate }},
	} {
		u := universe(t, bug.lo, bug.hi, bug.step)
		r := released(query(t, bug.c.agg, u, bug.c.metric, eps))
		bug.plant(&r)
		pairs := r.closest(databases(u), distanceOf(u, bug.c))
		worst := loss(r, pairs, eps)
		caught := worst > 1+1e-9
		if bug.lastBit {
			caught = overspent(r, pairs, eps) != nil
		}
		if !caught {
			t.Errorf("%s: not caught (%v of epsilon)", bug.name, worst)
		}
	}
}

// release is a mechanism on databases: clamp(answer + stride*N), N at rate.
type release struct {
	query   *Query
	answer  func(a *Accumulator) int128
	lattice func(a *Accumulator) lattice
	noise
	stride int64
}

// released returns the releases of q, by q's own code.
func released(q *Query) release {
	return release{
		query:   q,
		answer:  q.answer,
		lattice: func(*Accumulator) lattice { return q.noised().lattice },
		noise:   q.noised().noise,
		stride:  1,
	}
}

func (r release) collect(db []float64) *Accumulator {
	a := new(Accumulator)
	for _, x := range db {
		if !math.IsNaN(x) {
			r.query.Add(a, x)
		}
	}
	return a
}

// outcome is all that the law of a release depends on.
type outcome struct {
	answer  int128
	lattice lattice
}

type pair struct{ x, y outcome }

// closest returns, for every two outcomes, the smallest distance of databases that
// lead to them. No other pair of databases can break the bound if these keep it.
func (r release) closest(dbs [][]float64, d metric) map[pair]*big.Rat {
	outcomes := make([]outcome, len(dbs))
	for i, db := range dbs {
		a := r.collect(db)
		outcomes[i] = outcome{r.answer(a), r.lattice(a)}
	}
	nearest := make(map[pair]int64)
	for i, x := range dbs {
		for j, y := range dbs {
			p := pair{outcomes[i], outcomes[j]}
			if p.x == p.y {
				continue
			}
			if least, known := nearest[p]; !known || d.units(x, y) < least {
				nearest[p] = d.units(x, y)
			}
		}
	}
	distances := make(map[pair]*big.Rat)
	for p, units := range nearest {
		distances[p] = new(big.Rat).Mul(d.one, new(big.Rat).SetInt64(units))
	}
	return distances
}

// overspent checks in rationals that no answers are further apart, at the rate used,
// than epsilon times the distance.
func overspent(r release, pairs map[pair]*big.Rat, eps *big.Rat) error {
	for p, distance := range pairs {
		steps, _ := p.x.answer.add(p.y.answer.neg()).int64()
		spent := r.spends(new(big.Int).Abs(big.NewInt(steps)))
		if bound := new(big.Rat).Mul(eps, distance); spent.Cmp(bound) > 0 {
			return fmt.Errorf("answers %d steps apart cost %s, not %s", steps,
				spent.FloatString(20), bound.FloatString(20))
		}
	}
	return nil
}

// loss returns the largest ln(P(z|x)/P(z|y)) / (eps*distance) over all pairs and every
// z; infinite when some z is possible for x only.
func loss(r release, pairs map[pair]*big.Rat, eps *big.Rat) float64 {
	laws := make(map[outcome]map[int64]float64)
	for p := range pairs {
		if laws[p.x] == nil {
			laws[p.x] = lawOfNoise(p.x, r.noise, r.stride)
		}
	}
	worst := 0.0
	for p, distance := range pairs {
		budget, _ := new(big.Rat).Mul(eps, distance).Float64()
		for z := int64(-window); z <= window; z++ {
			if px := laws[p.x][z]; px > 0 {
				worst = max(worst, math.Log(px/laws[p.y][z])/budget)
			}
		}
	}
	return worst
}

// window holds all outcomes that the enumeration compares; beyond it the ratios of an
// unclamped law are those at its ends.
const window = 20

// noisedLaw returns the probability of each z that noise within 2*window reaches, by way of
// the lattice's clamp. A tail that the clamp gathers is added in closed form; one that
// stays open is missing from the sum.
func noisedLaw(o outcome, rate float64, stride int64) map[int64]float64 {
	return lawOfNoise(o, noise{rate: rate}, stride)
}

// lawOfNoise is that for any noise.
func lawOfNoise(o outcome, n noise, stride int64) map[int64]float64 {
	const reach = 2 * window // answers are within the window
	land := func(noise int64) int64 {
		z, _ := o.lattice.clamp(o.answer.add(fromInt64(noise * stride))).int64()
		return z
	}
	law := make(map[int64]float64)
	for k := int64(-reach); k <= reach; k++ {
		law[land(k)] += n.mass(k)
	}
	for _, end := range []int64{-reach, reach} {
		if land(end) == land(2*end) {
			law[land(end)] += n.tail(reach + 1)
		}
	}
	return law
}

// geometricMass is P(N = n) and geometricTail P(N >= n), n > 0.
func geometricMass(rate float64, n int64) float64 {
	return math.Tanh(rate/2) * math.Exp(-rate*math.Abs(float64(n)))
}

func geometricTail(rate float64, n int64) float64 {
	return math.Exp(-rate*float64(n)) / (1 + math.Exp(-rate))
}

// databases returns every database of three rows over u's values and NULL. Those of
// fewer rows are among them: an absent row and a NULL are the same.
func databases(u *Universe) [][]float64 {
	values := []float64{null}
	for k := range u.last + 1 {
		values = append(values, u.Value(k))
	}
	var dbs [][]float64
	for _, x := range values {
		for _, y := range values {
			for _, z := range values {
				dbs = append(dbs, []float64{x, y, z})
			}
		}
	}
	return dbs
}

// metric is a distance between databases of as many rows: row distances, folded, in
// multiples of one.
type metric struct {
	row  func(a, b float64) int64
	fold func(a, b int64) int64
	one  *big.Rat

	// nullsPublic says that draws by score protect no databases whose NULLs differ.
	nullsPublic bool
}

func (m metric) units(x, y []float64) int64 {
	d := int64(0)
	for i := range x {
		d = m.fold(d, m.row(x[i], y[i]))
	}
	return d
}

// distanceOf returns the metric of c on databases over u, in the unit that epsilon is
// per, by the definitions of the thesis (4.3.1, 4.3.2, 4.4). The tiny universes have
// at most one decimal, so distances are whole tenths.
func distanceOf(u *Universe, c tinyCase) metric {
	tenths := func(x float64) int64 { return int64(math.Round(10 * x)) }
	width := tenths(u.hi - u.lo)
	toNull := width
	if c.agg == Sum && c.metric == budget.D1 {
		toNull = max(width, tenths(u.hi), tenths(-u.lo))
	}
	row := func(a, b float64) int64 {
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a) || math.IsNaN(b):
			return toNull
		default:
			return tenths(math.Abs(a - b))
		}
	}
	switch c.metric {
	case budget.D1:
		return metric{row: row, fold: add, one: big.NewRat(1, 10), nullsPublic: true}
	case budget.ND1:
		return metric{row: row, fold: add, one: big.NewRat(1, width)}
	case budget.DH:
		return metric{row: func(a, b float64) int64 { return whole(row(a, b) > 0) }, fold: add, one: big.NewRat(1, 1)}
	default:
		return metric{row: row, fold: func(a, b int64) int64 { return max(a, b) }, one: big.NewRat(1, 10)}
	}
}

func add(a, b int64) int64 { return a + b }

func whole(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func rational(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("bad rational in a test: " + s)
	}
	return r
}

// fataler is a *testing.T, a *testing.B or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func query(t fataler, agg Aggregate, u *Universe, m budget.Metric, eps *big.Rat) *Query {
	t.Helper()
	q, err := NewQuery(agg, u, m, eps)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func percentileOf(p *big.Rat) Aggregate {
	a, err := Percentile(p)
	if err != nil {
		panic(err)
	}
	return a
}

// drawn returns a percentile as a metric wants it drawn.
func drawn(t fataler, a Aggregate, metric string) Aggregate {
	t.Helper()
	_, a, err := ParseMetric(metric, a)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// noised returns the part of a law that has a lattice and noise on it.
func (q *Query) noised() *noised { return q.law.(interface{ part() *noised }).part() }

func (n *noised) part() *noised { return n }

// answer returns the true answer of a law that adds noise to it.
func (q *Query) answer(a *Accumulator) int128 {
	return q.law.(interface{ answer(*Accumulator) int128 }).answer(a)
}

// scored returns the law of a percentile that may be drawn by score, or nil.
func (q *Query) scored() *scored {
	l, _ := q.law.(*scored)
	return l
}

// percentile returns the true percentile.
func (l *ranked) percentile(indices []int64) int64 {
	k, _ := l.answer(&Accumulator{indices: slices.Clone(indices)}).int64()
	return k
}
