package trace

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// follow adds a fully reported trace to a run: hard points, at the cells given.
func follow(t fataler, m *Mechanism, r *Run, from int64, cells ...Cell) int64 {
	t.Helper()
	for _, z := range cells {
		p := plan(t, m, r, from*second)
		if p.Action == Predict || p.Action == Stop {
			t.Fatalf("%+v", p)
		}
		add(t, m, r, hard(p, z))
		from++
	}
	return from
}

// straight is a line of n cells.
func straight(from Cell, di, dj int64, n int) []Cell {
	var cells []Cell
	for range n {
		cells = append(cells, from)
		from = Cell{from.I + di, from.J + dj}
	}
	return cells
}

// rich is a policy that can pay for every step of a test.
func rich(t fataler, predictor string) *Mechanism {
	t.Helper()
	return build(t, NewPlane(beijing), Predictive, `{"epsilon": 9000, "alpha": 200, "predictor": "`+predictor+`"}`)
}

func TestParrot(t *testing.T) {
	m := rich(t, Parrot)
	var r Run
	at := follow(t, m, &r, 0, straight(Cell{5, 5}, 10, -3, 5)...)
	if z := plan(t, m, &r, at*second).Prediction; z != (Cell{45, -7}) {
		t.Errorf("%v", z)
	}
	if r.recent.n != 0 {
		t.Error("a parrot remembers")
	}
}

// On a straight line the prediction is exact, as far ahead as the line goes back.
func TestLinearFindsAStraightLine(t *testing.T) {
	m := rich(t, Linear)
	var r Run
	at := follow(t, m, &r, 100, straight(Cell{-40, 7}, 10, -3, 6)...) // 100 to 105 s
	for ahead, want := range map[int64]Cell{0: {20, -11}, 1: {30, -14}, 4: {60, -23}, 5: {10, -8}} {
		if z := plan(t, m, &r, (at+ahead)*second).Prediction; z != want {
			t.Errorf("%d s ahead: %v, want %v", ahead, z, want)
		}
	}
	if z := m.predict(&r, (at-1)*second+second/2); z != (Cell{15, -10}) { // halves to even
		t.Errorf("%v", z)
	}
}

// Two points are no line.
func TestLinearNeedsThreePoints(t *testing.T) {
	m := rich(t, Linear)
	var r Run
	at := follow(t, m, &r, 0, Cell{0, 0}, Cell{10, 10})
	if z := plan(t, m, &r, at*second).Prediction; z != (Cell{10, 10}) {
		t.Errorf("%v", z)
	}
}

// Points with noise of up to the accuracy do not end a line, one far off does; and
// three points later the new line is found.
func TestLinearDetectsATurn(t *testing.T) {
	m := rich(t, Linear) // alpha is 20 cells
	var r Run
	cells := straight(Cell{0, 0}, 10, 0, 8)
	for k := range cells {
		cells[k].J += int64(k%3-1) * 12
	}
	at := follow(t, m, &r, 0, cells...)
	if r.recent.n != 8 {
		t.Fatalf("noise is taken for a turn: %d points are left", r.recent.n)
	}
	turn := straight(Cell{80, 200}, 0, 30, 4)
	at = follow(t, m, &r, at, turn[0])
	if r.recent.n != 1 {
		t.Fatalf("the turn is not seen: %d points", r.recent.n)
	}
	if z := plan(t, m, &r, at*second).Prediction; z != turn[0] {
		t.Errorf("after the turn: %v", z)
	}
	at = follow(t, m, &r, at, turn[1:3]...)
	if z := plan(t, m, &r, at*second).Prediction; z != turn[3] {
		t.Errorf("on the new line: %v", z)
	}
}

// A gap longer than the line ends it.
func TestLinearForgetsAfterAGap(t *testing.T) {
	m := rich(t, Linear)
	var r Run
	at := follow(t, m, &r, 0, straight(Cell{0, 0}, 10, 0, 8)...)
	follow(t, m, &r, at+7, Cell{150, 0})
	if r.recent.n != 1 {
		t.Errorf("%d points", r.recent.n)
	}
}

// Untested reports teach nothing.
func TestLinearIgnoresUntestedReports(t *testing.T) {
	m := build(t, NewPlane(beijing), Predictive, `{"epsilon": 9000, "alpha": 200, "predictor": "linear", "skip_speed": 0.1}`)
	var r Run
	at := follow(t, m, &r, 0, Cell{0, 0})
	p := plan(t, m, &r, at*second)
	if p.Action != Predict {
		t.Fatalf("%+v", p)
	}
	add(t, m, &r, easy(p))
	if r.recent.n != 1 || r.last.t != p.T || r.paid.t != 0 {
		t.Errorf("%+v", r)
	}
}

// The mixture moves to the predictor which is right, and back.
func TestMixtureConverges(t *testing.T) {
	m := rich(t, Mixture)
	for _, c := range []struct {
		name    string
		cells   []Cell
		linear  bool
		extreme bool
	}{
		{"fast and straight", straight(Cell{0, 0}, 60, 0, 12), true, true},
		{"standing", straight(Cell{9, 9}, 0, 0, 12), false, false},
		{"slow, which suits both", straight(Cell{0, 0}, 1, 0, 12), false, false},
	} {
		var r Run
		at := follow(t, m, &r, 0, Cell{c.cells[0].I, c.cells[0].J})
		for _, x := range c.cells[1:] { // as a test without noise would have it
			p := plan(t, m, &r, at*second)
			if distance(x, p.Prediction)*m.space.Step() <= p.Threshold {
				add(t, m, &r, easy(p))
			} else {
				add(t, m, &r, hard(p, x))
			}
			at++
		}
		if r.rivals.linearLeads() != c.linear || (r.rivals.handicap == maxHandicap) != c.extreme {
			t.Errorf("%s: handicap of the parrot %d", c.name, r.rivals.handicap)
		}
		if !c.linear {
			continue
		}
		// It jumps to and fro: every line misleads, and the parrot is right every
		// other time.
		for k := range 24 {
			x := Cell{600 * int64(k/2%2), 0}
			p := plan(t, m, &r, at*second)
			if distance(x, p.Prediction)*m.space.Step() <= p.Threshold {
				add(t, m, &r, easy(p))
			} else {
				add(t, m, &r, hard(p, x))
			}
			at++
		}
		if r.rivals.linearLeads() {
			t.Errorf("jumping: handicap of the parrot %d", r.rivals.handicap)
		}
	}
}

// The prediction that failed its test was bad, even if the noise falls near it; the
// other one is judged by the noise.
func TestMixtureBelievesTheTest(t *testing.T) {
	m := rich(t, Mixture) // the threshold is 22 cells
	var r Run
	follow(t, m, &r, 0, straight(Cell{0, 0}, 5, 0, 4)...) // the last is 5 cells from the parrot
	if r.rivals.handicap != 1 {
		t.Errorf("handicap of the parrot %d", r.rivals.handicap)
	}
}

// Weights are bounded both ways and move only when the two differ.
func TestRivals(t *testing.T) {
	var r rivals
	for range 10 {
		r.judge(true, false)
	}
	if r.handicap != maxHandicap || !r.linearLeads() {
		t.Errorf("%+v", r)
	}
	r.judge(true, true)
	r.judge(false, false)
	if r.handicap != maxHandicap {
		t.Errorf("%+v", r)
	}
	for range 20 {
		r.judge(false, true)
	}
	if r.handicap != -maxHandicap || r.linearLeads() {
		t.Errorf("%+v", r)
	}
}

// Whatever cells and times a run has, predictions are cells which may be reported:
// no infinity or NaN comes up on the way.
func TestPredictionsMayBeReported(t *testing.T) {
	for name, s := range spaces {
		for _, predictor := range []string{Parrot, Linear, Mixture} {
			t.Run(name+"/"+predictor, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					m := build(t, s, Predictive, `{"epsilon": 9000, "steps": 1000, "predictor": "`+predictor+`"}`)
					var r Run
					at := rapid.SampledFrom([]int64{math.MinInt64, -5, 1 << 60}).Draw(t, "start")
					for range 12 {
						p := plan(t, m, &r, at)
						if z := s.Nearest(float64(p.Prediction.I), float64(p.Prediction.J)); p.Action == Test && z != p.Prediction {
							t.Fatalf("%v is predicted, %v is the nearest that may be reported", p.Prediction, z)
						}
						if p.Action == Test && rapid.Bool().Draw(t, "easy") {
							add(t, m, &r, easy(p))
						} else {
							add(t, m, &r, hard(p, anyCell(t, s)))
						}
						for _, c := range r.recent.points[:r.recent.n] {
							if !c.z.bounded() {
								t.Fatalf("%+v", r)
							}
						}
						if c, ok := r.recent.fit(at + 1); ok && !(math.Abs(c.x) < 1e30 && math.Abs(c.y) < 1e30 && c.leverage > 0 && c.leverage < 1e30) {
							t.Fatalf("%+v", c)
						}
						gap := rapid.SampledFrom([]int64{1, 1, second, 3600 * second, 1 << 56, 1 << 58}).Draw(t, "gap")
						if at > math.MaxInt64-gap-1 {
							break
						}
						at += gap
					}
				})
			})
		}
	}
}
