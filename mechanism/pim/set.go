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
	quanta []uint64
	sums   [levels]uint64 // quanta of the cells of a level
	counts [levels]int
	heap   []candidate
	set    []int
}

// levels is the number of classes of probabilities. Of 4 quanta and more, a class has those with the same number of
// bits and the same two bits after the first.
const levels = 4 * 63

// level returns the class of a number of quanta.
func level(quanta uint64) int {
	if quanta < 4 {
		return int(quanta)
	}
	n := bits.Len64(quanta)
	return 4*(n-2) + int(quanta>>(n-3)&3)
}

// leastOf returns the least number of quanta of a class.
func leastOf(level int) uint64 {
	if level < 4 {
		return uint64(level)
	}
	return uint64(4+level%4) << (level/4 - 1)
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
// It takes linear time, and logarithmic time for each cell of the set and of the class of its least probable
// one. Only these are compared.
func (s *selection) locationSet(prior []float64, delta budget.Amount, least int) []int {
	total := s.classify(prior)
	enough := requiredMass(total, delta)
	s.gather(s.lastLevel(enough, least))
	for k := len(s.heap)/2 - 1; k >= 0; k-- {
		s.sift(k)
	}
	s.set = s.set[:0]
	var sum uint64
	for len(s.heap) > 0 && (sum < enough || len(s.set) < least) {
		c := s.pop()
		sum += c.quanta
		s.set = append(s.set, c.cell)
	}
	slices.Sort(s.set)
	return s.set
}

// classify finds the quanta of all cells, and returns their sum.
func (s *selection) classify(prior []float64) (total uint64) {
	s.quanta = slices.Grow(s.quanta[:0], len(prior))[:len(prior)]
	s.sums, s.counts = [levels]uint64{}, [levels]int{}
	for cell, p := range prior {
		q := uint64(math.RoundToEven(p / probability))
		s.quanta[cell] = q
		k := level(q)
		s.sums[k] += q
		s.counts[k]++
		total += q
	}
	return total
}

// lastLevel returns the lowest level of a cell of the set.
func (s *selection) lastLevel(enough uint64, least int) int {
	var sum uint64
	cells := 0
	for k := levels - 1; k > 0; k-- {
		sum += s.sums[k]
		if cells += s.counts[k]; sum >= enough && cells >= least {
			return k
		}
	}
	return 0
}

// gather collects the cells of a level and those above.
func (s *selection) gather(last int) {
	s.heap = s.heap[:0]
	least := leastOf(last)
	for cell, q := range s.quanta {
		if q >= least {
			s.heap = append(s.heap, candidate{q, cell})
		}
	}
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
