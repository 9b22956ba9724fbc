package optimal

import (
	"context"
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/optimal"
)

const (
	// lossTolerance is the relative error of a requested loss.
	lossTolerance = 1e-9

	// mostDoublings bounds how far from the epsilon of the settings the search goes.
	mostDoublings = 40
)

// LaplaceOfLoss returns the planar Laplace mechanism of a quality loss, up to 1e-9 of it, and
// its epsilon. The search begins at the epsilon of the settings. It ends early with the cause
// of ctx.
//
// The loss is continuous in epsilon and decreases: a ray from the secret passes through the
// cells of ever more distant places, and a smaller epsilon only makes the noise longer.
func (s *Study) LaplaceOfLoss(ctx context.Context, loss float64) (epsilon float64, k optimal.Matrix, err error) {
	excess := func(logEpsilon float64) (float64, error) {
		if k, err = PlanarLaplaceMatrix(ctx, math.Exp(logEpsilon), s.places); err != nil {
			return 0, err
		}
		return math.Log(max(optimal.Loss(s.prior, k, s.d), math.SmallestNonzeroFloat64) / loss), nil
	}
	logEpsilon, err := findZero(excess, math.Log(s.settings.Epsilon), math.Ln2, mostDoublings, lossTolerance)
	switch {
	case err != nil:
		return 0, nil, err
	case math.IsNaN(logEpsilon):
		return 0, nil, fmt.Errorf("no planar Laplace mechanism loses %v on average", loss)
	}
	return math.Exp(logEpsilon), k, nil
}

// findZero returns a zero of a decreasing function, within a tolerance of its value or as near
// as rounding allows. The last call of the function is at the zero. It seeks a change of sign
// within the given number of steps from start, and returns NaN if there is none; then it uses
// the Illinois method (Dowell and Jarratt, A Modified Regula Falsi Method for Computing
// the Root of an Equation, 1971).
func findZero(f func(float64) (float64, error), start, step float64, steps int, tolerance float64) (float64, error) {
	a := start
	fa, err := f(a)
	if fa < 0 {
		step = -step
	}
	b, fb := a, fa
	for ; err == nil && math.Abs(fb) > tolerance && (fb > 0) == (fa > 0); steps-- {
		if steps == 0 {
			return math.NaN(), nil
		}
		a, fa = b, fb
		b += step
		fb, err = f(b)
	}
	for err == nil && math.Abs(fb) > tolerance {
		c := b - fb*(b-a)/(fb-fa)
		if c == a || c == b {
			break
		}
		var fc float64
		fc, err = f(c)
		if (fc > 0) == (fb > 0) {
			fa /= 2 // the end that stays counts for less, so as not to stay for ever
		} else {
			a, fa = b, fb
		}
		b, fb = c, fc
	}
	return b, err
}
