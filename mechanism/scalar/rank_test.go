package scalar

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// The runs of every tiny database have the scores that the definitions give: ranks are
// counted, and the inverse sensitivity is found by trying all databases.
func TestScoresAreThoseDefined(t *testing.T) {
	for _, n := range []int64{1, 2, 5} {
		u := universe(t, 0, float64(n), 1)
		for _, db := range databases(u) {
			queries := map[string]*Query{"aimed inside": aimedInside(t, u, rational("1"), 1)}
			for _, c := range tinyCases() {
				queries[c.String()] = query(t, c.agg, u, c.metric, rational("1"))
			}
			for name, q := range queries {
				if q.scored() == nil {
					continue
				}
				readings := indicesOf(q, db)
				if got, want := scoresOf(t, q, readings), definedScores(q, readings); !slices.Equal(got, want) {
					t.Fatalf("%s of %v: scores %v, want %v", name, db, got, want)
				}
			}
		}
	}
}

// indicesOf returns the readings of a database of values and NULL.
func indicesOf(q *Query, db []float64) []int64 {
	return released(q).collect(db).indices
}

// scoresOf returns the score of every value, by the runs.
func scoresOf(t fataler, q *Query, readings []int64) []int64 {
	t.Helper()
	scores := make([]int64, q.universe.last+1)
	for i := range scores {
		scores[i] = -1
	}
	all := q.scores(readings)
	for r, ok := all.next(); ok; r, ok = all.next() {
		for j := range r.n {
			v := r.first + r.step*j
			if scores[v] != -1 {
				t.Fatal(fmt.Sprintf("value %d of %v is in two runs", v, readings))
			}
			scores[v] = r.scoreAt(j).big().Int64()
		}
	}
	if slices.Contains(scores, -1) {
		t.Fatal(fmt.Sprintf("a value of %v is in no run", readings))
	}
	return scores
}

// rankOf returns min(n, floor(n*p/100)+1), or n - min(c, floor(n/2)) for a maximum that is aimed c ranks inside.
func rankOf(q *Query, n int) int64 {
	if q.scored().inside > 0 {
		return int64(n) - min(q.scored().inside, int64(n/2))
	}
	product := new(big.Int).Mul(big.NewInt(int64(n)), new(big.Int).SetUint64(q.scored().num))
	product.Quo(product, new(big.Int).SetUint64(q.scored().den))
	return min(int64(n), product.Int64()+1)
}

// aimedInside returns a maximum under dh that is aimed c ranks inside.
func aimedInside(t fataler, u *Universe, eps *big.Rat, c int64) *Query {
	q := query(t, Max, u, budget.DH, eps)
	q.scored().inside = c
	return q
}

// definedScores returns the score of every value by its definition. Where all have the
// same score, it is 0.
func definedScores(q *Query, readings []int64) []int64 {
	scores := make([]int64, q.universe.last+1)
	if len(readings) == 0 {
		return scores
	}
	if q.metric == budget.DH {
		k := rankOf(q, len(readings))
		for v := range scores {
			below, equal := int64(0), int64(0)
			for _, x := range readings {
				below += whole(x < int64(v))
				equal += whole(x == int64(v))
			}
			scores[v] = max(0, below+1-k, k-(below+equal))
		}
		return scores
	}
	for v := range scores {
		scores[v] = math.MaxInt64
	}
	other := make([]int64, len(readings))
	var try func(i int, distance int64)
	try = func(i int, distance int64) {
		if i == len(other) {
			v := slices.Sorted(slices.Values(other))[rankOf(q, len(other))-1]
			scores[v] = min(scores[v], distance)
			return
		}
		for y := range q.universe.last + 1 {
			other[i] = y
			try(i+1, distance+max(y-readings[i], readings[i]-y))
		}
	}
	try(0, 0)
	return scores
}

// lawOf returns the probability of every value in a draw by score.
func lawOf(scores []int64, rate float64) []float64 {
	law, sum := make([]float64, len(scores)), 0.0
	for v, s := range scores {
		law[v] = math.Exp(-rate * float64(s))
		sum += law[v]
	}
	for v := range law {
		law[v] /= sum
	}
	return law
}

// lawsOf returns the law that q draws each database by, if it draws by score.
func lawsOf(t fataler, q *Query, dbs [][]float64) [][]float64 {
	laws := make([][]float64, len(dbs))
	for i, db := range dbs {
		laws[i] = lawOf(scoresOf(t, q, indicesOf(q, db)), q.noised().noise.rate/2)
	}
	return laws
}

// keepsEpsilon demands that no probability differs by more than exp(eps*distance)
// between any two databases. Under d1 the positions of NULL are public.
func keepsEpsilon(dbs [][]float64, laws [][]float64, d metric, eps *big.Rat) error {
	perUnit, _ := new(big.Rat).Mul(eps, d.one).Float64()
	for i, x := range dbs {
		for j, y := range dbs {
			if d.nullsPublic && !sameNulls(x, y) {
				continue
			}
			bound := perUnit * float64(d.units(x, y))
			for v, p := range laws[i] {
				if loss := math.Log(p / laws[j][v]); loss > bound+1e-12*max(1, bound) {
					return fmt.Errorf("value %d: loss %v between %v and %v, not %v", v, loss, x, y, bound)
				}
			}
		}
	}
	return nil
}

// Easy mistakes are caught, by the scores' definition or by the bound.
func TestScoreChecksCatchPlantedBugs(t *testing.T) {
	u := universe(t, 0, 3, 1)
	dbs := databases(u)
	eps := rational("1")
	for _, bug := range []struct {
		name   string
		metric budget.Metric
		law    func(q *Query, readings []int64) []float64
		wrong  bool // caught by the definition only: the law is private
	}{
		{"rank off by one", budget.DH, func(q *Query, readings []int64) []float64 {
			r := q.scores(readings)
			if ranks, counted := r.(*rankScores); counted {
				ranks.k++
			}
			return lawOf(scoresIn(u, r), q.noised().noise.rate/2)
		}, true},
		{"moves to the reading above", budget.ND1, func(q *Query, readings []int64) []float64 {
			moves := q.scores(readings).(*moveScores)
			if moves.k+1 < len(readings) {
				moves.k++
			}
			return lawOf(scoresIn(u, moves), q.noised().noise.rate/2)
		}, true},
		{"epsilon for half of it under dh", budget.DH, func(q *Query, readings []int64) []float64 {
			return lawOf(scoresOf(t, q, readings), q.noised().noise.rate)
		}, false},
		{"epsilon for half of it under nd1", budget.ND1, func(q *Query, readings []int64) []float64 {
			return lawOf(scoresOf(t, q, readings), q.noised().noise.rate)
		}, false},
		{"epsilon for half of it under d1", budget.D1, func(q *Query, readings []int64) []float64 {
			return lawOf(scoresOf(t, q, readings), q.noised().noise.rate)
		}, false},
		{"ties counted twice", budget.DH, func(q *Query, readings []int64) []float64 {
			k := rankOf(q, len(readings))
			scores := make([]int64, u.last+1)
			for v := range scores {
				below, upTo := int64(0), int64(0)
				for _, x := range readings {
					below += whole(x < int64(v))
					upTo += whole(x < int64(v)) + 2*whole(x == int64(v))
				}
				scores[v] = max(0, below+1-k, k-upTo)
			}
			return lawOf(scores, q.noised().noise.rate/2)
		}, true},
		{"ranks under nd1", budget.ND1, func(q *Query, readings []int64) []float64 {
			dh := query(t, Median, u, budget.DH, eps)
			return lawOf(scoresOf(t, dh, readings), dh.noised().noise.rate/2)
		}, false},
		{"choice that depends on the readings", budget.D1, func(q *Query, readings []int64) []float64 {
			if len(readings) > 0 && slices.Max(readings) == slices.Min(readings) {
				return lawOf(scoresOf(t, q, readings), q.noised().noise.rate/2)
			}
			noised := make([]float64, u.last+1)
			for v, p := range noisedLaw(outcome{fromInt64(q.scored().percentile(readings)), q.noised().lattice}, q.noised().noise.rate, 1) {
				noised[v] = p
			}
			return noised
		}, false},
	} {
		q := query(t, Median, u, bug.metric, eps)
		var laws [][]float64
		wrong := false
		for _, db := range dbs {
			readings := indicesOf(q, db)
			laws = append(laws, bug.law(q, readings))
			for v, p := range lawOf(definedScores(q, readings), q.noised().noise.rate/2) {
				wrong = wrong || math.Abs(p-laws[len(laws)-1][v]) > 1e-12
			}
		}
		err := keepsEpsilon(dbs, laws, distanceOf(u, tinyCase{agg: Median, metric: bug.metric}), eps)
		if !wrong || !bug.wrong && err == nil {
			t.Errorf("%s: not caught (%v)", bug.name, err)
		}
	}
}

// scores returns the scores over readings.
func (q *Query) scores(readings []int64) scores {
	s := q.scored().scores(new(choice), slices.Sorted(slices.Values(readings)))
	s.restart()
	return s
}

// scoresIn returns the score of every value.
func scoresIn(u *Universe, all scores) []int64 {
	all.restart()
	scores := make([]int64, u.last+1)
	for r, ok := all.next(); ok; r, ok = all.next() {
		for j := range r.n {
			scores[r.first+r.step*j] = r.scoreAt(j).big().Int64()
		}
	}
	return scores
}

// Runs of any readings cover the universe once, and a value's score is its definition's,
// in closed form.
func TestRunsOfAnyReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := rapid.OneOf(rapid.Int64Range(1, 40), rapid.Int64Range(1, maxValues-1)).Draw(t, "last")
		readings := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, min(last, 5)), rapid.Int64Range(0, last)), 0, 50).Draw(t, "readings")
		metric := rapid.SampledFrom([]budget.Metric{budget.D1, budget.ND1, budget.DH}).Draw(t, "metric")
		p := big.NewRat(rapid.Int64Range(0, 1000).Draw(t, "p in tenths"), 10)
		q := query(t, percentileOf(p), universe(t, 0, float64(last), 1), metric, big.NewRat(1000, 1))
		checkRuns(t, q, readings)
	})
}

func FuzzRuns(f *testing.F) {
	f.Add([]byte{}, uint8(50), false)
	f.Add([]byte{7, 7, 7, 200, 0, 255}, uint8(0), true)
	f.Add([]byte{0, 1, 2, 255, 255}, uint8(100), true)
	f.Fuzz(func(t *testing.T, values []byte, p uint8, ranks bool) {
		metric := budget.ND1
		if ranks {
			metric = budget.DH
		}
		readings := make([]int64, len(values))
		for i, v := range values {
			readings[i] = int64(v)
		}
		q := query(t, percentileOf(big.NewRat(int64(p%101), 1)), universe(t, 0, 255, 1), metric, big.NewRat(1, 1))
		checkRuns(t, q, readings)
	})
}

func checkRuns(t fataler, q *Query, readings []int64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(readings))
	values, count := int64(0), 0
	all := q.scores(sorted)
	for r, ok := all.next(); ok; r, ok = all.next() {
		values += r.n
		count++
		for _, j := range []int64{0, r.n / 2, r.n - 1} {
			v := r.first + r.step*j
			want := new(big.Int)
			if k := rankOf(q, len(sorted)); k > 0 && q.metric == budget.DH {
				below, upTo := int64(0), int64(0)
				for _, x := range sorted {
					below += whole(x < v)
					upTo += whole(x <= v)
				}
				want.SetInt64(max(0, below+1-k, k-upTo))
			} else if k > 0 {
				for i, x := range sorted {
					if int64(i) >= k-1 && x < v || int64(i) <= k-1 && x > v {
						want.Add(want, big.NewInt(max(v-x, x-v)))
					}
				}
			}
			if got := r.scoreAt(j).big(); v < 0 || v > q.universe.last || got.Cmp(want) != 0 {
				t.Fatal(fmt.Sprintf("%v: the score of %d is %v, want %v", sorted, v, got, want))
			}
		}
	}
	if values != q.universe.last+1 || count > 2*len(sorted)+1 {
		t.Fatal(fmt.Sprintf("%v: %d runs have %d values", sorted, count, values))
	}
}

// Draws follow the law that is enumerated above.
//
// 150,000 draws per case. By Chernoff's bound, as in TestReleaseFollowsItsLaw, a false
// alarm has probability below 1e-8 per case and 1e-6 in all. A short run has five of the cases.
func TestDrawsByScoreFollowTheirLaw(t *testing.T) {
	const draws = 150_000
	src := exact.NewSource(nil)
	for _, c := range trials.Some(t, 3, scoreCases(t)...) {
		a := collect(c.query, c.db)
		if c.query.scored().way(len(c.db)) != byScore {
			t.Fatalf("%s: not drawn by score", c.name)
		}
		want := make(map[int64]float64)
		for v, p := range lawOf(scoresOf(t, c.query, a.indices), c.query.noised().noise.rate/2) {
			want[int64(v)] = p
		}
		got := make(map[int64]int)
		for range draws {
			got[pointOf(c.query, c.query.Draw(src, a))]++
		}
		if err := fits(got, want, draws, 1e-8); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A sampler of the wrong law is seen.
func TestDrawsByScoreCatchPlantedSamplers(t *testing.T) {
	const draws = 150_000
	src := exact.NewSource(nil)
	q := query(t, Median, universe(t, 0, 30, 1), budget.ND1, rational("40"))
	readings := []int64{3, 12, 13}
	want := make(map[int64]float64)
	for v, p := range lawOf(scoresOf(t, q, readings), q.noised().noise.rate/2) {
		want[int64(v)] = p
	}
	for name, plant := range map[string]func(c *choice){
		"rate of epsilon":             func(c *choice) { c.prepare(q.noised().noise.rate, q.scores(readings)) },
		"rate of epsilon within runs": func(c *choice) { c.rate *= 2 },
		"runs of equal weight": func(c *choice) {
			for i := range c.upTo {
				c.upTo[i] = float64(i + 1)
			}
		},
	} {
		var c choice
		c.prepare(q.noised().noise.rate/2, q.scores(readings))
		plant(&c)
		got := make(map[int64]int)
		for range draws {
			got[c.draw(src)]++
		}
		if fits(got, want, draws, 1e-8) == nil {
			t.Errorf("%s: not caught", name)
		}
	}
}

func scoreCases(t *testing.T) []releaseCase {
	small, wide := universe(t, -2, 3, 0.5), universe(t, 0, 200, 1)
	spread := make([]float64, 60)
	for i := range spread {
		spread[i] = float64(i * i % 200)
	}
	return []releaseCase{
		{"median of none, dh", query(t, Median, small, budget.DH, rational("2")), nil},
		{"median of none, nd1", query(t, Median, small, budget.ND1, rational("2")), nil},
		{"one reading, dh", query(t, Max, small, budget.DH, rational("2")), []float64{0.5}},
		{"ties, dh", query(t, Median, small, budget.DH, rational("1")), []float64{-2, 0, 0, 0, 1, 3}},
		{"minimum, dh", query(t, Min, small, budget.DH, rational("3")), []float64{-1, 0, 1}},
		{"many, dh", query(t, Median, wide, budget.DH, rational("0.5")), spread},
		{"p30, nd1", query(t, percentileOf(rational("30")), wide, budget.ND1, rational("60")), spread},
		{"maximum, nd1", query(t, Max, wide, budget.ND1, rational("10")), []float64{20, 100}},
		{"at an end, nd1", query(t, Min, wide, budget.ND1, rational("900")), []float64{0, 0, 5}},
		{"many, d1", query(t, drawn(t, Median, "d1/score"), wide, budget.D1, rational("0.1")), spread},
		{"p95, d1", query(t, drawn(t, percentileOf(rational("95")), "d1/score"), wide, budget.D1, rational("0.2")), spread},
	}
}

// Draws by score without float64 are the same, draw by draw on the same bits, in four cases in a short run.
func TestUndecidedChoicesAgree(t *testing.T) {
	for _, c := range trials.Some(t, 2, scoreCases(t)...) {
		a := collect(c.query, c.db)
		slices.Sort(a.indices)
		var fast, certified choice
		fast.prepare(c.query.noised().noise.rate/2, c.query.scores(a.indices))
		certified.prepare(c.query.noised().noise.rate/2, c.query.scores(a.indices))
		certified.slack = math.Inf(1) // no bound in float64 is of use
		seed := trials.Seed(t)
		one, other := exact.NewSource(pseudorandom(seed)), exact.NewSource(pseudorandom(seed))
		for i := range trials.Fewer(20, 40) {
			if got, want := fast.draw(one), certified.draw(other); got != want {
				t.Fatalf("%s: draw %d is %d, in integer arithmetic %d", c.name, i, got, want)
			}
		}
		if one.Uint64() != other.Uint64() {
			t.Errorf("%s: the two paths read a different number of bits", c.name)
		}
	}
}

// A weight is as close as weightError to its bounds, which are as close as stated.
func TestWeightsAreEnclosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Exp(rapid.Float64Range(math.Log(0x1p-71)+1e-9, 3).Draw(t, "ln rate"))
		score := rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0, 110)).Draw(t, "exponent") / rate
		whole, _ := new(big.Float).SetFloat64(score).Int(nil)
		words := new(big.Int).SetUint64(math.MaxUint64)
		r := run{
			n:     rapid.OneOf(rapid.Int64Range(1, 10), rapid.Int64Range(1, maxValues)).Draw(t, "n"),
			slope: rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1<<30)).Draw(t, "slope"),
			score: uint128{hi: new(big.Int).Rsh(whole, 64).Uint64(), lo: words.And(words, whole).Uint64()},
		}
		const prec = 300
		lo, hi := r.bounds(rate, prec)
		closeTo(t, lo, hi, prec+guard-114)
		near := r.weight(rate)
		if near == 0 {
			if hi.Cmp(new(big.Rat).SetFloat64(0x1p-104)) > 0 {
				t.Fatalf("%+v at %v is neglected", r, rate)
			}
			return
		}
		quotient, _ := new(big.Rat).Quo(new(big.Rat).SetFloat64(near), hi).Float64()
		if math.Abs(quotient-1) > weightError {
			t.Fatalf("%+v at %v: the weight %v is off by %v", r, rate, near, quotient-1)
		}
		if r.slope > 0 {
			w := valueShare{rate, r.slope, rapid.Int64Range(1, r.n).Draw(t, "up to"), r.n}
			lo, hi := w.Bounds(prec)
			closeTo(t, lo, hi, prec)
			y := rate * float64(r.slope)
			near := math.Expm1(-y*float64(w.upTo)) / math.Expm1(-y*float64(r.n))
			if quotient, _ := new(big.Rat).Quo(new(big.Rat).SetFloat64(near), hi).Float64(); math.Abs(quotient-1) > 0x1p-47 {
				t.Fatalf("%+v: %v is off by %v", w, near, quotient-1)
			}
		}
	})
}

// closeTo demands that lo <= hi <= lo + 2^-prec.
func closeTo(t fataler, lo, hi *big.Rat, prec uint) {
	t.Helper()
	width := new(big.Rat).Sub(hi, lo)
	if width.Sign() < 0 || width.Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), prec))) > 0 {
		t.Fatal("bounds are apart by " + width.FloatString(200))
	}
}

// The share of the runs up to each is what float64 has for it, within the slack.
func TestSharesAreEnclosed(t *testing.T) {
	for _, c := range trials.Some(t, 4, scoreCases(t)...) {
		readings := slices.Sorted(slices.Values(collect(c.query, c.db).indices))
		var chosen choice
		chosen.prepare(c.query.noised().noise.rate/2, c.query.scores(readings))
		total := chosen.upTo[len(chosen.upTo)-1]
		for i, sum := range chosen.upTo {
			s := runShare{chosen.rate, chosen.scores, int64(i)}
			lo, hi := s.Bounds(200)
			closeTo(t, lo, hi, 200)
			if exactly, _ := lo.Float64(); math.Abs(exactly-sum/total) > 2*chosen.slack {
				t.Errorf("%s: the share of %d runs is %v, in float64 %v", c.name, i+1, exactly, sum/total)
			}
		}
	}
}

// A maximum that is aimed inside keeps epsilon: all databases of up to six readings, and all that have a reading less, or another
// one in its place. Easy mistakes are caught.
func TestAimedMaximumKeepsItsEpsilon(t *testing.T) {
	eps := rational("0.7")
	perRecord, _ := eps.Float64()
	for name, c := range map[string]struct {
		rank   func(sorted []int64, inside int64) int64
		caught bool
	}{
		"": {func(sorted []int64, inside int64) int64 {
			return int64(len(sorted)) - min(inside, int64(len(sorted)/2))
		}, false},
		"as many ranks as there are equal ones": {func(sorted []int64, inside int64) int64 {
			n := int64(len(sorted))
			return max(1, n-min(inside, n-int64(slices.Index(sorted, sorted[n-1]))))
		}, true},
		"not before there are twice as many": {func(sorted []int64, inside int64) int64 {
			if n := int64(len(sorted)); n >= 2*inside {
				return n - inside
			}
			return int64(len(sorted))
		}, true},
		"only if no reading is near": {func(sorted []int64, inside int64) int64 {
			n := int64(len(sorted))
			if n < 2 || sorted[n-1] <= sorted[n-2]+1 {
				return n
			}
			return n - min(inside, n/2)
		}, true},
	} {
		caught := false
		for _, last := range []int64{1, 2, 3} {
			for _, inside := range []int64{1, 2, 3} {
				q := aimedInside(t, universe(t, 0, float64(last), 1), eps, inside)
				law := func(sorted []int64) []float64 {
					s := q.scores(sorted).(*rankScores)
					if s.k = int(c.rank(sorted, inside)) - 1; name == "" && int64(s.k+1) != rankOf(q, len(sorted)) {
						t.Fatalf("%d readings: rank %d", len(sorted), rankOf(q, len(sorted)))
					}
					return lawOf(scoresIn(q.universe, s), q.noised().noise.rate/2)
				}
				forAllReadings(last, 6, func(x []int64) {
					at := law(x)
					for _, y := range neighbours(x, last+1) {
						if len(y) == 0 {
							continue // all values are alike then, and one rank off with a reading
						}
						for v, p := range law(y) {
							caught = caught || math.Abs(math.Log(p/at[v])) > perRecord+1e-12
						}
					}
				})
			}
		}
		if caught != c.caught {
			t.Errorf("%q: loses more than epsilon: %v", name, caught)
		}
	}
}

// Only dx_max is aimed inside, under dh, and where that helps, by as many ranks as are stated, on every platform.
func TestMaximumIsAimedInside(t *testing.T) {
	days := universe(t, 0, 200, 0.001)
	for _, c := range []struct {
		agg    Aggregate
		u      *Universe
		metric budget.Metric
		eps    string
		want   int64
	}{
		{Max, days, budget.DH, "0.1", 245}, {Max, days, budget.DH, "1", 25}, {Max, days, budget.DH, "5", 5}, // 2 ln(200,001) = 24.4
		{Max, days, budget.DH, "50", 0}, // e^25 is far above 200,001
		{Max, universe(t, 0, 10, 1), budget.DH, "0.1", 0}, {Max, universe(t, 0, 10, 1), budget.DH, "1", 0}, {Max, universe(t, 0, 10, 1), budget.DH, "2", 0},
		{Max, universe(t, 0, 1000, 1), budget.DH, "1", 0},
		{Min, days, budget.DH, "1", 0}, {percentileOf(rational("100")), days, budget.DH, "1", 0}, {percentileOf(rational("0")), days, budget.DH, "1", 0},
		{Median, days, budget.DH, "1", 0}, {Max, days, budget.ND1, "200", 0}, {Max, days, budget.D1, "1", 0},
	} {
		if got := query(t, c.agg, c.u, c.metric, rational(c.eps)).scored().inside; got != c.want {
			t.Errorf("%v over %v under %v at %s: %d ranks inside, not %d", c.agg, c.u, c.metric, c.eps, got, c.want)
		}
	}
	q := query(t, Max, days, budget.DH, rational("1"))
	for n, want := range map[int]int{1: 0, 2: 0, 3: 1, 49: 24, 50: 24, 51: 25, 1623: 1597} {
		if got := q.scored().below(n); got != want {
			t.Errorf("of %d readings %d are below the one that is aimed at, not %d", n, got, want)
		}
	}
}

func TestD1WithoutReadingsIsNoisedLo(t *testing.T) {
	q := query(t, Median, universe(t, 0, 10, 1), budget.D1, rational("1"))
	if q.scored().way(0) != byNoise || q.answer(new(Accumulator)) != (int128{}) {
		t.Error("no readings are not noised lo")
	}
}
