package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// A step aims at no more than this share of the products that there are. The predictor
	// alone would often say more: among so many products some are soon at 0, but the
	// corrections draw them back.
	mostTarget = 0.1

	// corrections is how many times a step improves its direction. Each costs little next
	// to the factors.
	corrections = 2

	// startGap is the gap at the start, as a multiple of the loss.
	startGap = 3

	fartherStep = 0.3 // how much farther than a direction reaches a correction looks

	// Products within these multiples of the target are left alone by a correction.
	leastProduct = 0.1
	mostProduct  = 3

	longStep     = 0.95  // a direction that reaches so far needs no more corrections
	insideStep   = 0.95  // share of the way to the boundary that a step takes
	shortestStep = 1e-10 // a shorter step is no progress
)

// step moves to the next iterate, and reports whether that was possible.
func (v *solver) step() bool {
	v.each(v.factorColumn)
	v.factorSchur()
	// Predictor: Newton's step for products of 0.
	v.find(v.aimAtZero)
	mu := v.now.target(2*v.outputs*len(v.bonds), mostTarget)
	// Corrector: for products of mu, up to second order.
	v.find(func(z int, g []float64) { v.aimAtMu(z, g, mu) })
	if !v.now.moves() {
		return false
	}
	v.keep()
	for range corrections {
		if min(v.now.primal(), v.now.dual()) >= longStep {
			break
		}
		primal, dual := min(1, v.now.primal()+fartherStep), min(1, v.now.dual()+fartherStep)
		v.find(func(z int, g []float64) { v.aimAtCentre(z, g, mu, primal, dual) })
		if !v.now.moves() {
			break
		}
		if v.now.length() >= v.best.length() {
			v.keep()
		}
	}
	v.move(min(1, insideStep*v.best.primal()), min(1, insideStep*v.best.dual()))
	return true
}

// moves reports whether the direction leads anywhere.
func (d *direction) moves() bool {
	return !math.IsNaN(d.dlambda[0]) && max(d.primal(), d.dual()) >= shortestStep
}

// length returns the sum of the steps that the direction allows.
func (d *direction) length() float64 { return min(1, d.primal()) + min(1, d.dual()) }

// keep makes the present direction the best one.
func (v *solver) keep() {
	v.each(func(_ *shard, z int) {
		copy(v.ofPlaces(v.best.u, z), v.ofPlaces(v.now.u, z))
		copy(v.ofBonds(v.best.e, z), v.ofBonds(v.now.e, z))
	})
	copy(v.best.dlambda, v.now.dlambda)
	v.best.reach = v.now.reach
}

// move takes the step in the best direction, at different lengths for k and for the
// multipliers.
func (v *solver) move(primal, dual float64) {
	v.each(func(_ *shard, z int) {
		k, u, s, y, e := v.column(&v.best, z)
		for j, c := range v.bonds {
			fallA, fallB := c.fall(k, u)
			dsa, dya := change(fallA, u[c.a], s[j].a, y[j].a/s[j].a, e[j].a)
			dsb, dyb := change(fallB, u[c.b], s[j].b, y[j].b/s[j].b, e[j].b)
			s[j].a += primal * dsa
			s[j].b += primal * dsb
			y[j].a += dual * dya
			y[j].b += dual * dyb
		}
		for x, t := range u {
			k[x] += primal * k[x] * t
		}
	})
	floats.AddScaled(v.lambda, dual, v.best.dlambda)
}

// column returns what a column of a direction consists of. The last three are as long as
// the bonds.
func (v *solver) column(d *direction, z int) (k, u []float64, s, y, e []both) {
	return v.ofPlaces(v.k, z), v.ofPlaces(d.u, z), v.ofBonds(v.s, z), v.ofBonds(v.y, z), v.ofBonds(d.e, z)
}

// fall returns how the slacks of a bond's constraints change in a direction, but for s u, see
// change.
func (c bond) fall(k, u []float64) (a, b float64) {
	d := c.t * (u[c.a] - u[c.b])
	return k[c.b] * d, -k[c.a] * d
}

// change returns how a slack and its multiplier change in a direction. By dk = k u, a slack
// s = k_a - t k_b changes by t k_b (u_a - u_b) + s u_a, in which nothing large cancels.
func change(fall, u, s, w, e float64) (ds, dy float64) {
	ds = fall + s*u
	return ds, e - w*ds
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
	s, y := v.ofBonds(v.s, z), v.ofBonds(v.y, z)
	k, excess, f := v.ofPlaces(v.k, z), v.ofPlaces(v.pivots, z), v.factors[z*v.packed():(z+1)*v.packed()]
	l := sh.inverse
	v.clear(l)
	clear(excess)
	for j, c := range v.bonds {
		l[int(c.a)*v.n+int(c.b)] = c.t * k[c.a] * k[c.b] * (y[j].a/s[j].a + y[j].b/s[j].b)
		excess[c.a] += y[j].a - c.t*y[j].b
		excess[c.b] += y[j].b - c.t*y[j].a
	}
	for x := range excess {
		excess[x] *= k[x]
	}
	v.factor(l, excess, f)
	if z < shardCount {
		clear(sh.schur)
	}
	v.addInverse(f, excess, k, sh.inverse, sh.schur)
}

// factorSchur factors the sum of the inverses, of which the shards have the upper half.
func (v *solver) factorSchur() {
	clear(v.schur)
	for i := range min(shardCount, v.outputs) {
		floats.AddScaled(v.schur, 1, v.shards[i].schur)
	}
	for p := range v.n {
		for q := range p {
			v.schur[p*v.n+q] = v.schur[q*v.n+p]
		}
	}
	factor(v.schur, v.n)
}

// aimAtZero aims at complementarity products of 0. Like the other aims it adds A^T e to g.
func (v *solver) aimAtZero(z int, g []float64) {
	_, _, _, y, e := v.column(&v.now, z)
	for j, c := range v.bonds {
		e[j] = both{-y[j].a, -y[j].b}
		c.pull(g, e[j])
	}
}

// aimAtMu aims at products of mu, up to second order.
func (v *solver) aimAtMu(z int, g []float64, mu float64) {
	k, u, s, y, e := v.column(&v.now, z)
	for j, c := range v.bonds {
		fallA, fallB := c.fall(k, u)
		a, b := 1/s[j].a, 1/s[j].b
		dsa, dya := change(fallA, u[c.a], s[j].a, y[j].a*a, e[j].a)
		dsb, dyb := change(fallB, u[c.b], s[j].b, y[j].b*b, e[j].b)
		e[j].a += (mu - dsa*dya) * a
		e[j].b += (mu - dsb*dyb) * b
		c.pull(g, e[j])
	}
}

// aimAtCentre corrects the direction for the products that a step of the given lengths would
// make too small or too large (after Gondzio, Multiple Centrality Corrections in a
// Primal-Dual Method for Linear Programming, 1996).
func (v *solver) aimAtCentre(z int, g []float64, mu, primal, dual float64) {
	k, u, s, y, e := v.column(&v.now, z)
	for j, c := range v.bonds {
		fallA, fallB := c.fall(k, u)
		a, b := 1/s[j].a, 1/s[j].b
		dsa, dya := change(fallA, u[c.a], s[j].a, y[j].a*a, e[j].a)
		dsb, dyb := change(fallB, u[c.b], s[j].b, y[j].b*b, e[j].b)
		e[j].a += correction((s[j].a+primal*dsa)*(y[j].a+dual*dya), mu) * a
		e[j].b += correction((s[j].b+primal*dsb)*(y[j].b+dual*dyb), mu) * b
		c.pull(g, e[j])
	}
}

// pull adds what the bond contributes to A^T e.
func (c bond) pull(g []float64, e both) {
	g[c.a] += e.a - c.t*e.b
	g[c.b] += e.b - c.t*e.a
}

// correction returns what a product lacks of the range that it should be in, given the
// target. It takes away no more than the greatest product in that range.
func correction(product, mu float64) float64 {
	switch least, most := leastProduct*mu, mostProduct*mu; {
	case product < least:
		return least - product
	case product > most:
		return max(most-product, -most)
	default:
		return 0
	}
}

// find computes the direction in which the products change as aimed.
func (v *solver) find(aim func(z int, g []float64)) {
	for i := range v.shards {
		sh := &v.shards[i]
		clear(sh.sum)
		sh.reach = reach{}
	}
	v.each(func(sh *shard, z int) {
		v.startDirection(sh, z, aim)
	})
	copy(v.now.dlambda, v.lack)
	for i := range v.shards {
		floats.AddScaled(v.now.dlambda, -1, v.shards[i].sum)
	}
	solve(v.schur, v.n, v.now.dlambda)
	v.each(v.finishDirection)
	v.now.reach = reach{}
	for i := range v.shards {
		v.now.join(v.shards[i].reach)
	}
}

// startDirection sets u_z to K^-1 H_z^-1 g_z.
func (v *solver) startDirection(sh *shard, z int, aim func(z int, g []float64)) {
	g := sh.column
	for x, r := range v.ofPlaces(v.residual, z) {
		g[x] = -r
	}
	aim(z, g)
	v.solveColumn(z, g)
	copy(v.ofPlaces(v.now.u, z), g)
	for x, k := range v.ofPlaces(v.k, z) {
		sh.sum[x] += k * g[x]
	}
}

// solveColumn overwrites g with K^-1 H_z^-1 g.
func (v *solver) solveColumn(z int, g []float64) {
	for x, k := range v.ofPlaces(v.k, z) {
		g[x] *= k
	}
	v.solve(v.factors[z*v.packed():(z+1)*v.packed()], v.ofPlaces(v.pivots, z), g)
}

// finishDirection completes the direction of a column once dlambda is known.
func (v *solver) finishDirection(sh *shard, z int) {
	k, u, s, y, e := v.column(&v.now, z)
	copy(sh.column, v.now.dlambda)
	v.solveColumn(z, sh.column)
	floats.Add(u, sh.column)
	r := sh.reach
	for j, c := range v.bonds {
		fallA, fallB := c.fall(k, u)
		dsa, dya := change(fallA, u[c.a], s[j].a, y[j].a/s[j].a, e[j].a)
		dsb, dyb := change(fallB, u[c.b], s[j].b, y[j].b/s[j].b, e[j].b)
		r.include(s[j].a, dsa, y[j].a, dya)
		r.include(s[j].b, dsb, y[j].b, dyb)
	}
	sh.reach = r
}
