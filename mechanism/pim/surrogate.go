package pim

import "sort"

// A surrogacy maps the cells of a grid to the nearest cells of a set (definition 3.2). Of
// several that are equally near it takes the westernmost column, and in that the southern
// cell: the choice depends on the set alone. It keeps its memory between uses.
type surrogacy struct {
	width, height int

	index   []int // the number of each column with cells of the set, and none for the others
	columns []int // columns with cells of the set
	nearest []int // for each of these, by row: the row of the nearest cell in that column

	// Of one row: the columns that are nearest somewhere, in ascending order, and for each
	// the first place where it is nearest.
	stack, from []int

	// Of all rows: where a surrogate begins to be the nearest, and the end of each row's.
	spans []span
	ends  []int
}

// A span is a piece of a row with one surrogate for all its cells. It ends where the next one begins.
type span struct{ from, surrogate int }

// update maps all cells to a set, which is not empty. Its time is proportional to the
// number of rows times that of columns with cells of the set: Euclidean distances are separable (Meijster, Roerdink, Hesselink, A
// General Algorithm for Computing Distance Transforms in Linear Time, 2000). All
// numbers are integers.
func (s *surrogacy) update(set []int) {
	s.scanColumns(set)
	s.spans, s.ends = s.spans[:0], s.ends[:0]
	for row := range s.height {
		s.envelope(row)
		for k, c := range s.stack {
			s.spans = append(s.spans, span{s.from[k], s.row(c, row)*s.width + s.columns[c]})
		}
		s.ends = append(s.ends, len(s.spans))
	}
}

// of returns the surrogate of a cell.
func (s *surrogacy) of(cell int) int {
	spans, x := s.in(cell/s.width), cell%s.width
	k := sort.Search(len(spans), func(k int) bool { return spans[k].from > x })
	return spans[k-1].surrogate
}

// in returns the spans of a row.
func (s *surrogacy) in(row int) []span {
	begin := 0
	if row > 0 {
		begin = s.ends[row-1]
	}
	return s.spans[begin:s.ends[row]]
}

func (s *surrogacy) row(column, row int) int { return s.nearest[column*s.height+row] }

// scanColumns finds the nearest cell within each column, the southern one of two that are
// equally near.
func (s *surrogacy) scanColumns(set []int) {
	const none = -1
	if s.index == nil {
		s.index = make([]int, s.width)
	}
	index := s.index
	for x := range index {
		index[x] = none
	}
	for _, cell := range set {
		index[cell%s.width] = 0
	}
	s.columns, s.nearest = s.columns[:0], s.nearest[:0]
	for x := range index {
		if index[x] == none {
			continue
		}
		index[x] = len(s.columns)
		s.columns = append(s.columns, x)
		for range s.height {
			s.nearest = append(s.nearest, none)
		}
	}
	for _, cell := range set {
		s.nearest[index[cell%s.width]*s.height+cell/s.width] = cell / s.width
	}
	for c := range s.columns {
		fillGaps(s.nearest[c*s.height : (c+1)*s.height])
	}
}

// fillGaps makes each row y of a column point to the nearest row that points to itself.
func fillGaps(column []int) {
	below := -1
	for y, at := range column {
		if at == y {
			below = y
		}
		column[y] = below
	}
	above := -1
	for y := len(column) - 1; y >= 0; y-- {
		if column[y] == y {
			above = y
		}
		if above >= 0 && (column[y] < 0 || above-y < y-column[y]) {
			column[y] = above
		}
	}
}

// envelope finds the nearest column for each place in a row.
func (s *surrogacy) envelope(row int) {
	s.stack, s.from = s.stack[:0], s.from[:0]
	for c := range s.columns {
		from := 0
		for n := len(s.stack); n > 0; n-- {
			from = s.overtakes(s.stack[n-1], c, row)
			if from > s.from[n-1] {
				break
			}
			s.stack, s.from = s.stack[:n-1], s.from[:n-1]
			from = 0
		}
		if from < s.width {
			s.stack, s.from = append(s.stack, c), append(s.from, from)
		}
	}
}

// overtakes returns the first place in a row from which on the column d, to the
// east of c, is nearer than c. With u and v the columns and g the squared distances
// within them, (x-v)^2 + g_v < (x-u)^2 + g_u when
//
//	x > (v^2 - u^2 + g_v - g_u) / (2(v-u)).
func (s *surrogacy) overtakes(c, d, row int) int {
	u, v := s.columns[c], s.columns[d]
	gu, gv := s.row(c, row)-row, s.row(d, row)-row
	above, below := v*v-u*u+gv*gv-gu*gu, 2*(v-u)
	if above < 0 {
		return 0
	}
	return above/below + 1
}
