package markov

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// background is the probability of a move to a cell picked uniformly from all.
const background = 1e-6

// A Model is a Markov chain on the cells of a grid; see the package comment for its law.
// [Trainer.Model] and [ParseModel] return one. It is immutable and safe for concurrent
// use. It takes 24 bytes per visited cell, 16 bytes per pair of cells with a transition,
// and at most 32 bytes per cell of the grid.
type Model struct {
	grid   *Grid
	period time.Duration
	traces int64
	rows   []row
	moves  []move

	// The share of a cell's belief that the pseudo-count moves to each neighbour, and
	// leaves in the cell.
	near, here []float64

	// The cells that transitions lead to, those with few before those with many, and their transitions
	// in this order. A transition names the cell that it comes from. Those to a cell are in the order of rows.
	targets  []target
	arrivals []move
	scratch  sync.Pool // of *[]float64, one for each cell and a row more
}

// A row holds the counts of a visited cell. Rows are in the order of their cells.
type row struct {
	cell, visits uint32
	end          int     // of its moves, which begin at the end of the row before
	share        float64 // of the cell's belief that goes to a transition seen once
}

// A target is a cell and how many transitions lead to it.
type target struct{ cell, arrivals uint32 }

// A move is a transition to a cell, and how often it was seen. The moves of a row are in
// the order of their cells.
type move struct{ cell, count uint32 }

// newModel returns a model of rows without their shares, which it computes.
func newModel(g *Grid, period time.Duration, traces int64, rows []row, moves []move) *Model {
	m := &Model{grid: g, period: period, traces: traces, rows: rows, moves: moves}
	n := g.Len()
	m.near, m.here = make([]float64, n), make([]float64, n)
	stay := m.stayProbability()
	for i := range n {
		m.addPseudoCount(i, 1-background, stay)
	}
	begin := 0
	for k := range rows {
		r := &rows[k]
		total := 1 + float64(sum(moves[begin:r.end])) // below 2^53
		r.share = (1 - background) / total
		m.addPseudoCount(int(r.cell), r.share, stay)
		begin = r.end
	}
	m.turn()
	return m
}

// turn sorts the transitions by the cells that they lead to.
func (m *Model) turn() {
	n := m.grid.Len()
	m.scratch.New = func() any { return new(make([]float64, n+m.grid.width)) }
	count := make([]uint32, n)
	for _, v := range m.moves {
		count[v.cell]++
	}
	for cell, c := range count {
		if c > 0 {
			m.targets = append(m.targets, target{uint32(cell), c})
		}
	}
	slices.SortFunc(m.targets, func(a, b target) int { return cmp.Or(cmp.Compare(a.arrivals, b.arrivals), cmp.Compare(a.cell, b.cell)) })
	place, next := make([]int, n), 0
	for _, t := range m.targets {
		place[t.cell] = next
		next += int(t.arrivals)
	}
	m.arrivals = make([]move, len(m.moves))
	begin := 0
	for _, r := range m.rows {
		for _, v := range m.moves[begin:r.end] {
			m.arrivals[place[v.cell]] = move{r.cell, v.count}
			place[v.cell]++
		}
		begin = r.end
	}
}

// stayProbability returns the probability that a pseudo-count stays in its cell: the
// overall share of transitions that do, starting from one in nine.
func (m *Model) stayProbability() float64 {
	stayed, all, begin := uint64(1), uint64(9), 0
	for _, r := range m.rows {
		for _, v := range m.moves[begin:r.end] {
			all += uint64(v.count)
			if v.cell == r.cell {
				stayed += uint64(v.count)
			}
		}
		begin = r.end
	}
	return float64(stayed) / float64(all)
}

// addPseudoCount sets how the pseudo-count of a cell spreads a share of its belief.
func (m *Model) addPseudoCount(cell int, share, stay float64) {
	neighbours := m.grid.degree(cell) - 1
	if neighbours == 0 {
		m.here[cell] = share
		return
	}
	m.here[cell] = share * stay
	m.near[cell] = share * (1 - stay) / float64(neighbours)
}

func sum(moves []move) (n uint64) {
	for _, v := range moves {
		n += uint64(v.count)
	}
	return n
}

// Grid returns the grid with the cells that are the chain's states.
func (m *Model) Grid() *Grid { return m.grid }

// Period returns the time that a transition takes, in whole microseconds.
func (m *Model) Period() time.Duration { return m.period }

// Start returns the belief before the first report: the share of each cell in all
// visits, mixed with 1e-6 of the uniform distribution. It has one positive probability
// per cell, which sum to 1 up to rounding. The caller may change the slice.
func (m *Model) Start() []float64 {
	belief := make([]float64, m.grid.Len())
	uniform := background / float64(len(belief))
	for i := range belief {
		belief[i] = uniform
	}
	visits := uint64(0)
	for _, r := range m.rows {
		visits += uint64(r.visits)
	}
	for _, r := range m.rows {
		share := (1 - background) * (float64(r.visits) / float64(visits))
		belief[r.cell] += float64(share)
	}
	return belief
}

// Advance sets dst to the belief one period after src: dst = src*M, where M is the
// transition matrix. Both have the length Len of the grid and must not overlap. src need
// not sum to 1; dst has the same sum. Advance allocates nothing.
func (m *Model) Advance(dst, src []float64) {
	scratch := m.scratch.Get().(*[]float64)
	defer m.scratch.Put(scratch)
	once, none := (*scratch)[:len(src)], (*scratch)[len(src):]
	total := m.leave(once, src)
	m.diffuse(dst, src, none, background*total/float64(len(src)))
	m.follow(dst, once)
}

// leave sets once to the belief that leaves each visited cell with a transition seen once, and returns the sum of src. The
// additions wait for each other, and the products are made meanwhile.
func (m *Model) leave(once, src []float64) (total float64) {
	at := 0
	for k := range m.rows {
		r := &m.rows[k]
		for ; at <= int(r.cell); at++ {
			total += src[at]
		}
		once[r.cell] = float64(src[r.cell] * r.share)
	}
	for _, p := range src[at:] {
		total += p
	}
	return total
}

// diffuse sets dst to the moves of the pseudo-counts, and uniform in each cell: each row adds to itself and to the rows beside it.
// The row none stands for rows beyond the grid.
func (m *Model) diffuse(dst, src, none []float64, uniform float64) {
	width := m.grid.width
	above, own := none, dst[:width]
	for i := range own {
		own[i] = uniform
	}
	for at := 0; at < len(src); at += width {
		below := none
		if next := at + width; next < len(dst) {
			below = dst[next : next+width]
		}
		diffuseRow(above, own, below, src[at:at+width], m.near[at:at+width], m.here[at:at+width], uniform)
		above, own = own, below
	}
}

// diffuseRow adds the moves from a row to itself and to the row above, and sets the row below to them and uniform. Each cell
// gets the moves of the three nearest cells of the row, two at the ends; in the row itself the nearest one has its own share.
func diffuseRow(above, own, below, src, near, here []float64, uniform float64) {
	n := len(src)
	above, own, below, near, here = above[:n], own[:n], below[:n], near[:n], here[:n] // bounds are checked here
	left, beside := 0.0, float64(src[0]*near[0])
	for i := range src {
		right := 0.0
		if i+1 < n {
			right = float64(src[i+1] * near[i+1])
		}
		three := left + beside + right
		above[i] += three
		own[i] += left + float64(src[i]*here[i]) + right
		below[i] = uniform + three
		left, beside = beside, right
	}
}

// follow adds the transitions that were seen, to four cells at a time that have as many of them: no sum waits for another, and
// the processor foresees how long each is.
func (m *Model) follow(dst, once []float64) {
	arrivals, targets := m.arrivals, m.targets
	for len(targets) > 0 {
		n, first := int(targets[0].arrivals), targets[0].cell
		if len(targets) < 4 || int(targets[3].arrivals) != n {
			sum := dst[first]
			for _, v := range arrivals[:n] {
				sum += float64(once[v.cell] * float64(v.count))
			}
			dst[first], arrivals, targets = sum, arrivals[n:], targets[1:]
			continue
		}
		second, third, fourth := targets[1].cell, targets[2].cell, targets[3].cell
		to1, to2, to3, to4 := arrivals[:n], arrivals[n:][:n], arrivals[2*n:][:n], arrivals[3*n:][:n]
		sum1, sum2, sum3, sum4 := dst[first], dst[second], dst[third], dst[fourth]
		for i := range n {
			sum1 += float64(once[to1[i].cell] * float64(to1[i].count))
			sum2 += float64(once[to2[i].cell] * float64(to2[i].count))
			sum3 += float64(once[to3[i].cell] * float64(to3[i].count))
			sum4 += float64(once[to4[i].cell] * float64(to4[i].count))
		}
		dst[first], dst[second], dst[third], dst[fourth] = sum1, sum2, sum3, sum4
		arrivals, targets = arrivals[4*n:], targets[4:]
	}
}

// Info describes a model.
type Info struct {
	Domain        string  // name of the domain
	CellMetres    float64 // side of a cell
	Period        time.Duration
	Width, Height int   // of the grid, in cells
	Traces        int64 // trained on
	Visits        int64 // occupied slots of time
	VisitedCells  int   // cells with a visit
	Transitions   int64 // counted
	Nonzero       int   // pairs of cells with a transition
}

// Info returns a description of m.
func (m *Model) Info() Info {
	info := Info{
		Domain:       m.grid.domain.Name(),
		CellMetres:   m.grid.metres,
		Period:       m.period,
		Width:        m.grid.width,
		Height:       m.grid.height,
		Traces:       m.traces,
		VisitedCells: len(m.rows),
		Transitions:  int64(sum(m.moves)),
		Nonzero:      len(m.moves),
	}
	for _, r := range m.rows {
		info.Visits += int64(r.visits)
	}
	return info
}
