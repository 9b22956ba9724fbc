package planar

import (
	"math"
	"math/bits"
	"sort"
)

// A region holds the admissible lattice points of a domain: for every row the
// runs of points, and a binary tree over the rows whose nodes know the extent of
// the runs below them.
type region struct {
	first  int64   // the row of starts[0]
	starts []int32 // runs[starts[k]:starts[k+1]] is row first+k
	runs   []run   // from west to east, with gaps between them
	leaves int64   // rows, rounded up to a power of two
	extent []run   // extent[leaves+k] is row k; node n has the children 2n, 2n+1
}

var noExtent = run{math.MaxInt32, math.MinInt32}

func newRegion(a *area) (*region, error) {
	s, err := newScan(a)
	if err != nil {
		return nil, err
	}
	if len(s.runs) == 0 {
		return nil, errNothingAdmissible
	}
	r := &region{first: s.first, starts: s.starts, runs: s.runs, leaves: 1}
	rows := int64(len(s.starts) - 1)
	for r.leaves < rows {
		r.leaves *= 2
	}
	r.extent = make([]run, 2*r.leaves)
	for k := range r.leaves {
		r.extent[r.leaves+k] = noExtent
		if k < rows && s.starts[k] < s.starts[k+1] {
			r.extent[r.leaves+k] = run{s.runs[s.starts[k]].lo, s.runs[s.starts[k+1]-1].hi}
		}
	}
	for n := r.leaves - 1; n > 0; n-- {
		a, b := r.extent[2*n], r.extent[2*n+1]
		r.extent[n] = run{min(a.lo, b.lo), max(a.hi, b.hi)}
	}
	return r, nil
}

// nearest returns the admissible point nearest to c; of equally near ones the one
// with the least j, of these the one with the least i.
func (r *region) nearest(c Cell) Cell {
	best := candidate{distance: distance{math.MaxUint64, math.MaxUint64}}
	r.search(1, r.first, r.leaves, c, &best)
	return best.cell
}

// A candidate is the best point found so far.
type candidate struct {
	cell     Cell
	distance distance
}

// search improves best with the points below a node, which holds size rows from
// row on. The nearer half is searched first; a node is passed over when no point
// of its rectangle is as near as best, which keeps ties.
func (r *region) search(node, row, size int64, c Cell, best *candidate) {
	if best.distance.less(r.bound(node, row, size, c)) {
		return
	}
	if size == 1 {
		best.improve(c, Cell{r.nearestInRow(row-r.first, c.I), row})
		return
	}
	size /= 2
	low, high := 2*node, 2*node+1
	if r.bound(high, row+size, size, c).less(r.bound(low, row, size, c)) {
		r.search(high, row+size, size, c, best)
		r.search(low, row, size, c, best)
		return
	}
	r.search(low, row, size, c, best)
	r.search(high, row+size, size, c, best)
}

// bound returns the distance from c to the rectangle of a node, beyond every
// distance if it is empty.
func (r *region) bound(node, row, size int64, c Cell) distance {
	e := r.extent[node]
	if e == noExtent {
		return distance{math.MaxUint64, math.MaxUint64}
	}
	return squared(
		c.I-max(int64(e.lo), min(c.I, int64(e.hi))),
		c.J-max(row, min(c.J, row+size-1)),
	)
}

// nearestInRow returns the admissible index nearest to i in the k-th row, which
// is not empty; the lesser of two.
func (r *region) nearestInRow(k, i int64) int64 {
	runs := r.runs[r.starts[k]:r.starts[k+1]]
	n := sort.Search(len(runs), func(n int) bool { return int64(runs[n].hi) >= i })
	if n == len(runs) {
		return int64(runs[n-1].hi)
	}
	right := max(i, int64(runs[n].lo))
	if n > 0 {
		if left := int64(runs[n-1].hi); i-left <= right-i {
			return left
		}
	}
	return right
}

// improve takes p when it is nearer to c than the best so far, or as near and
// first by j, then i.
func (b *candidate) improve(c, p Cell) {
	d := squared(c.I-p.I, c.J-p.J)
	tie := d == b.distance && (p.J < b.cell.J || p.J == b.cell.J && p.I < b.cell.I)
	if tie || d.less(b.distance) {
		*b = candidate{p, d}
	}
}

// A distance is a squared distance in steps, 128 bits wide: saturated points are
// up to 2^41 steps away.
type distance struct{ hi, lo uint64 }

func squared(di, dj int64) distance {
	ihi, ilo := bits.Mul64(magnitude(di), magnitude(di))
	jhi, jlo := bits.Mul64(magnitude(dj), magnitude(dj))
	lo, carry := bits.Add64(ilo, jlo, 0)
	hi, _ := bits.Add64(ihi, jhi, carry)
	return distance{hi, lo}
}

func magnitude(x int64) uint64 { return uint64(max(x, -x)) }

func (d distance) less(o distance) bool {
	return d.hi < o.hi || d.hi == o.hi && d.lo < o.lo
}
