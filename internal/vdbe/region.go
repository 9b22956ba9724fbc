package vdbe

import (
	dominators "gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/simple"
)

// regions finds the region of each decision of a graph: the nodes on paths from it to the first one that all these paths have
// in common, its post-dominator. Only runs that complete count, so a path does not end where the statement fails.
type regions struct {
	*graph
	join dominators.DominatorTree // of the reversed graph
	end  int64                    // a node behind the last ones
}

func newRegions(g *graph) (*regions, error) {
	if len(g.at) > maxNodes {
		return nil, errTooLong
	}
	r := &regions{graph: g, end: int64(len(g.at))}
	reversed := simple.NewDirectedGraph()
	edge := func(from, to int64) {
		if from != to {
			reversed.SetEdge(reversed.NewEdge(simple.Node(from), simple.Node(to)))
		}
	}
	for n, next := range g.next {
		for _, m := range next {
			edge(int64(m), int64(n))
		}
		if op := g.op(n); len(next) == 0 && op.P1 == 0 {
			edge(r.end, int64(n))
		}
	}
	r.join = dominators.Dominators(simple.Node(r.end), reversed)
	return r, nil
}

// of returns the instructions in the region of a decision.
func (r *regions) of(decision int) (list []int) {
	for n, at := range r.at {
		if at == decision {
			nodes, _ := r.ofNode(n)
			for _, m := range nodes {
				list = append(list, r.at[m])
			}
		}
	}
	return list
}

// ofNode returns the nodes on paths from a node to its post-dominator, and that one.
func (r *regions) ofNode(n int) (list []int, join int) {
	join = int(r.end)
	if d := r.join.DominatorOf(int64(n)); d != nil {
		join = int(d.ID())
	}
	seen := map[int]bool{}
	for pending := []int{n}; len(pending) > 0; {
		from := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, m := range r.next[from] {
			if m != join && !seen[m] {
				seen[m] = true
				list = append(list, m)
				pending = append(pending, m)
			}
		}
	}
	return list, join
}

// decide finds the region of an instruction that is a decision by a varying value. It reports false if the region cannot be found.
func (a *analysis) decide(i int) bool {
	op := &a.program[i]
	code := op.code()
	varying := a.decides(i)
	switch {
	case code.next.isBranch():
		byComparison := code.decides == 0 && code.cursor == without // the one before it
		varying = varying || code.cursor != without && a.wanders(op) || byComparison && i > 0 && a.decided[i-1]
		return !varying || a.part(i)
	case !varying:
		return true
	case code.use == asOrder: // a comparison, for the jump behind it
		a.decided[i] = true
		return i+1 < len(a.program) && a.program[i+1].code().next == jumpsThree
	case code.effect == inserts, code.effect == insertsKey, code.use == asRemoved:
		return true // which rows there are varies, see [analysis.loosen]
	}
	return false
}

// part records that runs part at an instruction.
func (a *analysis) part(i int) bool {
	if a.decided[i] {
		return true
	}
	if a.regions == nil {
		g, err := newWideGraph(a.program)
		if err == nil {
			a.regions, err = newRegions(g)
		}
		if err != nil {
			return false
		}
	}
	a.decided[i], a.changed = true, true
	for _, n := range a.regions.of(i) {
		a.uncertain[n] = true
		a.causes[n] = append(a.causes[n], i)
	}
	return true
}

// loosen follows an instruction that one run may execute more often than another: everything that it writes varies, and
// so do the rows of its cursor, or the row where it stands. The same holds for the cursor of an instruction that finds, stores or
// deletes rows by a varying key, and for everything that is read from such a cursor. It reports false if the instruction may not be
// executed more often.
func (a *analysis) loosen(i int) bool {
	op := &a.program[i]
	code := op.code()
	name, _ := op.function()
	switch {
	case !a.uncertain[i]:
	case op.calls() && !a.pure(name) && !a.idle(name), code.effect == filters && !a.computed[op.P1]:
		return false
	}
	astray := code.cursor != without && (a.loose[op.P1] || a.adrift[op.P1])
	varying := a.uncertain[i] || code.cursor != without && a.decides(i)
	switch role := code.cursor; {
	case role == leads && (varying || astray):
		a.drift(op.P3)
	case role.moves() && varying:
		a.drift(op.P1)
	case role > usesIt && varying, code.effect == deletesRow && astray:
		a.loosenCursor(op.P1, !a.keepsRows(i))
	}
	if a.uncertain[i] || astray {
		a.writeVarying(i)
	}
	return true
}

// wanders reports whether an instruction may find a row of its cursor in one run and none in another. A cursor that is adrift
// finds the first row, if there is one.
func (a *analysis) wanders(op *Op) bool {
	toFirst := op.code().cursor.isStart() && op.code().decides == 0
	if toFirst {
		return a.hollow[op.P1]
	}
	return a.loose[op.P1] || a.adrift[op.P1]
}

// keepsRows reports whether the table that instruction i changes has rows in all runs or in none. It has some if another one of its
// rows has decided about i, as in a sorter of the first rows, and none is deleted without another that is stored.
func (a *analysis) keepsRows(i int) bool {
	op := &a.program[i]
	table := a.tables.cursor(op.P1)
	for _, d := range a.causes[i] {
		by := &a.program[d]
		if by.code().cursor != usesIt || by.code().use != asKey || !table.own || a.tables.cursor(by.P1).of != table.of {
			return false
		}
	}
	for j := i; j < len(a.program); j++ {
		switch next := &a.program[j]; next.code().effect {
		case inserts, insertsKey:
			return next.P1 == op.P1
		default:
			if next.code().next != onwards && next.code().next != numbers {
				return false
			}
		}
	}
	return false
}

// drift records that a cursor stands on one row in one run and on another in another.
func (a *analysis) drift(cursor int) {
	a.changed = a.changed || !a.adrift[cursor]
	a.adrift[cursor] = true
}

// loosenCursor makes all cursors loose that may see the rows of one, or none if the table may be empty.
func (a *analysis) loosenCursor(cursor int, hollow bool) {
	table := a.tables.cursor(cursor)
	for i, c := range a.tables {
		if i == cursor || c.own && c.of == table.of || table.writes && shareRoots(c, table) {
			a.changed = a.changed || !a.loose[i] || hollow && !a.hollow[i]
			a.loose[i], a.hollow[i] = true, a.hollow[i] || hollow
			grow(a, a.cursors, i, everything)
		}
	}
}

// shareRoots reports whether two cursors open the same table.
func shareRoots(c, d *cursor) bool {
	for root := range c.tables {
		if d.tables[root] {
			return true
		}
	}
	return false
}

// writeVarying records that all registers that an instruction writes vary, but for addresses, which the graph follows.
func (a *analysis) writeVarying(i int) {
	op := &a.program[i]
	code := op.code()
	if code.next == calls || code.next == prepares || code.next == yields {
		return
	}
	for r := range op.defines() {
		a.vary(i, r, !a.program.returnsTo(r))
	}
}
