package optimal

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/geosql/geosql/internal/workers"
	"gonum.org/v1/gonum/floats"
)

// A bond is an edge of the spanner with its two constraints, k[a] >= t k[b] and
// k[b] >= t k[a] for every output's column k of the mechanism, with t = e^(-epsilon d). If
// e^(epsilon d) is too large for a float64, only k >= 0 remains.
type bond struct {
	a, b int32 // a < b, in the order of elimination
	t    float64
}

// A tie is a constraint k[a] >= t k[b] of a column that the solver minds, with its slack s and
// its multiplier y.
//
// Of all constraints of a column few matter: where k[a] is far above t k[b], others hold k[a].
// So a column has ties for the constraints that have ever been in sight, see inSight. The others
// limit how far a step goes, and their multipliers are 0, with which the bound is as valid.
type tie struct {
	t, s, y float64
	e       [2]float64 // the change of s y to aim for, over s, in each of the two directions
	debt    float32    // how much of y the bound leaves out
	a, b    uint16
}

// A solver holds the iterates of an interior point method.
//
// Each column k_z, one for each output with one number for each secret, satisfies the same constraints
// s_z = A k_z >= 0. Only the sums of the rows couple the columns. With
// multipliers y_z >= 0 for the constraints and lambda for the row sums the
// conditions of optimality are, for cost c_z,
//
//	sum of k_z = 1,  c_z - lambda - A^T y_z = 0,  s_z y_z = 0.
//
// Newton's step for them leads, with H_z = A^T diag(y_z/s_z) A, to
//
//	dk_z = H_z^-1 (g_z + dlambda),  (sum of H_z^-1) dlambda = r - sum of H_z^-1 g_z
//
// where r is 1 minus the row sums. So one iteration factors a matrix H_z for each output, and
// then the sum of their inverses.
//
// All vectors of columns lie one after the other: k[z*n+x]. Places have the order
// of their elimination.
type solver struct {
	*elimination
	n        int // places
	outputs  int
	bonds    []bond
	rounding float64 // relative error that A^T y may have
	scale    float64 // of the cost: the quality loss is cost*scale

	cost, k  []float64 // a column of n for each output
	residual []float64 // c_z - lambda - A^T y_z, columns of n
	ties     [][]tie   // of each column
	tied     []bitSet  // of each column: the constraints that have ties, 2j and 2j+1 for bond j
	factors  []float64 // of the H_z, packed
	pivots   []float64 // of the H_z, columns of n

	lambda []float64
	lack   []float64 // 1 - row sums
	schur  []float64 // sum of H_z^-1, then its factor

	// A step tries several directions: a new one is made of the present one, and does not
	// overwrite the best one.
	directions [2]direction
	now, best  int

	ctx     context.Context
	workers int
	shards  [shardCount]shard
}

// A direction is one that a step may take. How slacks and multipliers change follows from
// it, see change.
type direction struct {
	u       []float64 // dk_z/k_z, columns of n
	dlambda []float64
	reach
}

// shardCount is the number of shares that the columns are divided into. It is constant, so
// that sums of floats are the same on any number of cores.
const shardCount = 8

// A shard accumulates the contributions of its columns z = i mod shardCount.
type shard struct {
	schur, inverse []float64 // n x n; of schur the upper half
	sum            []float64 // sum of H_z^-1 g_z
	short          []float64 // by how much the residuals fall below 0
	column, other  []float64 // scratch, n

	reach // of its columns in the direction
}

// newSolver returns a solver at a mechanism in the interior of every constraint. Once ctx is cancelled, its numbers are worth nothing.
func newSolver(ctx context.Context, p Problem, edges []Edge, rate float64, order *elimination, workers int) *solver {
	n, outputs := len(p.Prior), p.Quality.columns()
	columns := func(size int) []float64 { return make([]float64, outputs*size) }
	vector := func() []float64 { return make([]float64, n) }
	square := func() []float64 { return make([]float64, n*n) }
	v := &solver{
		elimination: order,
		n:           n, outputs: outputs,
		cost: columns(n), k: columns(n), residual: columns(n),
		ties: make([][]tie, outputs), tied: make([]bitSet, outputs),
		pivots: columns(n),
		lambda: vector(), lack: vector(), schur: square(),
		ctx: ctx, workers: workers,
	}
	v.factors = columns(v.packed())
	for i := range v.directions {
		v.directions[i] = direction{u: columns(n), dlambda: vector()}
	}
	for i := range v.shards {
		v.shards[i] = shard{schur: square(), inverse: square(), sum: vector(), short: vector(), column: vector(), other: vector()}
	}
	v.setBonds(edges, rate)
	v.setCost(p)
	v.start(p.Quality)
	return v
}

// setBonds sets the bonds, and bounds the rounding error of A^T y: for each term
// a product and a sum, and the error of its t. With two roundings in an exponent a, that of t is
// below (a+2) 2^-52 t, and t(a+1) <= 1. So 2 units of 2^-52 are charged for a term y.
func (v *solver) setBonds(edges []Edge, rate float64) {
	at, degrees := v.positions(), make([]int, v.n)
	most := 0
	for _, e := range edges {
		a, b := min(at[e.A], at[e.B]), max(at[e.A], at[e.B])
		v.bonds = append(v.bonds, bond{int32(a), int32(b), math.Exp(-rate * e.Length)})
		degrees[a]++
		degrees[b]++
		most = max(most, degrees[a], degrees[b])
	}
	v.rounding = float64(2*most+8) * 0x1p-52
}

// setCost sets the cost pi_x dQ(x,z), scaled to a maximum of 1.
func (v *solver) setCost(p Problem) {
	prior := probabilities(p.Prior)
	for i, x := range v.order {
		for z, d := range p.Quality[x] {
			c := prior[x] * d
			v.cost[z*v.n+i] = c
			v.scale = max(v.scale, c)
		}
	}
	if v.scale == 0 {
		v.scale = 1
	}
	for i := range v.cost {
		v.cost[i] /= v.scale
	}
}

// start sets k to a mechanism that is strictly private, and all products of slacks and
// multipliers to the same number, such that their sum is startGap times the loss. As lambda is
// 0, so is the bound if it leaves out all multipliers.
func (v *solver) start(quality Matrix) {
	v.startColumns(quality)
	v.each(func(_ *shard, z int) {
		v.tied[z] = make(bitSet, (2*len(v.bonds)+63)/64)
		v.tieNearest(z)
		v.tieInSight(z, 1)
	})
	mu := startGap * floats.Dot(v.cost, v.k) / float64(v.pairs())
	for _, ties := range v.ties {
		for j := range ties {
			c := &ties[j]
			c.y *= mu
			c.debt *= float32(mu)
		}
	}
}

// startColumns sets k to the exponential mechanism of the losses, at startShare of epsilon.
func (v *solver) startColumns(quality Matrix) {
	steepest := 0.0 // the greatest difference of losses, per distance times epsilon
	for _, c := range v.bonds {
		a, b := quality[v.order[c.a]], quality[v.order[c.b]]
		for z := range v.outputs {
			steepest = max(steepest, math.Abs(a[z]-b[z])/-math.Log(c.t))
		}
	}
	rate := 0.0
	if steepest > 0 {
		rate = startShare / (2 * steepest)
	}
	for i, x := range v.order {
		least, sum := floats.Min(quality[x]), 0.0
		for z, loss := range quality[x] {
			w := math.Exp(-rate * (loss - least))
			v.k[z*v.n+i] = w
			sum += w
		}
		for z := range v.outputs {
			v.k[z*v.n+i] = (1-startBlend)*v.k[z*v.n+i]/sum + startBlend/float64(v.outputs)
		}
	}
}

// ofPlaces returns the column z of columns of n.
func (v *solver) ofPlaces(columns []float64, z int) []float64 { return columns[z*v.n : (z+1)*v.n] }

// each calls f for every column, with the shard that it belongs to, until ctx is cancelled.
func (v *solver) each(f func(sh *shard, z int)) {
	inShares(v.outputs, v.workers, func(share, z int) {
		if v.ctx.Err() == nil {
			f(&v.shards[share], z)
		}
	})
}

// inShares calls f for every number below n, with the share that it belongs to. Calls for
// one share follow each other in a fixed order, whatever the number of goroutines.
func inShares(n, goroutines int, f func(share, z int)) {
	var next atomic.Int32
	workers.Run(min(goroutines, shardCount), func() {
		for i := int(next.Add(1)) - 1; i < shardCount; i = int(next.Add(1)) - 1 {
			for z := i; z < n; z += shardCount {
				f(i, z)
			}
		}
	})
}

// loss returns the average quality loss of the mechanism so far.
func (v *solver) loss() float64 { return floats.Dot(v.cost, v.k) * v.scale }

// matrix returns the mechanism so far.
func (v *solver) matrix() Matrix {
	m := make(Matrix, v.n)
	for i, row := range fromColumns(v.k, v.n, v.outputs) {
		m[v.order[i]] = row
	}
	return m
}

// fromColumns returns the matrix with columns of n numbers that lie one after the other in k.
func fromColumns(k []float64, n, columns int) Matrix {
	m := NewMatrix(n, columns)
	for x, row := range m {
		for z := range row {
			row[z] = k[z*n+x]
		}
	}
	return m
}

// feasible reports whether the row sums are 1 up to an error that a repair can correct.
func (v *solver) feasible() bool {
	for _, r := range v.lack {
		if math.Abs(r) > 0x1p-36 {
			return false
		}
	}
	return true
}
