package trace

import (
	"fmt"
	"math"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// anyPolicy draws a predictive or independent policy for a space, of an epsilon of at
// least the given one.
func anyPolicy(t *rapid.T, s Space, least budget.Amount) Policy {
	p := Policy{
		Mechanism: rapid.SampledFrom([]string{Predictive, Predictive, Predictive, Independent}).Draw(t, "mechanism"),
		Epsilon:   budget.Amount(math.Exp(rapid.Float64Range(math.Log(float64(least)), math.Log(float64(budget.Max))).Draw(t, "ln epsilon"))),
		Manager:   rapid.SampledFrom([]string{FixedRate, FixedUtility}).Draw(t, "manager"),
		Steps:     rapid.Int64Range(1, 50).Draw(t, "steps"),
		Gamma:     rapid.Float64Range(0.5, 1).Draw(t, "gamma"),
		SkipSpeed: rapid.SampledFrom([]float64{0, 0, 1e-3, 1, 1e3}).Draw(t, "skip speed"),
		Predictor: rapid.SampledFrom([]string{Parrot, Linear, Mixture}).Draw(t, "predictor"),
		After:     rapid.SampledFrom([]string{AfterStop, AfterPredict}).Draw(t, "after"),

		PredictionRate: rapid.Float64Range(0, 1).Draw(t, "prediction rate"),
	}
	points := rapid.Float64Range(1.001, 20).Draw(t, "points")
	p.Alpha = points * s.NoiseQuantile() / number(p.Epsilon)
	limit := s.NoiseQuantile() / math.Log(5) / (1 + 1/p.Gamma) // where tests cost as much as they save
	p.Eta = rapid.Float64Range(0.01, min(1, 0.999*limit)).Draw(t, "eta")
	return p
}

// overspends plays a mechanism with outcomes and cells of its tests' worst enemy
// and returns an error if it overspends.
func overspends(m *Mechanism, steps int, outcomes uint64, cells func() Cell) error {
	var r Run
	var total budget.Amount
	stopped := false
	for k := range steps {
		p, err := m.Plan(&r, int64(k)*second)
		if err != nil {
			return err
		}
		if p.Action == Stop {
			stopped = true
			continue
		}
		if stopped {
			return fmt.Errorf("step %d goes on after a stop: %+v", k, p)
		}
		if p.EpsTest < 0 || p.EpsNoise < 0 || (p.Action == Noise || p.Action == Test) != (p.EpsNoise > 0) || (p.Action == Test) != (p.EpsTest > 0) {
			return fmt.Errorf("step %d: %+v", k, p)
		}
		if p.Cost() > m.policy.Epsilon-total {
			return fmt.Errorf("step %d may spend %v, %v are left", k, p.Cost(), m.policy.Epsilon-total)
		}
		q := easy(p)
		if p.Action == Noise || p.Action == Test && outcomes>>(k%64)&1 == 1 {
			q = hard(p, cells())
		}
		if err := m.Add(&r, q); err != nil {
			return err
		}
		total += q.Spent
		if h := r.History(); h.Spent != total || h.Points != int64(k)+1 {
			return fmt.Errorf("step %d: history %+v, spent %v", k, h, total)
		}
	}
	return nil
}

// anyCell draws cells of a space: near 0 for the most part, and extreme ones.
func anyCell(t *rapid.T, s Space) Cell {
	v := rapid.OneOf(rapid.Float64Range(-1000, 1000), rapid.Float64Range(-2*maxIndex, 2*maxIndex))
	return s.Nearest(v.Draw(t, "i"), v.Draw(t, "j"))
}

var spaces = map[string]Space{"plane": NewPlane(beijing), "region": fourCells, "line": meter}

// No run of any policy on any space spends more than epsilon, whatever the
// outcomes of the tests: all hard and all easy among them. A stop is final.
func TestNeverAboveEpsilon(t *testing.T) {
	for name, s := range spaces {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m, err := New(s, anyPolicy(t, s, 1))
				if err != nil {
					t.Skip(err) // an epsilon of a few quanta
				}
				cells := make([]Cell, 8)
				for k := range cells {
					cells[k] = anyCell(t, s)
				}
				outcomes := rapid.OneOf(rapid.Just(uint64(math.MaxUint64)), rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, "hard")
				n := 0
				err = overspends(m, 60, outcomes, func() Cell { n++; return cells[n%8] })
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// careless is a manager which looks at the remaining budget only to see that it is not
// nothing, as printed in figure 3 of the paper.
type careless struct {
	budget.Manager
	epsilon budget.Amount
}

func (c careless) Allot(h budget.History) budget.Allotment {
	if h.Spent >= c.epsilon {
		return budget.Allotment{}
	}
	h.Spent = 0
	return c.Manager.Allot(h)
}

// eager never hands the rest to noise alone: its last step tests like any other.
type eager struct {
	budget.FixedRate
	first budget.Allotment
}

func (e eager) Allot(h budget.History) budget.Allotment {
	if h.Points >= e.Steps {
		return budget.Allotment{}
	}
	return e.first
}

func TestOverspendingIsCaught(t *testing.T) {
	utility := build(t, NewPlane(beijing), Predictive, `{"epsilon": 0.02302585, "alpha": 3000}`)
	utility.manager = careless{utility.manager, utility.policy.Epsilon}
	rate := build(t, NewPlane(beijing), Predictive, `{"epsilon": 0.02302585, "steps": 30}`)
	fixed := rate.manager.(budget.FixedRate)
	rate.manager = eager{fixed, fixed.Allot(budget.History{})}
	for name, m := range map[string]*Mechanism{"as printed": utility, "no remainder check": rate} {
		if overspends(m, 60, math.MaxUint64, func() Cell { return Cell{} }) == nil {
			t.Errorf("%s: not caught", name)
		}
	}
}

// Traces of any times and secrets, drawn: a drawn point may be added, plans
// do not depend on how often the state was stored, and cells may be reported.
func TestDrawnRuns(t *testing.T) {
	src := exact.NewSource(nil)
	for name, s := range spaces {
		t.Run(name, func(t *testing.T) {
			least := budget.Amount(1)
			for !(s.Rate(least) > 1e-9) { // noise beyond the Earth, which takes long to draw
				least *= 2
			}
			rapid.Check(t, func(t *rapid.T) {
				m, err := New(s, anyPolicy(t, s, least))
				if err != nil {
					t.Skip(err)
				}
				x := s.Nearest(0, 0)
				var r Run
				at := rapid.Int64().Draw(t, "start")
				for range 20 {
					p := plan(t, m, &r, at)
					if p.Action == Stop {
						break
					}
					q := m.Draw(src, p, x)
					add(t, m, &r, q)
					if near := s.Nearest(float64(q.Z.I), float64(q.Z.J)); near != q.Z {
						t.Fatalf("%+v is reported, of which the nearest cell is %v", q, near)
					}
					var stored Run
					if err := stored.UnmarshalBinary(must(r.AppendBinary(nil))); err != nil || stored != r {
						t.Fatalf("%+v is stored as %+v, %v", r, stored, err)
					}
					gap := rapid.OneOf(rapid.Int64Range(1, 60*second), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "gap")
					if at > math.MaxInt64-gap {
						break
					}
					at += gap
					if rapid.Bool().Draw(t, "moves") {
						x = anyCell(t, s)
					}
				}
			})
		})
	}
}

func TestTimesMustGrow(t *testing.T) {
	m := build(t, meter, Predictive, `{"epsilon": 1, "steps": 30}`)
	var r Run
	src := exact.NewSource(nil)
	advance(t, m, &r, src, 5, Cell{})
	for _, at := range []int64{5, 4, math.MinInt64} {
		if _, err := m.Plan(&r, at); err == nil {
			t.Errorf("time %d follows 5", at)
		}
	}
	advance(t, m, &r, src, 6, Cell{})
}

// A run takes no point but one that its plan can lead to.
func TestAddRefuses(t *testing.T) {
	m := build(t, meter, Predictive, `{"epsilon": 1, "steps": 30}`)
	var r Run
	first := hard(plan(t, m, &r, 0), Cell{I: 7})
	if err := m.Add(&r, Point{Z: Cell{I: 7}, Hard: true, Spent: first.Spent - 1}); err == nil {
		t.Error("noise for less is added")
	}
	add(t, m, &r, first)
	p := plan(t, m, &r, second)
	good := []Point{easy(p), hard(p, Cell{I: 3})}
	before := r
	for _, q := range good {
		for name, bad := range map[string]func(*Point){
			"past":       func(q *Point) { q.T = 0 },
			"hard":       func(q *Point) { q.Hard = !q.Hard },
			"untested":   func(q *Point) { q.Tested = false },
			"free":       func(q *Point) { q.Spent = 0 },
			"far away":   func(q *Point) { q.Z.J = maxIndex + 1 },
			"overspends": func(q *Point) { q.Spent++ },
		} {
			planted := q
			bad(&planted)
			if err := m.Add(&r, planted); err == nil || r != before {
				t.Errorf("%s: %+v is added", name, planted)
			}
		}
	}
	elsewhere := good[0]
	elsewhere.Z.I++
	if m.Add(&r, elsewhere) == nil {
		t.Error("an easy point that was not predicted is added")
	}
	for _, q := range good {
		next := r
		add(t, m, &next, q)
	}
}

func TestDrawOfAStopPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it reports something")
		}
	}()
	build(t, meter, Predictive, `{"epsilon": 1, "steps": 30}`).Draw(exact.NewSource(nil), Plan{}, Cell{})
}

// A run of 100,000 points goes on from a state of bounded size, after the budget
// too.
func TestLongRun(t *testing.T) {
	m := build(t, meter, Predictive, `{"epsilon": 1000, "steps": 100000, "predictor": "mixture", "after": "predict"}`)
	src := exact.NewSource(nil)
	var r Run
	var state []byte
	for k := range int64(100_100) {
		advance(t, m, &r, src, k*second, Cell{I: 4000 + k%100})
		state = must(r.AppendBinary(state[:0]))
		if len(state) > 200 {
			t.Fatalf("%d bytes", len(state))
		}
	}
	if h := r.History(); h.Points != 100_100 || h.Spent > m.policy.Epsilon {
		t.Errorf("%+v", h)
	}
	if p := plan(t, m, &r, 1<<60); p.Action != Predict {
		t.Errorf("%+v", p)
	}
}

// Lost epsilon stays spent, over any number of stores, before the first point too;
// and it never becomes a refund.
func TestLostEpsilonStaysSpent(t *testing.T) {
	for _, text := range []string{`{"epsilon": 2, "steps": 4}`, `{"epsilon": 2, "alpha": 2.5, "after": "predict"}`} {
		m := build(t, meter, Predictive, text)
		var r Run
		r.CountLost(m.policy.Epsilon - 1)
		for range 2 {
			var stored Run
			if err := stored.UnmarshalBinary(must(r.AppendBinary(nil))); err != nil || stored != r {
				t.Fatalf("%+v is stored as %+v, %v", r, stored, err)
			}
			r = stored
			if p := plan(t, m, &r, 0); p.Cost() > 1 {
				t.Errorf("%s: one quantum is left, and %v may be spent", text, p.Cost())
			}
			r.CountLost(1)
			if p := plan(t, m, &r, 0); p.Action != Stop {
				t.Errorf("%s: nothing is left, and %+v follows", text, p)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var r Run
		for _, lost := range rapid.SliceOf(rapid.Int64()).Draw(t, "lost") {
			before := r.history.Spent
			r.CountLost(budget.Amount(lost))
			if r.history.Spent < before || r.history.Spent > budget.Max {
				t.Fatalf("%v after %v", r.history.Spent, before)
			}
		}
	})
}
