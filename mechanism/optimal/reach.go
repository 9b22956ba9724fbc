package optimal

import "math"

// A reach holds how far a step of an interior point method may go, and how it changes the
// products of slacks s and their multipliers y. Both solvers use it.
type reach struct {
	primal, dual float64 // the longest steps that keep s and y non-negative; may be infinite

	// The sums of s y, s dy, ds y and ds dy.
	sy, sdy, dsy, dsdy float64
}

// noPairs is the reach of a step before any pair of a slack and its multiplier.
var noPairs = reach{primal: math.Inf(1), dual: math.Inf(1)}

// include adds a pair of a slack and its multiplier.
func (r *reach) include(s, ds, y, dy float64) {
	if ds < 0 {
		r.primal = min(r.primal, -s/ds)
	}
	if dy < 0 {
		r.dual = min(r.dual, -y/dy)
	}
	r.sy += s * y
	r.sdy += s * dy
	r.dsy += ds * y
	r.dsdy += ds * dy
}

// join adds the pairs of o.
func (r *reach) join(o reach) {
	r.primal = min(r.primal, o.primal)
	r.dual = min(r.dual, o.dual)
	r.sy += o.sy
	r.sdy += o.sdy
	r.dsy += o.dsy
	r.dsdy += o.dsdy
}

// target returns the product that the corrector aims at for each of the pairs: the farther
// the predictor's step gets, the smaller it is.
func (r reach) target(pairs int) float64 {
	primal, dual := min(1, r.primal), min(1, r.dual)
	share := (r.sy + dual*r.sdy + primal*r.dsy + primal*dual*r.dsdy) / r.sy
	return share * share * share * r.sy / float64(pairs)
}
