package optimal_test

import (
	"context"
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/optimal"
	"pgregory.net/rapid"
)

// TestTinyEpsilon makes secrets less and less distinguishable, down to the least that two
// places must be: the best output is the same for all of them, where a solver is left
// with rounding errors.
func TestTinyEpsilon(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     optimal.Matrix
		prior []float64
		loss  float64 // the least average distance from one place
	}{
		{"R22 3x3", grid(3), uniform(9), (4 + 4*math.Sqrt2) / 9},
		{"2 places", line(2, 1), ramp(2), 1. / 3},
		{"4x4, four medians", grid(4), uniform(16), (8 + 6*math.Sqrt2 + 4*math.Sqrt(5)) / 16},
	} {
		for epsilon := 0x1p-15; epsilon >= 0x1p-30; epsilon /= 8 {
			for _, dilation := range []float64{1, 1.5} {
				p := optimal.Problem{Prior: c.prior, Quality: c.d, Privacy: c.d, Epsilon: epsilon}
				s, err := optimal.Solve(context.Background(), p, optimal.Options{Dilation: dilation})
				if err != nil {
					t.Errorf("%s, epsilon %g: %v", c.name, epsilon, err)
					continue
				}
				if !near(s.Loss, c.loss, 1e-4) || s.Gap() > 1e-4 {
					t.Errorf("%s, epsilon %g: loss %.9f, want %.9f; gap %g", c.name, epsilon, s.Loss, c.loss, s.Gap())
				}
				checkCertificate(t, must(optimal.New(p.Epsilon, p.Privacy, s.Matrix)))
			}
		}
	}
}

// TestBoundOfConstants has problems so easy that a constant output mostly suffices. Its bound
// must not exceed the loss of a better mechanism.
func TestBoundOfConstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem().Draw(t, "problem")
		loose, err := optimal.Solve(context.Background(), p, optimal.Options{Gap: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		best, err := optimal.Solve(context.Background(), p, optimal.Options{Gap: 1e-3})
		if err != nil {
			t.Skip(err) // it stalls at one problem of some 200,000
		}
		if loose.Bound > best.Loss*(1+1e-12) {
			t.Errorf("bound %.9g, loss %.9g", loose.Bound, best.Loss)
		}
	})
}

// TestGapOfAlmostNothing: a loss is not below 0, so that no more than all of it may be saved.
func TestGapOfAlmostNothing(t *testing.T) {
	p := optimal.Problem{Prior: uniform(9), Quality: grid(3), Privacy: grid(3), Epsilon: 100}
	if s := solved(t, p, optimal.Options{}); s.Bound < 0 || s.Gap() > 1 {
		t.Errorf("bound %g, gap %g", s.Bound, s.Gap())
	}
}
