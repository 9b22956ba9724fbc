package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Losses and guesses are the same on every platform: which of nearly equal guesses is the best decides the
// release. So products are rounded before they are added, and gonum, which sums in another order where it is
// assembly, does nothing but element by element.

// Loss returns the average loss of a mechanism k, the sum of pi_x k_xz d(x,z), for
// prior weights that are not negative: QL of the thesis, section 3.1.
func Loss(prior []float64, k, d Matrix) float64 {
	sum := 0.0
	for x, p := range probabilities(prior) {
		row := 0.0
		for z, q := range k[x] {
			row += float64(q * d[x][z])
		}
		sum += float64(p * row)
	}
	return sum
}

// Remap returns, for each output, the best guess of a listener who knows the prior: the
// column of d with the least posterior expectation, the first of equal ones. The matrix d
// has a column for each guess; as in the thesis, these are mostly the outputs themselves.
func Remap(prior []float64, k, d Matrix) []int {
	guesses, _ := remap(prior, k, d)
	return guesses
}

// AdversaryError returns the average of d(x, guess) for the guesses of [Remap]: the error
// of an adversary who makes the best use of the prior (AdvError of the thesis, section
// 3.1).
func AdversaryError(prior []float64, k, d Matrix) float64 {
	_, sum := remap(prior, k, d)
	return sum
}

func remap(prior []float64, k, d Matrix) (guesses []int, sum float64) {
	pi := probabilities(prior)
	guesses = make([]int, k.columns())
	expected, product := make([]float64, d.columns()), make([]float64, d.columns())
	for z := range guesses {
		clear(expected)
		for x, p := range pi {
			floats.Add(expected, floats.ScaleTo(product, p*k[x][z], d[x]))
		}
		for guess, e := range expected {
			if e < expected[guesses[z]] {
				guesses[z] = guess
			}
		}
		sum += expected[guesses[z]]
	}
	return guesses, sum
}

// Remapped returns the mechanism that reports guesses[z] in place of z. It is as private
// as m (thesis, lemma 6.1).
func (m Matrix) Remapped(guesses []int) Matrix {
	out := NewMatrix(len(m), m.columns())
	for x, row := range m {
		for z, p := range row {
			out[x][guesses[z]] += p
		}
	}
	return out
}

// RealisedEpsilon returns the least epsilon for which a matrix is
// epsilon*d-private, up to rounding: the maximum of ln(k_xz/k_x'z)/d(x,x'). It is infinite
// if a negative number or a zero is compared with a different number, and so for most
// matrices that come from a solver.
func RealisedEpsilon(k, d Matrix) float64 {
	most := 0.0
	for x, row := range k {
		for y, other := range k[:x] {
			for z, p := range row {
				most = max(most, logRatio(p, other[z])/d[x][y])
			}
		}
	}
	return most
}

// logRatio returns |ln(p/q)|.
func logRatio(p, q float64) float64 {
	switch {
	case p == q && p >= 0:
		return 0
	case p > 0 && q > 0:
		return math.Abs(math.Log(p) - math.Log(q))
	default:
		return math.Inf(1)
	}
}
