package scalar

import (
	"math/bits"
	"slices"
)

// An Accumulator holds the readings of one group as the law of a [Query] adds them up. The zero value is empty. It is
// not safe for concurrent use.
type Accumulator struct {
	rows    int64
	index   int64   // of one reading: the last, or the extreme so far
	sum     uint128 // of the indices
	squares uint128 // of the squared indices
	indices []int64 // of all readings
	spare   []int64 // memory to sort them
	counts  []int64 // of readings in bins
	choice  choice  // of a value by its score
}

// Reset empties a for another group. It keeps the memory of readings.
func (q *Query) Reset(a *Accumulator) {
	*a = Accumulator{indices: a.indices[:0], spare: a.spare, choice: choice{upTo: a.choice.upTo[:0], scores: a.choice.scores}}
}

// Add adds one row with the reading x, which is not NULL, to a. Count ignores x.
func (q *Query) Add(a *Accumulator, x float64) { q.AddIndex(a, q.universe.Index(x)) }

// AddIndex adds one row with the value of an index of the universe, 0 to its last, as reading.
func (q *Query) AddIndex(a *Accumulator, k int64) {
	a.rows++
	q.law.add(a, k)
}

// Bytes returns the memory that so many readings take in an accumulator, beyond its fixed size.
func (q *Query) Bytes(readings int64) int64 { return q.law.bytes(readings) }

// readingSize is the memory that one of the readings takes which an accumulator keeps and sorts.
const readingSize = 40

// keeping is embedded by laws that keep all readings.
type keeping struct{}

func (keeping) add(a *Accumulator, k int64) { a.indices = append(a.indices, k) }

// sorted sorts the readings that were kept, which are in u, and returns their indices.
func (a *Accumulator) sorted(u *Universe) []int64 {
	a.indices, a.spare = sortIndices(a.indices, a.spare, bits.Len64(uint64(u.last)))
	return a.indices
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
// Many elements are counted if they have few values, or else sorted by digits, the lowest first; a few are sorted by comparison.
func sortIndices(s, spare []int64, width int) (sorted, rest []int64) {
	const digit, few = 11, 1 << 10
	switch {
	case len(s) < few:
		slices.Sort(s)
		return s, spare
	case len(s)>>width > 0:
		sortFew(s, width)
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

// sortFew sorts the elements of s, which are in 0..2^width-1.
func sortFew(s []int64, width int) {
	times := make([]int, 1<<width)
	for _, v := range s {
		times[v]++
	}
	for v, n := range times {
		for i := range s[:n] {
			s[i] = int64(v)
		}
		s = s[n:]
	}
}
