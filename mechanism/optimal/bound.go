package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// bound computes the residuals, and returns a lower bound of the loss of all mechanisms
// within the constraints.
//
// Any multipliers lambda with c_z - lambda = A^T y_z for some y_z >= 0, for every z, prove
// that the sum of lambda is a bound. The multipliers of the iteration leave a residual r_z.
// Non-negative entries do no harm: the constraints imply k >= 0, so every vector without
// negative entries is an A^T y. For negative entries, lambda_x is lowered by the most
// negative one of row x. Rounding errors count as negative.
//
// A tie comes with a multiplier that lambda knows nothing of. The part that steps have not yet made up for
// is the tie's debt, and left out here: the residual shrinks by the same share in a step as the debts.
func (v *solver) bound() float64 {
	for i := range v.shards {
		clear(v.shards[i].short)
	}
	v.each(v.setResidual)
	sum, size := 0.0, 0.0
	for x, l := range v.lambda {
		short := 0.0
		for i := range v.shards {
			short = max(short, v.shards[i].short[x])
		}
		sum += l - short
		size += math.Abs(l) + short
	}
	for x := range v.lack {
		v.lack[x] = 1
	}
	for z := range v.outputs {
		floats.AddScaled(v.lack, -1, v.ofPlaces(v.k, z))
	}
	return (sum - size*float64(v.n)*0x1p-52) * v.scale
}

func (v *solver) setResidual(sh *shard, z int) {
	r, proved, magnitude := v.ofPlaces(v.residual, z), sh.other, sh.column
	for x, c := range v.ofPlaces(v.cost, z) {
		r[x] = c - v.lambda[x]
		proved[x] = r[x]
		magnitude[x] = c + math.Abs(v.lambda[x])
	}
	for _, c := range v.ties[z] {
		r[c.a] -= c.y
		r[c.b] += c.t * c.y
		y := max(c.y-float64(c.debt), 0)
		proved[c.a] -= y
		proved[c.b] += c.t * y
		magnitude[c.a] += y
		magnitude[c.b] += y // t y, and the error of t
	}
	for x, t := range proved {
		sh.short[x] = max(sh.short[x], magnitude[x]*v.rounding-t)
	}
}
