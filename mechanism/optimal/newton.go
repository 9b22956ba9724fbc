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
	corrections = 4

	// The mechanism at the start uses this share of epsilon, and is blended with a uniform
	// one, so that no number is 0. startGap is its gap, as a multiple of its loss.
	startShare = 0.8
	startBlend = 1e-3
	startGap   = 3

	// A constraint is in sight if its slack is below this share of its k[a]. It then becomes a
	// tie, with a product that is this share of the average one.
	sight    = 0.5
	tieShare = 0.2

	fartherStep = 0.3 // how much farther than a direction reaches a correction looks

	// Products within these multiples of the target are left alone by a correction.
	leastProduct = 0.1
	mostProduct  = 10

	longStep     = 0.95  // a direction that reaches so far needs no more corrections
	insideStep   = 0.95  // share of the way to the boundary that a step takes
	shortestStep = 1e-10 // a shorter step is no progress
)

// step moves to the next iterate, and reports whether that was possible.
func (v *solver) step() bool {
	v.each(v.factorColumn)
	v.factorSchur()
	// Predictor: Newton's step for products of 0.
	now := v.find(v.aimAtZero)
	mu := now.target(v.pairs(), mostTarget)
	// Corrector: for products of mu, up to second order.
	now = v.find(func(z, to int, g []float64) { v.aimAtMu(z, to, g, mu) })
	if !now.moves() {
		return false
	}
	v.best = v.now
	for range corrections {
		if min(now.primal(), now.dual()) >= longStep {
			break
		}
		primal, dual := min(1, now.primal()+fartherStep), min(1, now.dual()+fartherStep)
		now = v.find(func(z, to int, g []float64) { v.aimAtCentre(z, to, g, mu, primal, dual) })
		if !now.moves() {
			break
		}
		if now.length() >= v.directions[v.best].length() {
			v.best = v.now
		}
	}
	v.move()
	return true
}

// moves reports whether the direction leads anywhere.
func (d *direction) moves() bool {
	return !math.IsNaN(d.dlambda[0]) && max(d.primal(), d.dual()) >= shortestStep
}

// length returns the sum of the steps that the direction allows.
func (d *direction) length() float64 { return min(1, d.primal()) + min(1, d.dual()) }

// pairs returns the number of ties.
func (v *solver) pairs() (n int) {
	for _, ties := range v.ties {
		n += len(ties)
	}
	return n
}

// move takes the step in the best direction, at different lengths for k and for the
// multipliers.
func (v *solver) move() {
	best := &v.directions[v.best]
	for i := range v.shards {
		v.shards[i].reach = reach{}
	}
	v.each(func(sh *shard, z int) { v.reachBeyond(sh, z, best.u) })
	for i := range v.shards {
		best.join(v.shards[i].reach)
	}
	primal, dual := min(1, insideStep*best.primal()), min(1, insideStep*best.dual())
	mu := tieShare * best.sum / float64(v.pairs())
	v.each(func(_ *shard, z int) {
		k, u, ties := v.ofPlaces(v.k, z), v.ofPlaces(best.u, z), v.ties[z]
		for j := range ties {
			c := &ties[j]
			ds, dy := c.change(k, u, c.y/c.s, v.best)
			c.s += primal * ds
			c.y += dual * dy
			c.debt *= float32(1 - dual)
		}
		for x, t := range u {
			k[x] += primal * k[x] * t
		}
		v.tieInSight(z, mu)
	})
	floats.AddScaled(v.lambda, dual, best.dlambda)
}

// inSight reports whether a constraint k[a] >= t k[b] matters, given k[a] and t k[b].
func inSight(a, tb float64) bool { return tb > (1-sight)*a }

// reachBeyond includes the constraints that are out of sight in how far the direction u reaches.
func (v *solver) reachBeyond(sh *shard, z int, u []float64) {
	k, dk, fall := v.ofPlaces(v.k, z), sh.column, sh.fallS
	for x, t := range v.ofPlaces(u, z) {
		dk[x] = k[x] * t
	}
	include := func(s, ds float64) {
		if -ds > fall*s {
			fall = -ds / s
		}
	}
	for _, c := range v.bonds {
		a, b := k[c.a], k[c.b]
		if tb := c.t * b; !inSight(a, tb) {
			include(a-tb, dk[c.a]-c.t*dk[c.b])
		}
		if ta := c.t * a; !inSight(b, ta) {
			include(b-ta, dk[c.b]-c.t*dk[c.a])
		}
	}
	sh.fallS = fall
}

// tieInSight makes ties of the constraints that have come in sight, with products of mu.
func (v *solver) tieInSight(z int, mu float64) {
	k, tied := v.ofPlaces(v.k, z), v.tied[z]
	for j, c := range v.bonds {
		a, b := k[c.a], k[c.b]
		if inSight(a, c.t*b) && !tied.has(2*j) {
			v.tie(z, 2*j, mu)
		}
		if inSight(b, c.t*a) && !tied.has(2*j+1) {
			v.tie(z, 2*j+1, mu)
		}
	}
}

// tieNearest makes ties of each place and its nearest, in sight or not: without any, nothing
// would keep a place's number above 0.
func (v *solver) tieNearest(z int) {
	nearest := make([]float64, v.n)
	for _, c := range v.bonds {
		nearest[c.a], nearest[c.b] = max(nearest[c.a], c.t), max(nearest[c.b], c.t)
	}
	for j, c := range v.bonds {
		if c.t == nearest[c.a] || c.t == nearest[c.b] {
			v.tie(z, 2*j, 1)
			v.tie(z, 2*j+1, 1)
		}
	}
}

// tie makes a tie of a constraint, with a product of mu, all of it in debt.
func (v *solver) tie(z, constraint int, mu float64) {
	c := v.bonds[constraint/2]
	a, b := c.a, c.b
	if constraint%2 == 1 {
		a, b = b, a
	}
	k := v.ofPlaces(v.k, z)
	s := k[a] - c.t*k[b]
	y := mu / s
	v.ties[z] = append(v.ties[z], tie{t: c.t, s: s, y: y, debt: float32(min(y, math.MaxFloat32)), a: uint16(a), b: uint16(b)})
	v.tied[z].set(constraint)
}

// change returns how the slack and the multiplier of a tie change in one of the two
// directions, for a given u, and w = y/s. By dk = k u, the slack s = k_a - t k_b changes by
// t k_b (u_a - u_b) + s u_a, in which nothing large cancels.
func (c *tie) change(k, u []float64, w float64, direction int) (ds, dy float64) {
	ua := u[c.a]
	ds = c.t*k[c.b]*(ua-u[c.b]) + c.s*ua
	return ds, c.e[direction&1] - w*ds
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
	ties := v.ties[z]
	k, excess, f := v.ofPlaces(v.k, z), v.ofPlaces(v.pivots, z), v.factors[z*v.packed():(z+1)*v.packed()]
	l := sh.inverse
	v.clear(l)
	clear(excess)
	for j := range ties {
		c := &ties[j]
		l[int(min(c.a, c.b))*v.n+int(max(c.a, c.b))] += c.t * k[c.a] * k[c.b] * (c.y / c.s)
		excess[c.a] += c.y
		excess[c.b] -= c.t * c.y
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

// factorSchur factors the sum of the inverses. The shards have its upper half.
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

// aimAtZero aims at complementarity products of 0. Like the other aims it adds A^T e to g, with
// e of the direction that is to be made.
func (v *solver) aimAtZero(z, to int, g []float64) {
	ties := v.ties[z]
	for j := range ties {
		c := &ties[j]
		c.pull(g, to, -c.y)
	}
}

// aimAtMu aims at products of mu, up to second order.
func (v *solver) aimAtMu(z, to int, g []float64, mu float64) {
	k, u, ties := v.ofPlaces(v.k, z), v.ofPlaces(v.directions[v.now].u, z), v.ties[z]
	for j := range ties {
		c := &ties[j]
		a := 1 / c.s
		ds, dy := c.change(k, u, c.y*a, v.now)
		c.pull(g, to, c.e[v.now&1]+(mu-ds*dy)*a)
	}
}

// aimAtCentre corrects the direction for the products that a step of the given lengths would
// make too small or too large (after Gondzio, Multiple Centrality Corrections in a
// Primal-Dual Method for Linear Programming, 1996).
func (v *solver) aimAtCentre(z, to int, g []float64, mu, primal, dual float64) {
	k, u, ties := v.ofPlaces(v.k, z), v.ofPlaces(v.directions[v.now].u, z), v.ties[z]
	for j := range ties {
		c := &ties[j]
		a := 1 / c.s
		ds, dy := c.change(k, u, c.y*a, v.now)
		c.pull(g, to, c.e[v.now&1]+correction((c.s+primal*ds)*(c.y+dual*dy), mu)*a)
	}
}

// pull sets e of a direction, and adds its contribution to A^T e.
func (c *tie) pull(g []float64, direction int, e float64) {
	c.e[direction&1] = e
	g[c.a] += e
	g[c.b] -= c.t * e
}

// correction returns the distance of a product from the range that it should be in, given the
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
func (v *solver) find(aim func(z, to int, g []float64)) *direction {
	for i := range v.shards {
		sh := &v.shards[i]
		clear(sh.sum)
		sh.reach = reach{}
	}
	to := 1 - v.best
	d := &v.directions[to]
	v.each(func(sh *shard, z int) {
		v.startDirection(sh, z, to, aim)
	})
	v.now = to
	copy(d.dlambda, v.lack)
	for i := range v.shards {
		floats.AddScaled(d.dlambda, -1, v.shards[i].sum)
	}
	solve(v.schur, v.n, d.dlambda)
	v.each(v.finishDirection)
	d.reach = reach{}
	for i := range v.shards {
		d.join(v.shards[i].reach)
	}
	return d
}

// startDirection sets u_z to K^-1 H_z^-1 g_z.
func (v *solver) startDirection(sh *shard, z, to int, aim func(z, to int, g []float64)) {
	g := sh.column
	for x, r := range v.ofPlaces(v.residual, z) {
		g[x] = -r
	}
	aim(z, to, g)
	v.solveColumn(z, g)
	copy(v.ofPlaces(v.directions[to].u, z), g)
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
	d := &v.directions[v.now]
	k, u, ties := v.ofPlaces(v.k, z), v.ofPlaces(d.u, z), v.ties[z]
	copy(sh.column, d.dlambda)
	v.solveColumn(z, sh.column)
	floats.Add(u, sh.column)
	r := sh.reach
	for j := range ties {
		c := &ties[j]
		ds, dy := c.change(k, u, c.y/c.s, v.now)
		r.include(c.s, ds, c.y, dy)
	}
	sh.reach = r
}
