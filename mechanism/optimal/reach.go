package optimal

import "math"

// A reach holds how far a step of an interior point method may go, for the products of
// slacks s and their multipliers y that it includes. Both solvers use it.
type reach struct {
	fallS, fallY float64 // the greatest of -ds/s and of -dy/y, at least 0
	sum          float64 // of the products
}

// include adds a pair of a slack and its multiplier.
func (r *reach) include(s, ds, y, dy float64) {
	if -ds > r.fallS*s {
		r.fallS = -ds / s
	}
	if -dy > r.fallY*y {
		r.fallY = -dy / y
	}
	r.sum += s * y
}

// join adds the pairs of o.
func (r *reach) join(o reach) {
	r.fallS = max(r.fallS, o.fallS)
	r.fallY = max(r.fallY, o.fallY)
	r.sum += o.sum
}

// primal returns the longest step that keeps all s non-negative. It may be infinite.
func (r reach) primal() float64 { return 1 / r.fallS }

// dual returns the longest step that keeps all y non-negative. It may be infinite.
func (r reach) dual() float64 { return 1 / r.fallY }

// target returns the product that the corrector aims at for each of the pairs, at most a
// share of their average: the farther the predictor's step gets, the smaller.
func (r reach) target(pairs int, most float64) float64 {
	left := 1 - min(1, r.primal(), r.dual())
	return min(math.Pow(left, 3), most) * r.sum / float64(pairs)
}
