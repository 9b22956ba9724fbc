package optimal

import (
	"math"
	"sync/atomic"

	"github.com/geosql/geosql/internal/workers"
	"gonum.org/v1/gonum/floats"
)

// A constraint requires k[low] >= t k[high] for every output's column k of the mechanism,
// with t = e^(-epsilon d). If e^(epsilon d) is too large for a float64, only k[low] >= 0
// remains.
type constraint struct {
	low, high int
	t         float64
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
// All vectors of columns lie one after the other: k[z*n+x], s[z*m+i].
type solver struct {
	n, m        int // places and constraints
	outputs     int
	constraints []constraint // 2j and 2j+1 are the two directions of edge j
	rounding    float64      // relative error that A^T y may have
	scale       float64      // of the cost: the quality loss is cost*scale

	cost, k, dk []float64 // a column of n for each output
	residual    []float64 // c_z - lambda - A^T y_z, columns of n
	s, y        []float64 // columns of m
	ds, dy      []float64
	aim         []float64 // what the products s y are to change by, columns of m
	factors     []float64 // of the H_z, a matrix of n x n for each output
	pivots      []float64 // of the H_z, columns of n

	lambda, dlambda []float64
	lack            []float64 // 1 - row sums
	schur           []float64 // sum of H_z^-1, then its factor

	workers int
	shards  [shardCount]shard
}

// shardCount is the number of shares that the columns are divided into. It is constant, so
// that sums of floats are the same on any number of cores.
const shardCount = 8

// A shard accumulates what its columns z = i mod shardCount contribute.
type shard struct {
	schur, scratch []float64 // n x n
	sum            []float64 // sum of H_z^-1 g_z
	short          []float64 // by how much the residuals fall below 0
	column         []float64 // scratch, n

	reach // of its columns in the direction
}

// newSolver returns a solver at the mechanism whose output is uniform, in the interior of
// every constraint.
func newSolver(p Problem, edges []Edge, rate float64, workers int) *solver {
	n, m, outputs := len(p.Prior), 2*len(edges), p.Quality.columns()
	v := &solver{
		n: n, m: m, outputs: outputs, workers: workers,
		constraints: make([]constraint, 0, m),
		cost:        make([]float64, outputs*n),
		k:           make([]float64, outputs*n),
		dk:          make([]float64, outputs*n),
		residual:    make([]float64, outputs*n),
		s:           make([]float64, outputs*m),
		y:           make([]float64, outputs*m),
		ds:          make([]float64, outputs*m),
		dy:          make([]float64, outputs*m),
		aim:         make([]float64, outputs*m),
		factors:     make([]float64, outputs*n*n),
		pivots:      make([]float64, outputs*n),
		lambda:      make([]float64, n),
		dlambda:     make([]float64, n),
		lack:        make([]float64, n),
		schur:       make([]float64, n*n),
	}
	for i := range v.shards {
		v.shards[i] = shard{
			schur: make([]float64, n*n), scratch: make([]float64, n*n),
			sum: make([]float64, n), short: make([]float64, n), column: make([]float64, n),
		}
	}
	v.setConstraints(edges, rate)
	v.setCost(p)
	v.start()
	return v
}

// setConstraints sets the constraints, and bounds the rounding error of A^T y: for each term
// a product and a sum, and the error of its t. With two roundings in an exponent a, that of t is
// below (a+2) 2^-52 t, and t(a+1) <= 1. So 2 units of 2^-52 are charged for a term y.
func (v *solver) setConstraints(edges []Edge, rate float64) {
	degrees := make([]int, v.n)
	most := 0
	for _, e := range edges {
		t := math.Exp(-rate * e.Length)
		v.constraints = append(v.constraints, constraint{e.A, e.B, t}, constraint{e.B, e.A, t})
		degrees[e.A]++
		degrees[e.B]++
		most = max(most, degrees[e.A], degrees[e.B])
	}
	v.rounding = float64(2*most+8) * 0x1p-52
}

// setCost sets the cost pi_x dQ(x,z), scaled to a maximum of 1.
func (v *solver) setCost(p Problem) {
	prior := probabilities(p.Prior)
	for x, row := range p.Quality {
		for z, d := range row {
			c := prior[x] * d
			v.cost[z*v.n+x] = c
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

func (v *solver) start() {
	for i := range v.k {
		v.k[i] = 1 / float64(v.outputs)
	}
	for z := range v.outputs {
		s, y := v.s[z*v.m:(z+1)*v.m], v.y[z*v.m:(z+1)*v.m]
		for i, c := range v.constraints {
			s[i] = (1 - c.t) / float64(v.outputs)
			y[i] = 1 / float64(v.outputs)
		}
	}
}

// each calls f for every column, with the shard that it belongs to.
func (v *solver) each(f func(sh *shard, z int)) {
	eachColumn(v.outputs, v.workers, func(share, z int) { f(&v.shards[share], z) })
}

// eachColumn calls f for every column below n, with the share that it belongs to. Calls for
// one share follow each other in a fixed order, whatever the number of goroutines.
func eachColumn(n, goroutines int, f func(share, z int)) {
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
func (v *solver) matrix() Matrix { return fromColumns(v.k, v.n, v.outputs) }

// fromColumns returns the matrix whose columns, of n numbers, lie one after the other in k.
func fromColumns(k []float64, n, columns int) Matrix {
	m := NewMatrix(n, columns)
	for x, row := range m {
		for z := range row {
			row[z] = k[z*n+x]
		}
	}
	return m
}

// feasible reports whether the row sums are 1 up to what a repair can correct.
func (v *solver) feasible() bool {
	for _, r := range v.lack {
		if math.Abs(r) > 0x1p-36 {
			return false
		}
	}
	return true
}
