package budget

import (
	"testing"

	"github.com/geosql/geosql/internal/golden"
)

// Delta is the same number on every platform.
func TestNumbers(t *testing.T) {
	var n golden.Numbers
	for _, rho := range []float64{1e-9, 1e-6, 0.0003, 0.02, 1, 700} {
		var deltas []float64
		for _, distance := range []float64{1, 30, 1234.5} {
			for _, epsilon := range []float64{0.01, 0.7, 4, 50} {
				deltas = append(deltas, Delta(rho, distance, epsilon))
			}
		}
		n.Add("delta", append([]float64{rho}, deltas...)...)
	}
	for _, delta := range []float64{1e-12, 1e-6, 0.1} {
		rho, _ := LargestRho(1.5, delta, 100)
		x, _ := rho.Float64()
		n.Add("rho", delta, x)
	}
	n.Check(t, "testdata/numbers.txt")
}
