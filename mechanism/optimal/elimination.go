package optimal

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// An elimination is an order in which to eliminate the places of a graph, and what that
// fills. It is the same for all dominant matrices on the graph.
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
	at := e.positions()
	for p, neighbours := range left {
		columns := neighbours.members()
		for i, x := range columns {
			columns[i] = at[x]
		}
		slices.Sort(columns)
		e.rows = append(e.rows, runs(columns))
		e.size = append(e.size, e.size[p]+len(columns))
	}
	return e
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

// clear sets to 0 what factor reads and writes of the n x n numbers in l.
func (e *elimination) clear(l []float64) {
	n := len(e.order)
	for p, runs := range e.rows {
		for _, r := range runs {
			clear(l[p*n+r.from : p*n+r.to])
		}
	}
}

// factor computes the factors of the dominant matrix with the weights l >= 0, n x n, of
// which it reads and overwrites what clear clears. It packs F into f and overwrites the
// excess with D.
//
// The diagonal of M is never formed: it would swallow the excess. No weight is the result
// of a subtraction, so all of them keep their relative accuracy (after Grassmann, Taksar
// and Heyman, Regenerative Analysis and Steady State Distributions for Markov Chains, 1985;
// for factorisations Alfa, Xue and Ye, Accurate Computation of the Smallest Eigenvalue of
// a Diagonally Dominant M-Matrix, 2001). Cancellation is left to the excesses, which may be
// negative.
func (e *elimination) factor(l, excess, f []float64) {
	n := len(e.order)
	for p, runs := range e.rows {
		row := l[p*n : (p+1)*n]
		weight := 0.0
		for _, r := range runs {
			for _, w := range row[r.from:r.to] {
				weight += w
			}
		}
		d := excess[p]
		pivot := max(weight+d, 0x1p-53*(weight+math.Abs(d)), math.SmallestNonzeroFloat64)
		for i, r := range runs {
			for q := r.from; q < r.to; q++ {
				t := row[q] / pivot
				other := l[q*n : (q+1)*n]
				addScaled(other[q+1:r.to], t, row[q+1:r.to])
				for _, o := range runs[i+1:] {
					addScaled(other[o.from:o.to], t, row[o.from:o.to])
				}
				excess[q] += t * d
				f[0] = t
				f = f[1:]
			}
		}
		excess[p] = pivot
	}
}

// solve overwrites b with the solution x of M x = b.
func (e *elimination) solve(f, d, b []float64) {
	for p, runs := range e.rows {
		t, row := b[p], f[e.size[p]:]
		for _, r := range runs {
			addScaled(b[r.from:r.to], t, row[:r.to-r.from])
			row = row[r.to-r.from:]
		}
		b[p] = t / d[p]
	}
	for p := len(e.rows) - 1; p >= 0; p-- {
		row := f[e.size[p]:]
		for _, r := range e.rows[p] {
			b[p] += dot(row[:r.to-r.from], b[r.from:r.to])
			row = row[r.to-r.from:]
		}
	}
}

// addInverse adds K M^-1 K to the upper half of sum, for the diagonal matrix K of the
// scales. The n x n numbers in inverse become M^-1.
//
// By M^-1 = F M^-1 + D^-1 (I-F)^-T, whose last matrix is 0 above the diagonal, row p follows
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
			block := blas64.General{Rows: m, Cols: len(above), Stride: n, Data: inverse[r.from*n+p+1 : r.to*n]}
			blas64.Gemv(blas.Trans, 1, block, blas64.Vector{N: m, Inc: 1, Data: from}, 1, blas64.Vector{N: len(above), Inc: 1, Data: above})
			from = from[m:]
		}
		row[p], from = 1/d[p], f[e.size[p]:]
		for _, r := range e.rows[p] {
			row[p] += dot(from[:r.to-r.from], row[r.from:r.to])
			from = from[r.to-r.from:]
		}
		out, k := sum[p*n:(p+1)*n], scale[p]
		for q := p; q < n; q++ {
			inverse[q*n+p] = row[q]
			out[q] += k * scale[q] * row[q]
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
