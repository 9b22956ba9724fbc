package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// step moves to the next iterate, and reports whether that was possible. Like solver.step
// it takes a predictor, then a corrector.
func (v *privacySolver) step() bool {
	v.each(v.factorColumn)
	v.factorSchur()
	v.each(v.aimAtZero)
	v.aimW = -v.w * v.mu
	v.direction()
	target := v.reach().target(2*v.n*v.n+1, 1)

	v.each(func(_ *privacyShard, z int) { v.aimAt(z, target) })
	v.aimW += target - v.dw*v.dmu
	v.direction()
	r := v.reach()
	if math.IsNaN(v.dmu) || min(r.primal(), r.dual()) < lostStep {
		return false
	}
	v.move(min(1, insideStep*r.primal()), min(1, insideStep*r.dual()))
	return true
}

// lostStep is too short a step. If neither side can take a longer one, because rounding has
// left nothing of a slack, there is no way back to the interior.
const lostStep = 1e-13

// move takes the step, at different lengths for the mechanism and for the multipliers.
func (v *privacySolver) move(primal, dual float64) {
	floats.AddScaled(v.k, primal, v.dk)
	floats.AddScaled(v.s, primal, v.ds)
	v.w += primal * v.dw
	floats.AddScaled(v.r, dual, v.dr)
	floats.AddScaled(v.h, dual, v.dh)
	floats.AddScaled(v.lambda, dual, v.right[:v.n])
	v.mu += dual * v.dmu
}

// reach returns the reach of the direction.
func (v *privacySolver) reach() reach {
	r := reach{}
	r.include(v.w, v.dw, v.mu, v.dmu)
	for i := range v.shards {
		r.join(v.shards[i].reach)
	}
	return r
}

// factorColumn factors M_z, and adds its inverse N to the shard's sum of
//
//	N      N c_z
//	c^T N  c_z^T N c_z
func (v *privacySolver) factorColumn(sh *privacyShard, z int) {
	n := v.n
	m := v.factors[z*n*n : (z+1)*n*n]
	v.spread(sh, z, m)
	for x := range n {
		m[x*n+x] += v.r[z*n+x] / v.k[z*n+x]
	}
	factor(m, n)
	if z < shardCount {
		clear(sh.schur)
	}
	addInverted(m, n, sh.inverse, sh.schur, n+1)
	cost := v.cost[z*n : (z+1)*n]
	last := sh.schur[n*(n+1):]
	copy(sh.column, cost)
	solve(m, n, sh.column)
	floats.AddScaled(last[:n], 1, sh.column)
	last[n] += floats.Dot(cost, sh.column)
}

// spread sets the lower half of m to the sum of H_g (p_g - a)(p_g - a)^T, and a.
func (v *privacySolver) spread(sh *privacyShard, z int, m []float64) {
	n := v.n
	s, h, mean := v.s[z*n:(z+1)*n], v.h[z*n:(z+1)*n], v.mean[z*n:(z+1)*n]
	clear(mean)
	total := 0.0
	for g := range n {
		weight := h[g] / s[g]
		total += weight
		floats.AddScaled(mean, weight, v.p[g*n:(g+1)*n])
	}
	floats.Scale(1/total, mean)
	clear(m)
	centred := sh.column
	for g := range n {
		floats.SubTo(centred, v.p[g*n:(g+1)*n], mean)
		weight := h[g] / s[g]
		for x, c := range centred {
			floats.AddScaled(m[x*n:x*n+x+1], weight*c, centred[:x+1])
		}
	}
}

func (v *privacySolver) factorSchur() {
	clear(v.schur)
	for i := range min(shardCount, v.n) {
		floats.AddScaled(v.schur, 1, v.shards[i].schur)
	}
	v.schur[len(v.schur)-1] += v.w / v.mu
	factor(v.schur, v.n+1)
}

// aimAtZero aims at complementarity products of 0.
func (v *privacySolver) aimAtZero(_ *privacyShard, z int) {
	for i := z * v.n; i < (z+1)*v.n; i++ {
		v.aimR[i] = -v.k[i] * v.r[i]
		v.aimS[i] = -v.s[i] * v.h[i]
	}
}

// aimAt aims at products of mu, up to second order.
func (v *privacySolver) aimAt(z int, mu float64) {
	for i := z * v.n; i < (z+1)*v.n; i++ {
		v.aimR[i] += mu - v.dk[i]*v.dr[i]
		v.aimS[i] += mu - v.ds[i]*v.dh[i]
	}
}

// direction computes the direction in which the products change as aimed.
func (v *privacySolver) direction() {
	for i := range v.shards {
		sh := &v.shards[i]
		clear(sh.sum)
		sh.reach = reach{}
	}
	v.each(v.startDirection)
	v.setRight()
	solve(v.schur, v.n+1, v.right)
	v.dmu = v.right[v.n]
	v.dw = (v.aimW - v.w*v.dmu) / v.mu
	v.each(v.finishDirection)
}

// setRight sets the right side of the equations for dlambda and dmu, from the row sums and the loss
// that are missing.
func (v *privacySolver) setRight() {
	n, loss := v.n, 0.0
	clear(v.right)
	for i := range v.shards {
		floats.AddScaled(v.right, 1, v.shards[i].sum)
	}
	for z := range n {
		floats.Add(v.right[:n], v.k[z*n:(z+1)*n])
		loss += floats.Dot(v.cost[z*n:(z+1)*n], v.k[z*n:(z+1)*n])
	}
	floats.AddConst(-1, v.right[:n])
	v.right[n] += v.aimW/v.mu - (v.q - loss - v.w)
}

// startDirection sets dk_z to M_z^-1 g_z.
func (v *privacySolver) startDirection(sh *privacyShard, z int) {
	n := v.n
	h, s := v.h[z*n:(z+1)*n], v.s[z*n:(z+1)*n]
	g, pull := v.dk[z*n:(z+1)*n], v.dh[z*n:(z+1)*n]
	total, lack := 0.0, 1.0
	for i := range pull {
		pull[i] = v.aimS[z*n+i] / s[i]
		total += h[i] / s[i]
		lack -= h[i] + pull[i]
	}
	v.rise[z] = lack / total
	v.transpose(g, pull)
	floats.AddScaled(g, lack, v.mean[z*n:(z+1)*n])
	for x := range g {
		g[x] += v.rest[z*n+x] + v.aimR[z*n+x]/v.k[z*n+x]
	}
	solve(v.factors[z*n*n:(z+1)*n*n], n, g)
	floats.Add(sh.sum[:n], g)
	sh.sum[n] += floats.Dot(v.cost[z*n:(z+1)*n], g)
}

// finishDirection completes the direction of a column once dlambda and dmu are known.
func (v *privacySolver) finishDirection(sh *privacyShard, z int) {
	n := v.n
	u, dk := sh.column, v.dk[z*n:(z+1)*n]
	copy(u, v.right[:n])
	floats.AddScaled(u, v.dmu, v.cost[z*n:(z+1)*n])
	solve(v.factors[z*n*n:(z+1)*n*n], n, u)
	floats.Sub(dk, u)
	dy := floats.Dot(v.mean[z*n:(z+1)*n], dk) + v.rise[z]
	ds := v.ds[z*n : (z+1)*n]
	v.multiply(ds, dk)
	floats.AddConst(-dy, ds)
	for i := z * n; i < (z+1)*n; i++ {
		v.dh[i] = (v.aimS[i] - v.h[i]*v.ds[i]) / v.s[i]
	}
	// r follows from h: however dk was rounded, the proof of the bound stays consistent.
	v.transpose(u, v.dh[z*n:(z+1)*n])
	for x := range n {
		v.dr[z*n+x] = v.right[x] + v.dmu*v.cost[z*n+x] - u[x] - v.rest[z*n+x]
	}
	for i := z * n; i < (z+1)*n; i++ {
		sh.include(v.k[i], v.dk[i], v.r[i], v.dr[i])
		sh.include(v.s[i], v.ds[i], v.h[i], v.dh[i])
	}
}
