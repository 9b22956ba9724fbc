package pim

import (
	"math"
	"math/bits"
	"slices"

	"github.com/geosql/geosql/budget"
)

// probability is the quantum in which prior probabilities are compared and summed, so
// that decimals of up to 15 places, such as those of the paper's example, and their sums
// are exact. In floating point 0.4 + 0.3 + 0.2 is less than 0.9.
const probability = 1e-15

// A selection finds delta-location sets. It keeps its memory between uses.
type selection struct {
	heap []candidate
	set  []int
}

// A candidate is a cell with its prior probability in quanta.
type candidate struct {
	quanta uint64
	cell   int
}

// before reports whether c comes before d: the more probable one first, of equals the one
// with the lower number. The order is public, as are the probabilities.
func (c candidate) before(d candidate) bool {
	return c.quanta > d.quanta || c.quanta == d.quanta && c.cell < d.cell
}

// locationSet returns, in ascending order, the most probable cells, as many as it takes
// for their prior probabilities to sum to at least 1 - delta (definition 3.1), and at
// least least of them, if there are so many cells.
//
// It takes linear time, and logarithmic time for each cell of the set.
func (s *selection) locationSet(prior []float64, delta budget.Amount, least int) []int {
	s.heap = s.heap[:0]
	var total uint64
	for cell, p := range prior {
		c := candidate{uint64(math.RoundToEven(p / probability)), cell}
		total += c.quanta
		s.heap = append(s.heap, c)
	}
	for k := len(s.heap)/2 - 1; k >= 0; k-- {
		s.sift(k)
	}
	s.set = s.set[:0]
	enough := requiredMass(total, delta)
	var sum uint64
	for len(s.heap) > 0 && (sum < enough || len(s.set) < least) {
		c := s.pop()
		sum += c.quanta
		s.set = append(s.set, c.cell)
	}
	slices.Sort(s.set)
	return s.set
}

// requiredMass returns (1-delta)*total, rounded up.
func requiredMass(total uint64, delta budget.Amount) uint64 {
	hi, lo := bits.Mul64(total, uint64(budget.One-delta))
	quotient, rest := bits.Div64(hi, lo, uint64(budget.One))
	if rest > 0 {
		quotient++
	}
	return quotient
}

func (s *selection) pop() candidate {
	first, last := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	s.sift(0)
	return first
}

// sift moves the candidate at k down to its place in the heap.
func (s *selection) sift(k int) {
	h := s.heap
	for {
		child := 2*k + 1
		if child >= len(h) {
			return
		}
		if next := child + 1; next < len(h) && h[next].before(h[child]) {
			child = next
		}
		if !h[child].before(h[k]) {
			return
		}
		h[k], h[child] = h[child], h[k]
		k = child
	}
}
