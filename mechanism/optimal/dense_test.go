package optimal

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"gonum.org/v1/gonum/floats"
)

// TestFactorsOfDominantMatrices compares with the dense matrix.
func TestFactorsOfDominantMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		number := rapid.Float64Range(0.1, 1)
		l, m := make([]float64, n*n), make([]float64, n*n)
		excess, scale, want := make([]float64, n), make([]float64, n), make([]float64, n)
		for p := range n {
			excess[p], scale[p], want[p] = number.Draw(t, "excess"), number.Draw(t, "scale"), number.Draw(t, "x")
			m[p*n+p] += excess[p]
			for q := p + 1; q < n; q++ {
				w := number.Draw(t, "weight")
				l[p*n+q] = w
				m[p*n+p] += w
				m[q*n+q] += w
				m[p*n+q], m[q*n+p] = -w, -w
			}
		}
		x := make([]float64, n)
		for p := range n {
			x[p] = floats.Dot(m[p*n:(p+1)*n], want)
		}
		dense := append([]float64(nil), m...)
		factor(dense, n)
		y := append([]float64(nil), x...)
		solve(dense, n, y)

		factorDominant(l, n, excess)
		solveDominant(l, n, excess, x)
		inverted := make([]float64, n*n)
		addInverted(dense, n, make([]float64, n*n), inverted, n)
		inverse := make([]float64, n*n)
		addInverse(l, n, excess, scale, make([]float64, n*n), make([]float64, n), inverse)
		for p := range n {
			if math.Abs(x[p]-want[p]) > 1e-10 || math.Abs(y[p]-want[p]) > 1e-10 {
				t.Fatalf("solution %g and %g, want %g", x, y, want)
			}
			for q := range n {
				i, j := max(p, q), min(p, q)
				if got, want := scale[p]*scale[q]*inverted[i*n+j], inverse[i*n+j]; math.Abs(got-want) > 1e-10 {
					t.Fatalf("entry (%d,%d) of the inverse is %g and %g", p, q, got, want)
				}
				// Entry (p,q) of M times the inverse, less the scales.
				sum := 0.0
				for r := range n {
					i, j := max(r, q), min(r, q)
					sum += m[p*n+r] * inverse[i*n+j] / (scale[r] * scale[q])
				}
				if unit := map[bool]float64{true: 1}[p == q]; math.Abs(sum-unit) > 1e-10 {
					t.Fatalf("entry (%d,%d) of M M^-1 is %g", p, q, sum)
				}
			}
		}
	})
}

// TestSmallExcess has a matrix whose smallest eigenvalue is 2^-70 of the greatest:
// on the diagonal it would be lost.
func TestSmallExcess(t *testing.T) {
	const tiny = 0x1p-70
	l, excess := []float64{0, 1, 1, 0, 0, 1, 0, 0, 0}, []float64{tiny, tiny, tiny}
	factorDominant(l, 3, excess)
	x := []float64{1, 1, 1}
	solveDominant(l, 3, excess, x)
	for _, v := range x {
		if math.Abs(v*tiny-1) > 1e-14 {
			t.Errorf("solution %g, want %g", v, 1/tiny)
		}
	}
}
