package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A privacySolver holds the iterates of an interior point method for [MostPrivate].
//
// Column z of the mechanism, k_z, and the error y_z of the adversary who sees z meet
//
//	s_z = P k_z - y_z 1 >= 0,  k_z >= 0,
//
// where P_gx = pi_x dA(x,g). The sums of the rows and the loss are all that couples the
// columns. With multipliers h_z >= 0 and r_z >= 0 for the above, lambda for the row sums
// and mu >= 0 for the slack w of the loss the conditions of optimality are, for the cost
// c_xz = pi_x dQ(x,z),
//
//	sum of k_z = 1,  sum of c_z k_z + w = q,  s_z h_z = 0,  k_z r_z = 0,  w mu = 0,
//	P^T h_z + r_z = lambda + mu c_z,  sum of h_z = 1.
//
// h_z are the odds at which the adversary who sees z guesses. With p_g for the rows of P
// and weights H_z = h_z/s_z with an average of the rows a_z, Newton's step leads to
//
//	dk_z = M_z^-1 (g_z - dlambda - c_z dmu),
//	M_z = sum over g of H_zg (p_g - a_z)(p_g - a_z)^T + diag(r_z/k_z)
//
// and to n+1 equations for dlambda and dmu. Errors and losses are scaled.
//
// All vectors of columns lie one after the other: k[z*n+x].
type privacySolver struct {
	n, workers int
	p          []float64 // P, row by row
	cost       []float64 // n columns of n
	q          float64   // the loss allowed, in units of the cost
	scale      float64   // of P: the adversary's error is its number times scale

	k, dk, r, dr  []float64 // n columns of n
	s, ds, h, dh  []float64 // n columns of n
	aimR, aimS    []float64 // the changes of the products k r and s h aimed at
	rest          []float64 // P^T h_z + r_z - lambda - mu c_z, n columns of n
	mean          []float64 // a_z, n columns of n
	factors       []float64 // of the M_z, n matrices of n x n
	rise          []float64 // dy_z less the contribution of the move of k_z, one for each column
	lambda, right []float64 // right is n+1 numbers: the equations' right side, then dlambda and dmu

	w, dw, mu, dmu, aimW float64

	schur  []float64 // (n+1) x (n+1)
	shards [shardCount]privacyShard
}

// A privacyShard accumulates the contributions of its columns.
type privacyShard struct {
	schur   []float64 // (n+1) x (n+1), the lower half
	sum     []float64 // n+1 numbers, of the solutions M_z^-1 g_z
	inverse []float64 // n x n, scratch
	column  []float64 // n, scratch

	reach // of its columns in the direction
}

func newPrivacySolver(p PrivacyProblem, workers int) *privacySolver {
	n := len(p.Prior)
	vector := func() []float64 { return make([]float64, n) }
	square := func() []float64 { return make([]float64, n*n) }
	v := &privacySolver{
		n: n, workers: workers,
		p: square(), cost: square(),
		k: square(), dk: square(), r: square(), dr: square(),
		s: square(), ds: square(), h: square(), dh: square(),
		aimR: square(), aimS: square(), rest: square(), mean: square(),
		factors: make([]float64, n*n*n),
		rise:    vector(), lambda: vector(),
		right: make([]float64, n+1),
		schur: make([]float64, (n+1)*(n+1)),
	}
	for i := range v.shards {
		v.shards[i] = privacyShard{
			schur: make([]float64, (n+1)*(n+1)), sum: make([]float64, n+1),
			inverse: square(), column: vector(),
		}
	}
	v.setNumbers(p)
	v.start(p)
	return v
}

// setNumbers scales errors and losses to maxima of 1. It reduces an allowed loss beyond
// that of the worst mechanism to that.
func (v *privacySolver) setNumbers(p PrivacyProblem) {
	n, worst := v.n, 0.0
	for x, w := range probabilities(p.Prior) {
		worst += w * floats.Max(p.Quality[x])
		for z := range n {
			v.p[z*n+x] = w * p.Adversary[x][z]
			v.cost[z*n+x] = w * p.Quality[x][z]
		}
	}
	v.scale = normalise(v.p)
	v.q = min(p.Loss, worst) / normalise(v.cost)
}

// normalise divides all numbers, none of them negative, by the greatest, and returns that.
func normalise(a []float64) float64 {
	greatest := floats.Max(a)
	if greatest == 0 {
		return 1
	}
	for i := range a {
		a[i] /= greatest
	}
	return greatest
}

// start sets a point in the interior, at which all equations hold: halfway from the
// mechanism that loses least to the uniform one, or to where the loss is q, and an
// adversary who guesses at random.
func (v *privacySolver) start(p PrivacyProblem) {
	n := v.n
	least := leastLoss(p.Quality)
	for x, row := range least {
		for z, t := range row {
			v.k[z*n+x] = t
			v.dk[z*n+x] = 1 / float64(n)
		}
	}
	share := 0.5
	if low, uniform := floats.Dot(v.cost, v.k), floats.Dot(v.cost, v.dk); uniform > v.q {
		share *= (v.q - low) / (uniform - low)
	}
	floats.Scale(1-share, v.k)
	floats.AddScaled(v.k, share, v.dk)
	v.w = v.q - floats.Dot(v.cost, v.k)
	v.mu = 1
	for i := range v.h {
		v.h[i] = 1 / float64(n)
	}
	for z := range n {
		k, s := v.k[z*n:(z+1)*n], v.s[z*n:(z+1)*n]
		v.multiply(s, k)
		floats.AddConst(1/float64(n*n)-floats.Min(s), s)
	}
	blame := v.shards[0].column
	v.transpose(blame, v.h[:n])
	for x := range n {
		for z := range n {
			v.lambda[x] = max(v.lambda[x], blame[x]-v.mu*v.cost[z*n+x])
		}
		v.lambda[x] += 1 / float64(n)
		for z := range n {
			v.r[z*n+x] = v.lambda[x] + v.mu*v.cost[z*n+x] - blame[x]
		}
	}
}

// multiply sets out to P k.
func (v *privacySolver) multiply(out, k []float64) {
	for g := range out {
		out[g] = floats.Dot(v.p[g*v.n:(g+1)*v.n], k)
	}
}

// transpose sets out to P^T h.
func (v *privacySolver) transpose(out, h []float64) {
	clear(out)
	for g, t := range h {
		floats.AddScaled(out, t, v.p[g*v.n:(g+1)*v.n])
	}
}

// each calls f for every column, with the shard that it belongs to.
func (v *privacySolver) each(f func(sh *privacyShard, z int)) {
	inShares(v.n, v.workers, func(share, z int) { f(&v.shards[share], z) })
}

// matrix returns the mechanism so far.
func (v *privacySolver) matrix() Matrix { return fromColumns(v.k, v.n, v.n) }

// bound returns an upper bound of the adversary's error, for any mechanism within the loss.
//
// Any odds h_z, for an adversary who guesses at random, and any mu >= 0 prove that
//
//	AdvError <= sum over z of h_z^T P k_z <= sum over x of lambda_x + mu q,
//	lambda_x = max over z of (P^T h_z - mu c_z)_x
//
// because the loss is at most q and rows add up to 1. Odds and mu are those of the
// iteration, made to add up to 1. Rounding errors count against the bound.
func (v *privacySolver) bound() float64 {
	n := v.n
	v.each(v.setBlame)
	sum, size := v.mu*v.q, v.mu*v.q
	for x := range n {
		most, magnitude := math.Inf(-1), 0.0
		for z := range n {
			blame, cost := v.dh[z*n+x], v.mu*v.cost[z*n+x]
			most = max(most, blame-cost)
			magnitude = max(magnitude, blame+cost)
		}
		sum += most
		size += magnitude
	}
	return (sum + size*float64(4*n+16)*0x1p-52) * v.scale
}

// setBlame leaves P^T h_z in dh, for odds that add up to 1, and the residual in rest.
func (v *privacySolver) setBlame(sh *privacyShard, z int) {
	n := v.n
	h, blame := v.h[z*n:(z+1)*n], v.dh[z*n:(z+1)*n]
	v.transpose(blame, h)
	rest := v.rest[z*n : (z+1)*n]
	for x, c := range v.cost[z*n : (z+1)*n] {
		rest[x] = blame[x] + v.r[z*n+x] - v.lambda[x] - v.mu*c
	}
	floats.Scale(1/floats.Sum(h), blame)
}
