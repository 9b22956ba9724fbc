package scalar

import (
	"math/bits"
	"slices"
)

// An Accumulator collects the readings of one group for a [Query]. The zero value is
// empty. It is not safe for concurrent use. Medians and percentiles, and extremes but
// for those under dinf, take eight bytes per reading and more to draw, the other
// aggregates a fixed size.
type Accumulator struct {
	rows    int64
	index   int64   // Value: the last; Min, Max under dinf: the extreme so far
	sum     uint128 // Sum, Avg, Variance, StdDev: of the indices
	squares uint128 // Variance, StdDev: of the squared indices
	indices []int64 // the other ranks
	spare   []int64 // memory to sort them
	choice  choice  // by which they are drawn
}

// Keeps reports whether accumulators for q keep all readings.
func (q *Query) Keeps() bool { return q.scored || q.agg == Median || q.agg == Percentile }

// Reset empties a for another group. It keeps its memory.
func (q *Query) Reset(a *Accumulator) {
	*a = Accumulator{indices: a.indices[:0], spare: a.spare, choice: choice{upTo: a.choice.upTo[:0]}}
}

// Add adds one row with the reading x, which is not NULL, to a. Count ignores x.
func (q *Query) Add(a *Accumulator, x float64) {
	if q.agg == Count {
		a.rows++
		return
	}
	q.AddIndex(a, q.universe.Index(x))
}

// AddIndex adds one row whose reading is the value of an index of the universe, 0 to its last.
func (q *Query) AddIndex(a *Accumulator, k int64) {
	a.rows++
	if q.scored {
		a.indices = append(a.indices, k)
		return
	}
	switch q.agg {
	case Sum, Avg:
		a.sum = a.sum.add(uint64(k))
	case Variance, StdDev:
		a.sum = a.sum.add(uint64(k))
		a.squares = a.squares.addSquare(uint64(k))
	case Median, Percentile:
		a.indices = append(a.indices, k)
	case Min:
		if a.rows == 1 || k < a.index {
			a.index = k
		}
	case Max:
		a.index = max(a.index, k)
	default:
		a.index = k
	}
}

// answer returns the true answer of all but averages and variances, as a point of the query's lattice. For a group without
// readings it is 0 for counts and sums, and lo otherwise.
func (q *Query) answer(a *Accumulator) int128 {
	if q.scored {
		return fromInt64(q.percentile(a.indices))
	}
	switch q.agg {
	case Count:
		// Rows differ by as much as records do. Saturation only brings them closer.
		return fromInt64(min(a.rows, maxCount))
	case Sum:
		return q.universe.total(a.rows, a.sum)
	case Median, Percentile:
		return fromInt64(q.percentile(a.indices))
	default:
		return fromInt64(a.index)
	}
}

// total returns the sum of the readings, in grains.
//
// Sensitivity: a reading that moves by d moves the sum by d, and such moves add up: 1
// under d1. A reading that appears or disappears moves the sum by its value, at most
// reach: the distance that the row then counts as under d1, and one record under dh.
// Under nd1 a move by d is at distance d/(hi-lo), and d <= reach*d/(hi-lo), because
// reach >= hi-lo.
func (u *Universe) total(rows int64, indices uint128) int128 {
	grain := u.grain()
	steps := indices.times(uint64(u.stride / grain))
	offset := uint128{0, uint64(rows)}.times(uint64(max(u.first, -u.first) / grain))
	if u.first < 0 {
		offset = offset.neg()
	}
	return steps.add(offset)
}

// percentile returns the index of rank min(m, floor(m*p/100)+1) among m indices, which
// it reorders. It is 0 if there are none.
//
// Sensitivity under dinf, and under d1 with the same rows NULL, hence the same m and
// rank: a reading of given rank moves by no more than the largest move of any reading
// (thesis, theorem 4.9). Under dinf, when other rows are NULL, the distance is hi - lo at
// least, and no two points of the grid are further apart; lo, the answer without readings,
// is one of them.
func (q *Query) percentile(indices []int64) int64 {
	if len(indices) == 0 {
		return 0
	}
	return nth(indices, q.below(len(indices)), bits.Len64(uint64(q.universe.last)))
}

// below returns how many of m > 0 readings come before the percentile,
// min(m-1, floor(m*p/100)).
func (q *Query) below(m int) int {
	hi, lo := bits.Mul64(uint64(m), q.rank)
	below, _ := bits.Div64(hi, lo, q.ranks) // rank <= ranks: at most m
	return min(m-1, int(below))
}

// nth returns the element that would be at index k if s were sorted. The elements of s
// are in 0..2^width-1. It reorders s, and makes at most width passes over it.
func nth(s []int64, k, width int) int64 {
	for bit := width - 1; bit >= 0 && len(s) > 1; bit-- {
		zeros := 0
		for i, v := range s { // both swap and count without a branch
			s[i], s[zeros] = s[zeros], v
			zeros += int(^v >> bit & 1)
		}
		if k < zeros {
			s = s[:zeros]
		} else {
			s, k = s[zeros:], k-zeros
		}
	}
	return s[0]
}

// sortIndices returns the elements of s, which are in 0..2^width-1, in order, and memory
// for the next call. The two are s and spare, or memory of their size, in either role.
// Many elements are sorted by digits, the lowest first, a few by comparison.
func sortIndices(s, spare []int64, width int) (sorted, rest []int64) {
	const digit, few = 11, 1 << 10
	if len(s) < few {
		slices.Sort(s)
		return s, spare
	}
	if cap(spare) < len(s) {
		spare = make([]int64, len(s))
	}
	spare = spare[:len(s)]
	var next [1 << digit]int
	for shift := 0; shift < width; shift += digit {
		clear(next[:])
		for _, v := range s {
			next[v>>shift&(1<<digit-1)]++
		}
		at := 0
		for i, n := range next {
			next[i] = at
			at += n
		}
		for _, v := range s {
			d := v >> shift & (1<<digit - 1)
			spare[next[d]] = v
			next[d]++
		}
		s, spare = spare, s
	}
	return s, spare
}
