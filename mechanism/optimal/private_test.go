package optimal_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/optimal"
	"pgregory.net/rapid"
)

func mostPrivate(t rapid.TB, p optimal.PrivacyProblem, gap float64) *optimal.PrivacySolution {
	t.Helper()
	s, err := optimal.MostPrivate(context.Background(), p, gap)
	if err != nil {
		t.Fatal(err)
	}
	checkPrivacySolution(t, p, s)
	return s
}

// checkPrivacySolution checks the properties of every solution.
func checkPrivacySolution(t rapid.TB, p optimal.PrivacyProblem, s *optimal.PrivacySolution) {
	t.Helper()
	for x, row := range s.Matrix {
		sum := 0.0
		for _, v := range row {
			sum += v
			if !(v >= 0) {
				t.Errorf("row %d has %g", x, v)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("row %d adds up to %g", x, sum)
		}
	}
	if l := optimal.Loss(p.Prior, s.Matrix, p.Quality); l != s.Loss || l > p.Loss*(1+1e-9) {
		t.Errorf("loss %g, stated %g, allowed %g", l, s.Loss, p.Loss)
	}
	if e := optimal.AdversaryError(p.Prior, s.Matrix, p.Adversary); e != s.Error || e > s.Bound {
		t.Errorf("adversary's error %g, stated %g, bound %g", e, s.Error, s.Bound)
	}
}

// constantError is the error of an adversary who sees nothing.
func constantError(prior []float64, d optimal.Matrix) float64 {
	constant := optimal.NewMatrix(len(prior), len(prior))
	for _, row := range constant {
		row[0] = 1
	}
	return optimal.AdversaryError(prior, constant, d)
}

// TestMostPrivateAndOptimal is theorem 6.2: where error and loss are one metric, the
// optimal mechanism at its loss q leaves the adversary the greatest error there is, q.
func TestMostPrivateAndOptimal(t *testing.T) {
	city := scattered(30)
	for _, c := range []struct {
		name string
		p    optimal.Problem
	}{
		{"5x5", optimal.Problem{Prior: uniform(25), Quality: grid(5), Privacy: grid(5), Epsilon: ln2}},
		{"5x5 skewed", optimal.Problem{Prior: ramp(25), Quality: grid(5), Privacy: grid(5), Epsilon: ln2}},
		{"7x7", optimal.Problem{Prior: uniform(49), Quality: grid(7), Privacy: grid(7), Epsilon: ln2}},
		{"30 places", city},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := solved(t, c.p, optimal.Options{Gap: 1e-6})
			q := optimal.Loss(c.p.Prior, k.Matrix, c.p.Quality)
			s := mostPrivate(t, optimal.PrivacyProblem{Prior: c.p.Prior, Quality: c.p.Quality, Adversary: c.p.Quality, Loss: q}, 1e-6)
			if !near(s.Error, q, 2e-6) || !near(s.Bound, q, 2e-6) {
				t.Errorf("adversary's error %.9f, bound %.9f, want %.9f", s.Error, s.Bound, q)
			}
		})
	}
}

// TestMostPrivateOfOneMetric has the error be the loss up to where the prior alone leaves
// no greater one: theorem 6.2 for the epsilon at which the optimum loses q.
func TestMostPrivateOfOneMetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := metric().Draw(t, "metric")
		prior := rapid.SliceOfN(rapid.Float64Range(1e-3, 1), len(d), len(d)).Draw(t, "prior")
		saturation := constantError(prior, d)
		q := saturation * rapid.Float64Range(1e-6, 2).Draw(t, "q")
		s := mostPrivate(t, optimal.PrivacyProblem{Prior: prior, Quality: d, Adversary: d, Loss: q}, 1e-6)
		// Of errors below 1e-4 of the saturation the gap is relative to that.
		tolerance := 1e-6 * max(q, 1e-4*saturation)
		if want := min(q, saturation); math.Abs(s.Error-want) > 2*tolerance || math.Abs(s.Bound-want) > 2*tolerance {
			t.Errorf("adversary's error %.9g, bound %.9g, want %.9g", s.Error, s.Bound, want)
		}
	})
}

// TestPrivacyBound compares the bound with the errors of mechanisms made at random, for
// losses and errors which need not have to do with each other.
func TestPrivacyBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "n")
		matrix := func(label string) optimal.Matrix {
			m := optimal.NewMatrix(n, n)
			for _, row := range m {
				for z, v := range rapid.SliceOfN(rapid.IntRange(0, 1000), n, n).Draw(t, label) {
					row[z] = float64(v) / 1000
				}
			}
			return m
		}
		p := optimal.PrivacyProblem{
			Prior:   prior(n).Draw(t, "prior"),
			Quality: matrix("quality"), Adversary: matrix("adversary"),
		}
		k := matrix("mechanism")
		for x, row := range k {
			row[x] += 0.1
			sum := 0.0
			for _, v := range row {
				sum += v
			}
			for z := range row {
				row[z] /= sum
			}
		}
		p.Loss = optimal.Loss(p.Prior, k, p.Quality)
		s, err := optimal.MostPrivate(context.Background(), p, 1e-5)
		if err != nil && strings.Contains(err.Error(), "too close to") {
			t.Skip("all outputs lose alike")
		}
		if err != nil {
			t.Fatal(err)
		}
		checkPrivacySolution(t, p, s)
		if e := optimal.AdversaryError(p.Prior, k, p.Adversary); e > s.Bound*(1+1e-12) {
			t.Errorf("adversary's error %g of another mechanism, bound %g", e, s.Bound)
		}
	})
}

// squares and wrong are errors of an adversary other than a distance: its square, and
// whether the guess is wrong.
func squares(d optimal.Matrix) optimal.Matrix {
	return each(d, func(v float64) float64 { return v * v })
}

func wrong(d optimal.Matrix) optimal.Matrix {
	return each(d, func(v float64) float64 { return min(1, math.Ceil(v)) })
}

func each(d optimal.Matrix, f func(float64) float64) optimal.Matrix {
	m := optimal.NewMatrix(len(d), len(d))
	for x, row := range d {
		for z, v := range row {
			m[x][z] = f(v)
		}
	}
	return m
}

// TestMostPrivateBeatsPrivateMechanisms compares with the optimal and the planar geometric
// mechanism at the loss of each.
func TestMostPrivateBeatsPrivateMechanisms(t *testing.T) {
	d, prior := grid(5), ramp(25)
	best := solved(t, optimal.Problem{Prior: prior, Quality: d, Privacy: d, Epsilon: ln2}, optimal.Options{})
	geometric := must(optimal.PlanarGeometric(ln2, 1, 5, 5))
	for name, adversary := range map[string]optimal.Matrix{"distance": d, "square": squares(d), "wrong": wrong(d)} {
		for _, k := range []optimal.Matrix{best.Matrix, geometric} {
			p := optimal.PrivacyProblem{Prior: prior, Quality: d, Adversary: adversary, Loss: optimal.Loss(prior, k, d)}
			s := mostPrivate(t, p, 0)
			if e := optimal.AdversaryError(prior, k, adversary); s.Error < e*(1-1e-4) {
				t.Errorf("%s: adversary's error %g, a private mechanism's %g", name, s.Error, e)
			}
		}
	}
}

// TestLossesOfAllSizes goes from where next to nothing is allowed to where all is.
func TestLossesOfAllSizes(t *testing.T) {
	d, prior := grid(3), ramp(9)
	saturation := constantError(prior, d)
	for _, q := range []float64{1e-8, 1e-6, 0.1, 2, 1e6, 1e300} {
		s := mostPrivate(t, optimal.PrivacyProblem{Prior: prior, Quality: d, Adversary: d, Loss: q}, 0)
		if want := min(q, saturation); math.Abs(s.Error-want) > 1e-4*max(want, 1e-4*saturation) {
			t.Errorf("loss %g: adversary's error %g, want %g", q, s.Error, want)
		}
	}
}

// TestNothingToHide has an adversary who never errs, and a loss that is always the same.
func TestNothingToHide(t *testing.T) {
	always := each(grid(3), func(float64) float64 { return 0.7 })
	p := optimal.PrivacyProblem{Prior: ramp(9), Quality: always, Adversary: optimal.NewMatrix(9, 9), Loss: 0.8}
	if s := mostPrivate(t, p, 0); s.Error != 0 || s.Bound != 0 {
		t.Errorf("adversary's error %g, bound %g", s.Error, s.Bound)
	}
	p.Adversary = grid(3)
	if s := mostPrivate(t, p, 0); !near(s.Error, constantError(p.Prior, p.Adversary), 1e-4) {
		t.Errorf("adversary's error %g", s.Error)
	}
}

func TestPrivacySolutionDoesNotDependOnTheCores(t *testing.T) {
	d := grid(4)
	p := optimal.PrivacyProblem{Prior: ramp(16), Quality: d, Adversary: squares(d), Loss: 0.5}
	first := mostPrivate(t, p, 0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for cores := 1; cores <= 5; cores += 2 {
		runtime.GOMAXPROCS(cores)
		for x, row := range mostPrivate(t, p, 0).Matrix {
			if !slices.Equal(row, first.Matrix[x]) {
				t.Errorf("row %d is another on %d cores", x, cores)
			}
		}
	}
}

// stepsContext is cancelled when it has been asked a number of times.
type stepsContext struct {
	context.Context
	left int
}

func (c *stepsContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelMostPrivate(t *testing.T) {
	d := grid(4)
	p := optimal.PrivacyProblem{Prior: ramp(16), Quality: d, Adversary: squares(d), Loss: 0.5}
	if s, err := optimal.MostPrivate(&stepsContext{context.Background(), 1000}, p, 0); err != nil || s == nil {
		t.Fatal(err)
	}
	if _, err := optimal.MostPrivate(&stepsContext{context.Background(), 2}, p, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestRefusedPrivacyProblems(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(p *optimal.PrivacyProblem, gap *float64)
	}{
		{"loss -1 is not", func(p *optimal.PrivacyProblem, _ *float64) { p.Loss = -1 }},
		{"loss NaN is not", func(p *optimal.PrivacyProblem, _ *float64) { p.Loss = math.NaN() }},
		{"loss +Inf is not", func(p *optimal.PrivacyProblem, _ *float64) { p.Loss = math.Inf(1) }},
		{"loss 0 is too close to 0, the least", func(p *optimal.PrivacyProblem, _ *float64) { p.Loss = 0 }},
		{"loss 1 is too close to 1, the least", func(p *optimal.PrivacyProblem, _ *float64) {
			p.Quality = each(p.Quality, func(v float64) float64 { return 1 + v })
		}},
		{"weights are all 0", func(p *optimal.PrivacyProblem, _ *float64) { clear(p.Prior) }},
		{"1 places", func(p *optimal.PrivacyProblem, _ *float64) { p.Prior = p.Prior[:1] }},
		{"300 places", func(p *optimal.PrivacyProblem, _ *float64) { p.Prior = uniform(300) }},
		{"quality loss has 3 rows", func(p *optimal.PrivacyProblem, _ *float64) { p.Quality = p.Quality[:3] }},
		{"adversary's error from 1 to 3 is NaN", func(p *optimal.PrivacyProblem, _ *float64) { p.Adversary[1][3] = math.NaN() }},
		{"gap 1 ", func(_ *optimal.PrivacyProblem, gap *float64) { *gap = 1 }},
		{"gap NaN ", func(_ *optimal.PrivacyProblem, gap *float64) { *gap = math.NaN() }},
	} {
		p, gap := optimal.PrivacyProblem{Prior: uniform(4), Quality: line(4, 1), Adversary: line(4, 1), Loss: 1}, 0.0
		c.spoil(&p, &gap)
		if _, err := optimal.MostPrivate(context.Background(), p, gap); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
