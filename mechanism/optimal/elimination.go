package optimal

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// An elimination is an order in which to eliminate the places of a graph, and the edges that it
// adds. It is the same for all dominant matrices on the graph.
//
// A dominant matrix M is the Laplacian of a weighted graph plus a diagonal, given by its
// parts:
//
//	b^T M b = sum over edges of w_pq (b_p - b_q)^2 + sum of excess_p b_p^2
//
// Its factors are M = (I-F)^T D (I-F), with F in the strict upper half. Row p of F has
// numbers only at the places that p has an edge to when it is eliminated: those before it
// leave an edge between any two of theirs. A packed F holds these numbers, row by row.
type elimination struct {
	order []int   // the places, in the order of their elimination; rows are numbered by it
	rows  [][]run // where row p of F has numbers, ascending
	size  []int   // of the packed rows before row p, and at the end of all
	at    []int32 // the places of the numbers of a packed F
	// Each row's first place with a number in F, of the last row n. Rows with the same parent
	// do not need each other.
	parents []int
	dense   int // from this row on, all rows of F have numbers at all later places
}

// A run holds the places from..to-1.
type run struct{ from, to int }

// newElimination returns an order that always takes the place with the fewest edges
// left, the first of several: with few edges it fills little (Tinney, Walker, Direct
// Solutions of Sparse Network Equations by Optimally Ordered Triangular Factorization,
// 1967).
func newElimination(n int, edges []Edge) *elimination {
	graph := make([]bitSet, n)
	for x := range graph {
		graph[x] = make(bitSet, (n+63)/64)
	}
	for _, e := range edges {
		graph[e.A].set(e.B)
		graph[e.B].set(e.A)
	}
	e := &elimination{size: []int{0}}
	left := make([]bitSet, 0, n) // the neighbours of each place of the order
	for x := fewest(graph); x >= 0; x = fewest(graph) {
		neighbours := graph[x]
		for _, y := range neighbours.members() {
			graph[y].join(neighbours)
			graph[y].remove(x)
			graph[y].remove(y)
		}
		graph[x] = nil
		e.order, left = append(e.order, x), append(left, neighbours)
	}
	e.order, left = e.branchByBranch(left)
	at := e.positions()
	for p, neighbours := range left {
		columns := neighbours.members()
		for i, x := range columns {
			columns[i] = at[x]
		}
		slices.Sort(columns)
		e.rows = append(e.rows, runs(columns))
		e.parents = append(e.parents, slices.Min(append(columns, n)))
		e.size = append(e.size, e.size[p]+len(columns))
		for _, q := range columns {
			e.at = append(e.at, int32(q))
		}
	}
	for e.dense = n - 1; e.dense > 0 && e.size[e.dense]-e.size[e.dense-1] == n-e.dense; e.dense-- {
	}
	return e
}

// branchByBranch returns the order, and the neighbours left of its places, such that all
// places of a branch follow each other. It fills as much as before.
//
// Each place is a child of the one that is eliminated first among its neighbours left. These are all
// on the way to the root, so that a branch needs nothing of the others.
func (e *elimination) branchByBranch(left []bitSet) (order []int, neighbours []bitSet) {
	at, n := e.positions(), len(left)
	children := make([][]int, n+1) // of the positions, and at the end the roots
	for p, all := range left {
		parent := n
		for _, x := range all.members() {
			parent = min(parent, at[x])
		}
		children[parent] = append(children[parent], p)
	}
	var visit func(p int)
	visit = func(p int) {
		for _, c := range children[p] {
			visit(c)
			order, neighbours = append(order, e.order[c]), append(neighbours, left[c])
		}
	}
	visit(n)
	return order, neighbours
}

// fewest returns the first of the places with the fewest edges, -1 if no place is left.
func fewest(graph []bitSet) int {
	best, least := -1, math.MaxInt
	for x, neighbours := range graph {
		if neighbours == nil {
			continue
		}
		if d := neighbours.len(); d < least {
			best, least = x, d
		}
	}
	return best
}

// positions returns where each place is in the order.
func (e *elimination) positions() []int {
	at := make([]int, len(e.order))
	for p, x := range e.order {
		at[x] = p
	}
	return at
}

// runs returns ascending numbers as runs.
func runs(numbers []int) []run {
	var all []run
	for _, q := range numbers {
		if last := len(all) - 1; last >= 0 && all[last].to == q {
			all[last].to++
		} else {
			all = append(all, run{q, q + 1})
		}
	}
	return all
}

// packed returns how many numbers a packed F has.
func (e *elimination) packed() int { return e.size[len(e.order)] }

// clear sets the numbers that factor reads and writes to 0, in the n x n numbers of l.
func (e *elimination) clear(l []float64) {
	n := len(e.order)
	for p, runs := range e.rows {
		for _, r := range runs {
			clear(l[p*n+r.from : p*n+r.to])
		}
	}
}

// factor computes the factors of the dominant matrix with the weights l >= 0, n x n,
// reading and overwriting only the numbers that clear clears. It packs F into f and overwrites the
// excess with D.
//
// The diagonal of M is never formed: it would swallow the excess. No weight is the result
// of a subtraction, so all of them keep their relative accuracy (after Grassmann, Taksar
// and Heyman, Regenerative Analysis and Steady State Distributions for Markov Chains, 1985;
// for factorisations Alfa, Xue and Ye, Accurate Computation of the Smallest Eigenvalue of
// a Diagonally Dominant M-Matrix, 2001). Cancellation is left to the excesses, which may be
// negative.
//
// The rows of the dense rest are worked out one after the other, from all of them that were
// before: a matrix and a vector take less time than as many sums of two vectors. Their numbers
// of F are also in columns, in the lower half of l.
func (e *elimination) factor(l, excess, f []float64) {
	n := len(e.order)
	for p := range e.dense {
		at, row := e.row(p, f)
		weight := 0.0
		for i, q := range at {
			row[i] = l[p*n+int(q)]
			weight += row[i]
		}
		d, pivot := excess[p], pivot(weight, excess[p])
		for i, q := range at {
			t, other := row[i]/pivot, l[int(q)*n:int(q+1)*n]
			for j := i + 1; j < len(at); j++ {
				other[at[j]] += t * row[j]
			}
			excess[q] += t * d
			row[i] = t
		}
		excess[p] = pivot
	}
	for p := e.dense; p < n; p++ {
		row, above := l[p*n+e.dense:p*n+p], l[p*n+p+1:(p+1)*n]
		if p > e.dense {
			addProduct(matrix(l[e.dense*n+p+1:], p-e.dense, n-p-1, n), row, above)
		}
		weight := 0.0
		for _, w := range above {
			weight += w
		}
		d, pivot := excess[p], pivot(weight, excess[p])
		_, out := e.row(p, f)
		for i, w := range above {
			t, q := w/pivot, p+1+i
			l[q*n+p], out[i] = t, t
			excess[q] += t * d
		}
		excess[p] = pivot
	}
}

// row returns the places and the numbers of row p of a packed F.
func (e *elimination) row(p int, f []float64) (at []int32, numbers []float64) {
	from, to := e.size[p], e.size[p+1]
	return e.at[from:to:to], f[from:to:to]
}

// pivot returns the diagonal entry of a row with the given weights and excess, above 0.
func pivot(weight, excess float64) float64 {
	return max(weight+excess, 0x1p-53*(weight+math.Abs(excess)), math.SmallestNonzeroFloat64)
}

// matrix returns the matrix of numbers with rows that start width numbers apart.
func matrix(numbers []float64, rows, columns, width int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: width, Data: numbers}
}

// addProduct adds the product of the transposed a and x to y.
func addProduct(a blas64.General, x, y []float64) {
	blas64.Gemv(blas.Trans, 1, a, blas64.Vector{N: a.Rows, Inc: 1, Data: x}, 1, blas64.Vector{N: a.Cols, Inc: 1, Data: y})
}

// solve overwrites b with the solution x of M x = b.
func (e *elimination) solve(f, d, b []float64) {
	n := len(e.order)
	for p := range e.dense {
		at, row := e.row(p, f)
		t := b[p]
		for i, q := range at {
			b[q] += t * row[i]
		}
		b[p] = t / d[p]
	}
	for p := e.dense; p < n; p++ {
		_, row := e.row(p, f)
		t := b[p]
		addScaled(b[p+1:], t, row)
		b[p] = t / d[p]
	}
	for p := n - 1; p >= e.dense; p-- {
		_, row := e.row(p, f)
		b[p] += dot(row, b[p+1:])
	}
	for p := e.dense - 1; p >= 0; p-- {
		at, row := e.row(p, f)
		sum := b[p]
		for i, q := range at {
			sum += row[i] * b[q]
		}
		b[p] = sum
	}
}

// addInverse adds K M^-1 K to the upper half of sum, for the diagonal matrix K of the
// scales. The n x n numbers in inverse become M^-1.
//
// By M^-1 = F M^-1 + D^-1 (I-F)^-T, where the last matrix is 0 above the diagonal, row p follows
// from those below it (Takahashi, Fagan, Chin, Formation of a Sparse Bus Impedance Matrix,
// 1973). All terms are positive.
func (e *elimination) addInverse(f, d, scale, inverse, sum []float64) {
	n := len(e.order)
	for p := n - 1; p >= 0; p-- {
		row, from := inverse[p*n:(p+1)*n], f[e.size[p]:]
		above := row[p+1:]
		clear(above)
		for _, r := range e.rows[p] {
			m := r.to - r.from
			addProduct(matrix(inverse[r.from*n+p+1:], m, len(above), n), from, above)
			from = from[m:]
		}
		row[p], from = 1/d[p], f[e.size[p]:]
		for _, r := range e.rows[p] {
			row[p] += dot(from[:r.to-r.from], row[r.from:r.to])
			from = from[r.to-r.from:]
		}
		// Only rows of the branch read column p again, and only where they are on its way to the root.
		for q := e.parents[p]; q < n; q = e.parents[q] {
			inverse[q*n+p] = row[q]
		}
		k, scales, out := scale[p], scale[p:], sum[p*n+p:(p+1)*n]
		for i, t := range row[p:] {
			out[i] += k * scales[i] * t
		}
	}
}

// shortRun is the length up to which a plain loop is faster than a call.
const shortRun = 6

// addScaled adds t*s to b, which has the same length.
func addScaled(b []float64, t float64, s []float64) {
	if len(s) > shortRun {
		floats.AddScaled(b, t, s)
		return
	}
	for i, v := range s {
		b[i] += t * v
	}
}

// dot returns the sum of the products of a and b, which has the same length.
func dot(a, b []float64) float64 {
	if len(a) > shortRun {
		return floats.Dot(a, b)
	}
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// A bitSet is a set of small numbers.
type bitSet []uint64

func (s bitSet) set(x int)      { s[x/64] |= 1 << (x % 64) }
func (s bitSet) has(x int) bool { return s[x/64]>>(x%64)&1 == 1 }
func (s bitSet) remove(x int)   { s[x/64] &^= 1 << (x % 64) }

// join adds the members of o.
func (s bitSet) join(o bitSet) {
	for i, word := range o {
		s[i] |= word
	}
}

// len returns the number of members.
func (s bitSet) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// members returns the members, ascending.
func (s bitSet) members() []int {
	var all []int
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			all = append(all, 64*i+bits.TrailingZeros64(word))
		}
	}
	return all
}
