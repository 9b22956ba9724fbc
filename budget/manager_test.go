package budget

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// planarQuantile is c_N of the planar Laplace law.
const planarQuantile = 3.889720169867429

// perHundredMetres is the epsilon of the paper's experiments, ln 10 within 100 m.
const perHundredMetres Amount = 23_025_850_929

func planarTuning(eta float64) Tuning {
	return Tuning{NoiseQuantile: planarQuantile, Eta: eta, Gamma: 0.8}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

// R34, computed with 60 digits: constants and the smallest prediction rate that pays.
func TestBreakEven(t *testing.T) {
	near(t, "c_theta", testQuantile, math.Log(5), 1e-16)
	for eta, want := range map[float64]float64{.5: .465487894, .6: .558585473, 1: .930975789, 0: 0} {
		near(t, "the least prediction rate", planarTuning(eta).BreakEven(), want, 5e-10)
	}
	near(t, "the least prediction rate with ln 10",
		math.Log(10)/testQuantile*planarTuning(.5).BreakEven(), .6660, 5e-5)
}

// R35: the paper's experiment with an accuracy of 3 km.
func TestFixedUtilityPublished(t *testing.T) {
	m := FixedUtility{Epsilon: perHundredMetres, Alpha: 3000, Tuning: planarTuning(.5)}
	a := m.Allot(History{})
	near(t, "eps_N", epsilon(a.Noise), .00129657339, 5e-12)
	near(t, "eps_theta", epsilon(a.Test), .000603539217, 1e-12)
	near(t, "l", a.Threshold, 3333.33, .005)
	near(t, "alpha", a.Accuracy, 3000, 1e-5)
	near(t, "alpha_theta", testQuantile/epsilon(a.Test), 2666.67, .005)
	near(t, "n_ind", float64(perHundredMetres)/float64(a.Noise), 17.759, 5e-4)
	near(t, "the rate per point", 100*float64(a.Noise)/float64(perHundredMetres), 5.6309, 5e-5)
}

// R36: the paper's experiment with a rate of 1/30.
func TestFixedRatePublished(t *testing.T) {
	for _, c := range []struct{ eta, noise, test, threshold, mean float64 }{
		{.6, .000949223539, .000530222480, 3794.25, 2106.99},
		{.5, .001072734242, .000499344804, 4028.87, 2 / .001072734242},
	} {
		m := FixedRate{Epsilon: perHundredMetres, Steps: 30, PredictionRate: .75, Tuning: planarTuning(c.eta)}
		a := m.Allot(History{})
		near(t, "eps_N", epsilon(a.Noise), c.noise, 1.5e-12)
		near(t, "eps_theta", epsilon(a.Test), c.test, 1.5e-12)
		near(t, "l", a.Threshold, c.threshold, .005)
		near(t, "the mean error", 2/epsilon(a.Noise), c.mean, .005)
	}
	for _, c := range []struct {
		steps          int64
		mean, accuracy float64
	}{{30, 2605.77, 5067.85}, {10, 868.59, 1689.28}} {
		independent := FixedRate{Epsilon: perHundredMetres, Steps: c.steps, Tuning: planarTuning(0)}
		a := independent.Allot(History{})
		if a.Test != 0 {
			t.Errorf("the independent mechanism tests")
		}
		near(t, "the independent mean error", 2/epsilon(a.Noise), c.mean, .005)
		near(t, "the independent accuracy", a.Accuracy, c.accuracy, .005)
	}
}

// printed is the manager as figure 3a prints it: it stops only when nothing is left.
type printed struct{ FixedUtility }

func (m printed) Allot(h History) Allotment {
	if h.Spent >= m.Epsilon {
		return Allotment{}
	}
	return m.FixedUtility.Allot(History{})
}

// spendAll runs a manager until it grants nothing, or for 10,000 steps; passes
// says of each test whether it passes.
func spendAll(m Manager, passes func(step int64) bool) History {
	var h History
	for h.Points < 10_000 {
		a := m.Allot(h)
		if a.Test == 0 && a.Noise == 0 {
			break
		}
		if a.Test > 0 {
			h.Tested++
		}
		h.Spent += a.Test
		if a.Test > 0 && passes(h.Points) {
			h.Easy++
		} else {
			h.Spent += a.Noise
		}
		h.Points++
	}
	return h
}

func never(int64) bool { return false }

// R37: all steps hard, the manager as printed spends 107.28 %.
func TestAllHard(t *testing.T) {
	m := FixedUtility{Epsilon: perHundredMetres, Alpha: 3000, Tuning: planarTuning(.5)}
	h := spendAll(printed{m}, never)
	if h.Points != 13 {
		t.Errorf("as printed: %d steps", h.Points)
	}
	near(t, "the overspending", 100*epsilon(h.Spent)/epsilon(m.Epsilon), 107.28, .005)
	a := m.Allot(History{})
	near(t, "the worst overspending", 100*epsilon(a.Test+a.Noise)/epsilon(m.Epsilon), 8.25, .005)
	if h = spendAll(m, never); h.Points != 12 || h.Spent > m.Epsilon {
		t.Errorf("%d steps spend %v of %v", h.Points, h.Spent, m.Epsilon)
	}
	rate := FixedRate{Epsilon: perHundredMetres, Steps: 30, PredictionRate: .75, Tuning: planarTuning(.6)}
	if h = spendAll(rate, never); h.Points != 30 || h.Spent != rate.Epsilon {
		t.Errorf("%d steps spend %v of %v", h.Points, h.Spent, rate.Epsilon)
	}
}

// A budget too small for a test goes to noise alone.
func TestRemainder(t *testing.T) {
	utility := FixedUtility{Epsilon: perHundredMetres, Alpha: 3000, Tuning: planarTuning(.5)}
	full := utility.Allot(History{})
	for _, c := range []struct{ left, test, noise Amount }{
		{full.Test + full.Noise, full.Test, full.Noise},
		{full.Test + full.Noise - 1, 0, full.Test + full.Noise - 1},
		{full.Noise, 0, full.Noise},
		{full.Noise - 1, 0, 0},
		{0, 0, 0},
	} {
		a := utility.Allot(History{Points: 5, Spent: utility.Epsilon - c.left})
		if a.Test != c.test || a.Noise != c.noise {
			t.Errorf("of %v, %v goes to the test and %v to noise", c.left, a.Test, a.Noise)
		}
	}
	// At a prediction rate of one, a test and its noise cost 2.79 rates.
	rate := FixedRate{Epsilon: 1000 * One, Steps: 10, PredictionRate: 1, Tuning: planarTuning(.6)}
	for points, want := range map[int64]Amount{9: 500 * One, 8: 250 * One, 12: 500 * One} {
		a := rate.Allot(History{Points: points, Spent: 500 * One})
		if a.Test != 0 || a.Noise != want {
			t.Errorf("point %d: %v for a test, %v for noise", points, a.Test, a.Noise)
		}
	}
}

// The prediction rate is taken from the run after ten tests, or a quarter as many
// as there are steps.
func TestPredictionRateIsEstimated(t *testing.T) {
	for _, c := range []struct{ steps, tests int64 }{{1000, 10}, {40, 10}, {39, 10}, {30, 8}, {4, 1}, {2, 1}} {
		m := FixedRate{Epsilon: One, Steps: c.steps, PredictionRate: .75, Tuning: planarTuning(.6)}
		before := m.Allot(History{Tested: c.tests - 1})
		if a := m.Allot(History{}); before != a {
			t.Errorf("%d steps: the estimate is used after %d tests", c.steps, c.tests-1)
		}
		after := m.Allot(History{Tested: c.tests})
		if after == before {
			t.Errorf("%d steps: the estimate is not used after %d tests", c.steps, c.tests)
		}
		all := m.Allot(History{Tested: 4 * c.tests, Easy: 3 * c.tests})
		if all != before {
			t.Errorf("%d steps: three of four is not 0.75", c.steps)
		}
	}
}

// managers draws a manager with sensible settings.
func managers(t *rapid.T) (Manager, Amount) {
	eps := Amount(rapid.Int64Range(1, int64(Max)).Draw(t, "epsilon"))
	tuning := Tuning{
		NoiseQuantile: rapid.Float64Range(1, 5).Draw(t, "c_N"),
		Eta:           rapid.Float64Range(0, 1).Draw(t, "eta"),
		Gamma:         rapid.Float64Range(0.01, 1).Draw(t, "gamma"),
	}
	if rapid.Bool().Draw(t, "utility") {
		points := rapid.Float64Range(0.5, 100).Draw(t, "points")
		return FixedUtility{eps, points * tuning.NoiseQuantile / epsilon(eps), tuning}, eps
	}
	steps := rapid.Int64Range(1, 100).Draw(t, "steps")
	return FixedRate{eps, steps, rapid.Float64Range(0, 1).Draw(t, "prediction rate"), tuning}, eps
}

// No run, all steps hard included, spends more than epsilon.
func TestManagersNeverOverspend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, eps := managers(t)
		bits := rapid.Uint64().Draw(t, "passed")
		if h := spendAll(m, func(step int64) bool { return bits>>(step%64)&1 == 1 }); h.Spent > eps {
			t.Fatalf("%d points spend %v of %v", h.Points, h.Spent, eps)
		}
		if h := spendAll(m, never); h.Spent > eps {
			t.Fatalf("%d hard points spend %v of %v", h.Points, h.Spent, eps)
		}
	})
}

// A fixed rate serves the steps it was planned for, whatever the run.
func TestFixedRateServesItsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.Int64Range(1, 60).Draw(t, "steps")
		m := FixedRate{One, steps, rapid.Float64Range(0, 1).Draw(t, "prediction rate"), planarTuning(.6)}
		bits := rapid.Uint64().Draw(t, "passed")
		h := spendAll(m, func(step int64) bool { return bits>>step&1 == 1 })
		if h.Points < steps || h.Spent != m.Epsilon {
			t.Fatalf("%d of %d points, %v spent", h.Points, steps, h.Spent)
		}
	})
}

// starved returns the steps left at which a test that fails leaves the later steps
// less than half their rate, or 0: all hard, after a share of 0.75 that passed.
func starved(m Manager, eps Amount, steps int64) int64 {
	for left := steps; left > 1; left-- {
		h := History{Points: steps - left, Tested: 100, Easy: 75, Spent: eps / Amount(steps) * Amount(steps-left)}
		a := m.Allot(h)
		rest := eps - h.Spent
		if a.Test > 0 && 2*(rest-a.Test-a.Noise) < (rest/Amount(left)-1)*Amount(left-1) {
			return left
		}
	}
	return 0
}

// unguarded is the manager of figure 3b, which tests whenever it can pay for it.
type unguarded struct{ FixedRate }

func (m unguarded) Allot(h History) Allotment {
	left := m.Epsilon - h.Spent
	noise := floor(float64(left) / float64(m.Steps-h.Points) / (1 - m.predictionRate(h) + m.BreakEven()))
	return m.grant(floor(float64(noise)*m.BreakEven()), noise)
}

// No failed test starves the steps after it, as the published manager's do; and
// far from the end there is no difference.
func TestFixedRateKeepsSomethingForTheEnd(t *testing.T) {
	for _, eta := range []float64{.5, .6, 1} {
		m := FixedRate{perHundredMetres, 30, .75, planarTuning(eta)}
		if left := starved(m, m.Epsilon, 30); left > 0 {
			t.Errorf("eta %v: with %d steps left", eta, left)
		}
		if starved(unguarded{m}, m.Epsilon, 30) == 0 {
			t.Errorf("eta %v: the published manager is not caught", eta)
		}
		h := History{Points: 20, Spent: m.Epsilon / 3 * 2}
		got, want := m.Allot(h), unguarded{m}.Allot(h)
		if got.Test == 0 || max(got.Noise-want.Noise, want.Noise-got.Noise) > 2 {
			t.Errorf("eta %v: %+v with ten steps left, as published %+v", eta, got, want)
		}
	}
}

// An allotment never exceeds the remaining budget, however senseless the settings.
func FuzzAllot(f *testing.F) {
	f.Add(int64(1), 1., .5, .8, 3.9, int64(1), int64(0), int64(0), int64(0), int64(0))
	f.Add(int64(Max), math.Inf(1), math.NaN(), math.Copysign(0, -1), 0., int64(-1), int64(5), int64(-7), int64(9), int64(Max))
	f.Add(int64(Max), 1e-300, 1., 1e-300, 1e300, int64(math.MaxInt64), int64(1), int64(1), int64(1), int64(1))
	f.Fuzz(func(t *testing.T, eps int64, alpha, eta, gamma, quantile float64, steps, points, tested, easy, spent int64) {
		if eps < 1 || eps > int64(Max) || spent < 0 || spent > eps || points < 0 {
			t.Skip()
		}
		h := History{points, tested, easy, Amount(spent)}
		tuning := Tuning{quantile, eta, gamma}
		for _, m := range []Manager{
			FixedUtility{Amount(eps), alpha, tuning},
			FixedRate{Amount(eps), steps, alpha, tuning},
		} {
			a := m.Allot(h)
			if a.Test < 0 || a.Noise < 0 || a.Test > 0 && a.Noise == 0 {
				t.Fatalf("%+v grants %+v", m, a)
			}
			total := new(big.Int).Add(big.NewInt(int64(a.Test)), big.NewInt(int64(a.Noise)))
			if total.Cmp(big.NewInt(eps-spent)) > 0 {
				t.Fatalf("%+v grants %+v with %d left", m, a, eps-spent)
			}
		}
	})
}

func TestAllotAllocates(t *testing.T) {
	for _, m := range []Manager{
		FixedUtility{perHundredMetres, 3000, planarTuning(.5)},
		FixedRate{perHundredMetres, 30, .75, planarTuning(.6)},
	} {
		if n := testing.AllocsPerRun(1000, func() { m.Allot(History{Points: 3, Tested: 2}) }); n != 0 {
			t.Errorf("%T: %v allocations", m, n)
		}
	}
}
