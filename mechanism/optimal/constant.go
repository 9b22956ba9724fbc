package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// constantMechanism returns the mechanism that loses least while its output is the
// same for every secret, with a bound on all private mechanisms. If epsilon is tiny, no
// other mechanism is much better, and the solver has no digits left.
//
// Let z0 be the output, and s_xz = pi_x (dQ(x,z0) - dQ(x,z)) the saving of the output z, so
// that a mechanism k saves the sum of s_xz k_xz. For any place y, k_xz is at most
// e^(epsilon dX(x,y)) k_yz and at least e^(-epsilon dX(x,y)) k_yz. With the former for
// s_xz > 0, and the latter for s_xz < 0,
//
//	sum of s_xz k_xz <= sum over z of k_yz (sum over x of s_xz e^(+-epsilon dX(x,y))),
//
// and the k_yz add up to 1: no mechanism saves more than the greatest sum over x.
func constantMechanism(p Problem) *Solution {
	prior := probabilities(p.Prior)
	losses := make([]float64, p.Quality.columns())
	for x, row := range p.Quality {
		floats.AddScaled(losses, prior[x], row)
	}
	output := floats.MinIdx(losses)
	saved := losses[output]
	for y := range prior {
		saved = min(saved, mostSaved(p, prior, output, y, saved))
	}
	k := NewMatrix(len(prior), len(losses))
	for _, row := range k {
		row[output] = 1
	}
	return &Solution{Matrix: k, Progress: Progress{Loss: losses[output], Bound: max(losses[output]-saved, 0)}}
}

// mostSaved returns the greatest sum over x, see constantMechanism, with an allowance for
// its rounding errors: exponents up to 64 are off by less than 2^-46, sums of 1,024 by less
// than 2^-42. If a sum is at least enough, it returns that sum.
func mostSaved(p Problem, prior []float64, output, y int, enough float64) float64 {
	const (
		mostExponent = 64
		rounding     = 0x1p-40
	)
	if p.Epsilon*floats.Max(p.Privacy[y]) > mostExponent {
		return math.Inf(1)
	}
	most := 0.0
	up, down := make([]float64, len(prior)), make([]float64, len(prior))
	for x, d := range p.Privacy[y] {
		up[x], down[x] = math.Exp(p.Epsilon*d), math.Exp(-p.Epsilon*d)
	}
	for z := range p.Quality.columns() {
		sum, size := 0.0, 0.0
		for x, row := range p.Quality {
			factor := up[x]
			if row[z] > row[output] {
				factor = down[x]
			}
			sum += prior[x] * (row[output] - row[z]) * factor
			size += prior[x] * (row[output] + row[z]) * up[x]
		}
		if most = max(most, sum+size*rounding); most >= enough {
			break
		}
	}
	return most
}
