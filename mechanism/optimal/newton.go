package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// step moves to the next iterate, and reports whether that was possible.
func (v *solver) step() bool {
	v.each(v.factorColumn)
	v.factorSchur()
	// Predictor: Newton's step for products of 0. Its reach tells how far the corrector
	// may aim.
	v.each(v.aimAtZero)
	v.direction()
	mu := v.reach().target(v.outputs * v.m)

	// Corrector: for products of mu, up to second order.
	v.each(func(_ *shard, z int) { v.aimAtMu(z, mu) })
	v.direction()
	r := v.reach()
	if math.IsNaN(v.dlambda[0]) || max(r.primal, r.dual) < shortestStep {
		return false
	}
	v.move(min(1, insideStep*r.primal), min(1, insideStep*r.dual))
	return true
}

const (
	insideStep   = 0.995 // share of the way to the boundary that a step takes
	shortestStep = 1e-10 // a shorter step is no progress
)

// move takes the step, at different lengths for k and for the multipliers.
func (v *solver) move(primal, dual float64) {
	v.each(func(_ *shard, z int) {
		floats.AddScaled(v.k[z*v.n:(z+1)*v.n], primal, v.dk[z*v.n:(z+1)*v.n])
		floats.AddScaled(v.s[z*v.m:(z+1)*v.m], primal, v.ds[z*v.m:(z+1)*v.m])
		floats.AddScaled(v.y[z*v.m:(z+1)*v.m], dual, v.dy[z*v.m:(z+1)*v.m])
	})
	floats.AddScaled(v.lambda, dual, v.dlambda)
}

// reach returns the reach of the direction.
func (v *solver) reach() reach {
	r := noPairs
	for i := range v.shards {
		r.join(v.shards[i].reach)
	}
	return r
}

// factorColumn factors H_z and adds its inverse to the shard's sum.
//
// Near the optimum H_z is the sum of huge terms that vanish on almost the same
// vector, k_z, and small ones that do not. Scaled by K = diag(k_z), a constraint
// k_a >= t k_b contributes
//
//	w (k_a u_a - t k_b u_b)^2 = w t k_a k_b (u_a - u_b)^2 + y (k_a u_a^2 - t k_b u_b^2)
//
// with w = y/s: an edge of a Laplacian and an excess, kept apart.
func (v *solver) factorColumn(sh *shard, z int) {
	n := v.n
	s, y := v.s[z*v.m:(z+1)*v.m], v.y[z*v.m:(z+1)*v.m]
	k := v.k[z*n : (z+1)*n]
	l, excess := v.factors[z*n*n:(z+1)*n*n], v.pivots[z*n:(z+1)*n]
	clear(l)
	clear(excess)
	for i := 0; i < len(s); i += 2 {
		c := v.constraints[i]
		l[c.low*n+c.high] = c.t * k[c.low] * k[c.high] * (y[i]/s[i] + y[i+1]/s[i+1])
		excess[c.low] += y[i] - c.t*y[i+1]
		excess[c.high] += y[i+1] - c.t*y[i]
	}
	for x := range excess {
		excess[x] *= k[x]
	}
	factorDominant(l, n, excess)
	if z < shardCount {
		clear(sh.schur)
	}
	addInverse(l, n, excess, k, sh.scratch, sh.column, sh.schur)
}

func (v *solver) factorSchur() {
	clear(v.schur)
	for i := range min(shardCount, v.outputs) {
		floats.AddScaled(v.schur, 1, v.shards[i].schur)
	}
	factor(v.schur, v.n)
}

// aimAtZero aims at complementarity products of 0.
func (v *solver) aimAtZero(_ *shard, z int) {
	s, y := v.s[z*v.m:(z+1)*v.m], v.y[z*v.m:(z+1)*v.m]
	for i, t := range s {
		v.aim[z*v.m+i] = -t * y[i]
	}
}

// aimAtMu aims at products of mu, up to second order.
func (v *solver) aimAtMu(z int, mu float64) {
	aim := v.aim[z*v.m : (z+1)*v.m]
	ds, dy := v.ds[z*v.m:(z+1)*v.m], v.dy[z*v.m:(z+1)*v.m]
	for i := range aim {
		aim[i] += mu - ds[i]*dy[i]
	}
}

// direction computes the direction in which the products change as aimed.
func (v *solver) direction() {
	for i := range v.shards {
		sh := &v.shards[i]
		clear(sh.sum)
		sh.reach = noPairs
	}
	v.each(v.startDirection)
	copy(v.dlambda, v.lack)
	for i := range v.shards {
		floats.AddScaled(v.dlambda, -1, v.shards[i].sum)
	}
	solve(v.schur, v.n, v.dlambda)
	v.each(v.finishDirection)
}

// startDirection sets dk_z to K^-1 H_z^-1 g_z, and dy to what the aim requires before the
// constraints move.
func (v *solver) startDirection(sh *shard, z int) {
	s, aim, dy := v.s[z*v.m:(z+1)*v.m], v.aim[z*v.m:(z+1)*v.m], v.dy[z*v.m:(z+1)*v.m]
	k, g := v.k[z*v.n:(z+1)*v.n], v.dk[z*v.n:(z+1)*v.n]
	for x, r := range v.residual[z*v.n : (z+1)*v.n] {
		g[x] = -r
	}
	for i, c := range v.constraints {
		e := aim[i] / s[i]
		dy[i] = e
		g[c.low] += e
		g[c.high] -= c.t * e
	}
	v.solveColumn(z, g)
	for x, u := range g {
		sh.sum[x] += k[x] * u
	}
}

// solveColumn overwrites g with K^-1 H_z^-1 g.
func (v *solver) solveColumn(z int, g []float64) {
	n := v.n
	for x, k := range v.k[z*n : (z+1)*n] {
		g[x] *= k
	}
	solveDominant(v.factors[z*n*n:(z+1)*n*n], n, v.pivots[z*n:(z+1)*n], g)
}

// finishDirection completes the direction of a column once dlambda is known.
func (v *solver) finishDirection(sh *shard, z int) {
	s, y := v.s[z*v.m:(z+1)*v.m], v.y[z*v.m:(z+1)*v.m]
	ds, dy := v.ds[z*v.m:(z+1)*v.m], v.dy[z*v.m:(z+1)*v.m]
	k, dk := v.k[z*v.n:(z+1)*v.n], v.dk[z*v.n:(z+1)*v.n]
	u := sh.column
	copy(u, v.dlambda)
	v.solveColumn(z, u)
	floats.AddScaled(u, 1, dk)
	for i, c := range v.constraints {
		d := c.t*k[c.high]*(u[c.low]-u[c.high]) + s[i]*u[c.low]
		e := dy[i] - y[i]/s[i]*d
		ds[i], dy[i] = d, e
		sh.include(s[i], d, y[i], e)
	}
	for x := range dk {
		dk[x] = k[x] * u[x]
	}
}
