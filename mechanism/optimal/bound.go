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
		floats.AddScaled(v.lack, -1, v.k[z*v.n:(z+1)*v.n])
	}
	return (sum - size*float64(v.n)*0x1p-52) * v.scale
}

func (v *solver) setResidual(sh *shard, z int) {
	y := v.y[z*v.m : (z+1)*v.m]
	r, magnitude := v.residual[z*v.n:(z+1)*v.n], sh.column
	for x, c := range v.cost[z*v.n : (z+1)*v.n] {
		r[x] = c - v.lambda[x]
		magnitude[x] = c + math.Abs(v.lambda[x])
	}
	for i, c := range v.constraints {
		r[c.low] -= y[i]
		magnitude[c.low] += y[i]
		r[c.high] += c.t * y[i]
		magnitude[c.high] += y[i] // t y, and the error of t
	}
	for x := range r {
		sh.short[x] = max(sh.short[x], magnitude[x]*v.rounding-r[x])
	}
}
