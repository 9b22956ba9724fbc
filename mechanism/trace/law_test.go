package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// The law of whole runs on tiny lattices, computed from its definition: from
// epsilons, thresholds and distances, with sums over the lattice, and without the
// samplers. Probabilities are good to 1e-13.

// A tiny space has few cells, and a law of its noise at a rate per step.
type tiny struct {
	Space
	cells []Cell
	noise func(rate float64, x Cell) map[Cell]float64
}

// tinyLine returns the space of a universe of four values.
func tinyLine(l Line) tiny {
	t := tiny{Space: l, noise: truncatedGeometric}
	for k := range l.universe.Last() + 1 {
		t.cells = append(t.cells, Cell{I: k})
	}
	return t
}

// truncatedGeometric is the law of x+N moved to 0..3 (Bordenabe, figure 4.2 iv).
func truncatedGeometric(rate float64, x Cell) map[Cell]float64 {
	q, law := math.Exp(-rate), map[Cell]float64{}
	for k := range int64(4) {
		p := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(k-x.I)))
		if k == 0 || k == 3 { // the tail beyond
			p /= 1 - q
		}
		law[Cell{I: k}] = p
	}
	return law
}

func tinyPlane() tiny {
	t := tiny{Space: fourCells}
	for j := int64(-3); j <= 3; j++ {
		for i := int64(-3); i <= 3; i++ {
			if c := fourCells.Nearest(float64(i), float64(j)); c == (Cell{i, j}) {
				t.cells = append(t.cells, c)
			}
		}
	}
	type key struct {
		rate float64
		x    Cell
	}
	known := map[key]map[Cell]float64{}
	t.noise = func(rate float64, x Cell) map[Cell]float64 {
		k := key{rate, x}
		if known[k] == nil {
			known[k] = movedPlanar(rate, x)
		}
		return known[k]
	}
	return t
}

// movedPlanar is the law with weights exp(-rate*|z-x|) on Z^2, each point moved to
// the nearest of four; the rest weighs less than e^-35.
func movedPlanar(rate float64, x Cell) map[Cell]float64 {
	law, sum := map[Cell]float64{}, 0.0
	n := int64(40/rate) + 3
	for j := -n; j <= n; j++ {
		for i := -n; i <= n; i++ {
			w := math.Exp(-rate * math.Hypot(float64(i), float64(j)))
			z := planar.Cell{I: x.I + i, J: x.J + j}
			law[Cell(fourCells.domain.Admissible(z))] += w
			sum += w
		}
	}
	for z := range law {
		law[z] /= sum
	}
	return law
}

// law returns the probabilities of the points which a step may report.
func (s tiny) law(p Plan, x Cell) map[Point]float64 {
	if p.Action == Predict {
		return map[Point]float64{easy(p): 1}
	}
	law, fails := map[Point]float64{}, 1.0
	if p.Action == Test {
		rate := s.Rate(p.EpsTest)
		passes := laplaceCDF(rate*p.Threshold/s.Step() - rate*distance(x, p.Prediction))
		law[easy(p)] = passes
		fails = 1 - passes
	}
	for z, w := range s.noise(s.Rate(p.EpsNoise), x) {
		law[hard(p, z)] += fails * w
	}
	return law
}

// A verdict is the result of exploring a mechanism's runs.
type verdict struct {
	// excess is the largest amount by which the logarithm of a run's probabilities
	// under two traces exceeds the run's spent epsilon times the traces' distance.
	excess float64
	spent  budget.Amount // the most
	did    map[Action]bool
}

// worst explores every run of a mechanism at the given times and compares every
// two traces of secrets. perStep is the rate that an epsilon of one allows.
func (s tiny) worst(t fataler, m *Mechanism, times []int64, perStep float64) verdict {
	t.Helper()
	v := verdict{excess: math.Inf(-1), did: map[Action]bool{}}
	traces := [][]Cell{nil}
	for range times {
		var longer [][]Cell
		for _, trace := range traces {
			for _, x := range s.cells {
				longer = append(longer, append(trace[:len(trace):len(trace)], x))
			}
		}
		traces = longer
	}
	total := make([]float64, len(traces)) // of the probabilities of all runs
	var explore func(r Run, step int, probability []float64)
	explore = func(r Run, step int, probability []float64) {
		v.excess = max(v.excess, excessOf(traces, probability, perStep*number(r.history.Spent)))
		v.spent = max(v.spent, r.history.Spent)
		var p Plan
		if step < len(times) {
			p = plan(t, m, &r, times[step])
			v.did[p.Action] = true
		}
		if p.Action == Stop { // or the end of the trace
			for k, w := range probability {
				total[k] += w
			}
			return
		}
		laws := map[Cell]map[Point]float64{}
		points := map[Point]bool{}
		for _, x := range s.cells {
			laws[x] = s.law(p, x)
			for q := range laws[x] {
				points[q] = true
			}
		}
		for q := range points {
			next, longer := r, make([]float64, len(traces))
			add(t, m, &next, q)
			for k, trace := range traces {
				longer[k] = probability[k] * laws[trace[step]][q]
			}
			explore(next, step+1, longer)
		}
	}
	certain := make([]float64, len(traces))
	for k := range certain {
		certain[k] = 1
	}
	explore(Run{}, 0, certain)
	for k, w := range total {
		if math.Abs(w-1) > 1e-12 {
			t.Fatalf("the runs of %v have a probability of %v", traces[k], w)
		}
	}
	return v
}

// excessOf returns the largest ln(P(r|x)/P(r|x')) - rate*d_inf(x, x').
func excessOf(traces [][]Cell, probability []float64, rate float64) float64 {
	excess := math.Inf(-1)
	for a, x := range traces {
		for b, y := range traces {
			if a == b || probability[a] == 0 {
				continue
			}
			d := 0.0
			for k := range x {
				d = max(d, distance(x[k], y[k]))
			}
			excess = max(excess, math.Log(probability[a]/probability[b])-rate*d)
		}
	}
	return excess
}

// tinyPolicies are policies with runs of three steps that have all kinds of steps:
// noise, tests, predictions skipped and after the end, remainders, and ends.
var tinyPolicies = []struct{ mechanism, text string }{
	{Independent, `{"epsilon": 1.5, "steps": 3}`},
	{Independent, `{"epsilon": 1.5, "alpha": 4}`},
	{Predictive, `{"epsilon": 1.5, "steps": 3}`},
	{Predictive, `{"epsilon": 2, "steps": 4, "prediction_rate": 0.5, "eta": 0.5}`},
	{Predictive, `{"epsilon": 1, "steps": 2, "after": "predict"}`},
	{Predictive, `{"epsilon": 3, "alpha": 2.9, "gamma": 1}`},
	{Predictive, `{"epsilon": 1.9, "alpha": 2.9, "gamma": 1}`},
	{Predictive, `{"epsilon": 1.4, "alpha": 2.9, "after": "predict"}`},
	{Predictive, `{"epsilon": 3, "alpha": 2.9, "skip_speed": 1.5}`},
	{Predictive, `{"epsilon": 3, "steps": 3, "skip_speed": 2}`},
	{Predictive, `{"epsilon": 3, "steps": 9, "predictor": "linear"}`},
	{Predictive, `{"epsilon": 3, "steps": 3, "predictor": "mixture"}`},
}

// scaled returns a policy for the line with steps of 1 as it is for another space.
func scaled(p Policy, s Space) Policy {
	p.Epsilon = budget.Amount(float64(p.Epsilon) / s.Step())
	p.Alpha *= s.Step() * s.NoiseQuantile() / fourValues.NoiseQuantile()
	p.SkipSpeed *= s.Step()
	return p
}

// Every run of three steps, every two traces, and every cell: the run's bound
// holds, and no run spends more than epsilon. On a line some run attains it.
func TestPrivacyByEnumeration(t *testing.T) {
	line, plane := tinyLine(fourValues), tinyPlane()
	if len(plane.cells) != 4 {
		t.Fatalf("%d cells", len(plane.cells))
	}
	for name, s := range map[string]struct {
		tiny
		perStep float64
	}{
		"line":   {line, 1},
		"halves": {tinyLine(halves), 0.5},
		"plane":  {plane, 100 / (1 + fourCells.domain.Kappa())},
	} {
		did := map[Action]bool{}
		for _, c := range tinyPolicies {
			p := scaled(parse(t, c.mechanism, c.text), s)
			m, err := New(s, p)
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			v := s.worst(t, m, []int64{0, second, 2 * second}, s.perStep)
			if v.excess > 1e-12 {
				t.Errorf("%s, %s: exceeds the bound by %g", name, c.text, v.excess)
			}
			if v.excess < -1e-9 && name != "plane" {
				t.Errorf("%s, %s: stays %g below the bound", name, c.text, -v.excess)
			}
			if v.spent > p.Epsilon {
				t.Errorf("%s, %s: %v is spent of %v", name, c.text, v.spent, p.Epsilon)
			}
			maps.Copy(did, v.did)
		}
		if len(did) != 4 {
			t.Errorf("%s: some actions were never planned: %v", name, did)
		}
	}
}

// hot is a space with rates that exceed the charge by one per cent.
type hot struct{ Space }

func (h hot) Rate(eps budget.Amount) float64 { return 1.01 * h.Space.Rate(eps) }

// A rate above the amount is caught.
func TestPrivacyByEnumerationCatchesHotRates(t *testing.T) {
	s := tinyLine(fourValues)
	s.Space = hot{s.Space}
	for _, c := range tinyPolicies {
		m := must(New(s, parse(t, c.mechanism, c.text)))
		if v := s.worst(t, m, []int64{0, second}, 1); !(v.excess > 1e-3) {
			t.Errorf("%s: not caught, %g", c.text, v.excess)
		}
	}
}

// perStep is a space that takes an epsilon per unit for one per step.
type perStep struct{ Space }

func (s perStep) Rate(eps budget.Amount) float64 { return number(eps) }

// Rates in steps and not in the unit of the universe are caught, and so is noise that is drawn
// again until it falls into the universe: its normaliser depends on the secret.
func TestPrivacyByEnumerationCatchesPlantedReadings(t *testing.T) {
	inSteps, again := tinyLine(halves), tinyLine(halves)
	inSteps.Space = perStep{halves}
	again.noise = func(rate float64, x Cell) map[Cell]float64 {
		law, sum := map[Cell]float64{}, 0.0
		for _, z := range again.cells {
			law[z] = math.Exp(-rate * distance(x, z))
			sum += law[z]
		}
		for z := range law {
			law[z] /= sum
		}
		return law
	}
	for name, s := range map[string]tiny{"rates in steps": inSteps, "noise drawn again": again} {
		for _, c := range tinyPolicies {
			m := must(New(s, scaled(parse(t, c.mechanism, c.text), s)))
			if v := s.worst(t, m, []int64{0, second}, 0.5); !(v.excess > 1e-3) {
				t.Errorf("%s, %s: not caught, %g", name, c.text, v.excess)
			}
		}
	}
}

// words is a Source of the given signs of the test and the noise, of their words of
// 32 bits, and of some bits or other.
func words(testSign, noiseSign, test, noise uint32) *exact.Source {
	head := binary.BigEndian.AppendUint32(nil, testSign<<31|noiseSign<<30)
	head = binary.BigEndian.AppendUint32(head, 0)
	head = binary.BigEndian.AppendUint32(head, test)
	head = binary.BigEndian.AppendUint32(head, noise)
	return exact.NewSource(io.MultiReader(bytes.NewReader(head), rand.NewChaCha8([32]byte{})))
}

const intervals = 1 << 12

// testPlan returns the plan of a second step, which tests.
func testPlan(t fataler, s Space) (*Mechanism, Plan) {
	t.Helper()
	p := scaled(parse(t, Predictive, `{"epsilon": 2, "alpha": 4, "gamma": 1}`), s)
	m := must(New(s, p))
	var r Run
	add(t, m, &r, hard(plan(t, m, &r, 0), s.Nearest(1, 0)))
	second := plan(t, m, &r, second)
	if second.Action != Test {
		t.Fatalf("%+v is no test", second)
	}
	return m, second
}

// misfitPass compares the probability that draw reports an easy point, from the
// leading 12 bits of its test word, with the law: it changes at one word at most
// for either sign.
func misfitPass(p float64, draw func(src *exact.Source) Point) error {
	lo, hi := 0.0, 0.0
	for sign := range uint32(2) {
		passes := func(i uint32) bool { return !draw(words(sign, 0, i<<20, 1<<31)).Hard }
		for i := uint32(1); i < intervals-1; i++ {
			a, b := passes(i), passes(i+1)
			if a && b {
				lo++
			}
			if a || b {
				hi++
			}
		}
		hi += 2 // the first interval and the last
	}
	lo, hi = lo/(2*intervals)-1e-6, hi/(2*intervals)+1e-6 // the bits after the word
	if p < lo || p > hi {
		return fmt.Errorf("probability %v not in [%v, %v]", p, lo, hi)
	}
	return nil
}

// The test passes with the probability of the law, for every cell.
func TestPassByEnumeration(t *testing.T) {
	for _, s := range []tiny{tinyLine(fourValues), tinyPlane()} {
		m, p := testPlan(t, s)
		for _, x := range s.cells {
			want := s.law(p, x)[easy(p)]
			if err := misfitPass(want, func(src *exact.Source) Point { return m.Draw(src, p, x) }); err != nil {
				t.Errorf("%v: %v", x, err)
			}
			// Tests of something else, on the same bits.
			rate := s.Rate(p.EpsTest)
			c := rate * p.Threshold / s.Step()
			for name, passes := range map[string]func(src *exact.Source) bool{
				"a prediction tested off its cell": func(src *exact.Source) bool {
					return src.LaplaceTest(rate/10, c, 10*(x.I-p.Prediction.I)+3, 10*(x.J-p.Prediction.J)+1)
				},
				"a threshold without noise": func(*exact.Source) bool {
					return distance(x, p.Prediction)*s.Step() <= p.Threshold
				},
				"noise of the noise's epsilon": func(src *exact.Source) bool {
					return src.LaplaceTest(s.Rate(p.EpsNoise), s.Rate(p.EpsNoise)*p.Threshold/s.Step(),
						x.I-p.Prediction.I+1, x.J-p.Prediction.J)
				},
			} {
				planted := func(src *exact.Source) Point { return Point{Hard: !passes(src)} }
				if misfitPass(want, planted) == nil {
					t.Errorf("%v: %s is not noticed", x, name)
				}
			}
		}
	}
}

// After a test that failed, the reports on a line have the law of the noise.
func TestNoiseByEnumeration(t *testing.T) {
	s := tinyLine(fourValues)
	m, p := testPlan(t, s)
	for _, x := range s.cells {
		decided, undecided := map[Cell]float64{}, map[Cell]float64{}
		for sign := range uint32(2) {
			z := func(i uint32) Cell {
				q := m.Draw(words(0, sign, 1<<12, i<<20), p, x) // E = 13.9 exceeds the threshold
				if !q.Hard || !q.Tested || q.Spent != p.EpsTest+p.EpsNoise {
					t.Fatalf("%+v", q)
				}
				return q.Z
			}
			for i := range uint32(intervals) {
				a := Cell{I: 3 * int64(1-sign)} // beyond the words: the end of the line
				if i > 0 {
					a = z(i)
				}
				b := x // the next to the last interval
				if i+1 < intervals {
					b = z(i + 1)
				}
				if a == b {
					decided[a]++
					continue
				}
				for k := min(a.I, b.I); k <= max(a.I, b.I); k++ {
					undecided[Cell{I: k}]++
				}
			}
		}
		for z, w := range s.law(p, x) {
			if !z.Hard {
				continue
			}
			w /= 1 - s.law(p, x)[easy(p)]
			lo, hi := decided[z.Z]/(2*intervals), (decided[z.Z]+undecided[z.Z])/(2*intervals)
			lo, hi = lo-1e-6, hi+1e-6 // the bits after the word
			if w < lo || w > hi {
				t.Errorf("from %v to %v: %v not in [%v, %v]", x, z.Z, w, lo, hi)
			}
		}
	}
}

// Reports of Draw in the plane have the law of the enumeration: n = 75,000 for each
// of four secrets. By Bernstein's inequality and a union bound over at most five
// points each, the false-alarm probability is at most 1e-10 in all. Of every planted
// law some point is 11 standard deviations or more beyond that bound.
func TestDrawLaw(t *testing.T) {
	const n = 75_000
	src := exact.NewSource(nil)
	s := tinyPlane()
	m, p := testPlan(t, s)
	log := math.Log(2 * 4 * 5 / 1e-10)
	misfit := func(law map[Point]float64, draw func() Point) error {
		count := map[Point]float64{}
		for range n {
			count[draw()]++
		}
		for q := range count {
			if law[q] == 0 {
				return fmt.Errorf("%+v is impossible", q)
			}
		}
		for q, w := range law {
			if deviation := log/3 + math.Sqrt(log*log/9+2*log*n*w*(1-w)); math.Abs(count[q]-n*w) > deviation {
				return fmt.Errorf("%+v: %v of %d, expected %.1f", q, count[q], n, n*w)
			}
		}
		return nil
	}
	for k, x := range s.cells {
		law := s.law(p, x)
		if err := misfit(law, func() Point { return m.Draw(src, p, x) }); err != nil {
			t.Errorf("secret %v: %v", x, err)
		}
		for name, planted := range map[string]func() Point{
			"another secret's law": func() Point { return m.Draw(src, p, s.cells[(k+1)%4]) },
			"noise about the prediction": func() Point {
				if q := m.Draw(src, p, x); !q.Hard {
					return q
				}
				return hard(p, m.space.Draw(src, p.EpsNoise, p.Prediction))
			},
			"a test made twice": func() Point {
				if q := m.Draw(src, p, x); !q.Hard {
					return q
				}
				return m.Draw(src, p, x)
			},
		} {
			if name == "noise about the prediction" && x == p.Prediction {
				continue
			}
			if misfit(law, planted) == nil {
				t.Errorf("secret %v: %s is not caught", x, name)
			}
		}
	}
}
