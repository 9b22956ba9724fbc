package vdbe

import (
	dominators "gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/simple"
)

// regions finds the region of each decision of a program, see [Program.Repeats].
type regions struct {
	*graph
	join dominators.DominatorTree // of the reversed graph
	end  int64                    // a node behind the last ones
}

func newRegions(p Program) (*regions, error) {
	g, err := newLooseGraph(p)
	switch {
	case err != nil:
		return nil, err
	case len(g.at) > maxNodes:
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
		if len(next) == 0 {
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
			list = append(list, r.ofNode(n)...)
		}
	}
	return list
}

// ofNode returns the instructions on paths from a node to its post-dominator.
func (r *regions) ofNode(n int) (list []int) {
	join := r.end
	if d := r.join.DominatorOf(int64(n)); d != nil {
		join = d.ID()
	}
	seen := map[int]bool{}
	for pending := []int{n}; len(pending) > 0; {
		from := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, m := range r.next[from] {
			if int64(m) != join && !seen[m] {
				seen[m] = true
				list = append(list, r.at[m])
				pending = append(pending, m)
			}
		}
	}
	return list
}

// decide finds the region of an instruction that is a decision by a varying value. It reports false if the region cannot be found.
func (a *analysis) decide(i int) bool {
	op := &a.program[i]
	code := op.code()
	varying := a.varying(i, code.decides)
	switch {
	case code.next == branches || code.next == jumpsThree:
		byComparison := code.decides == 0 && code.cursor == without // the one before it
		varying = varying || code.cursor != without && a.loose[op.P1] || byComparison && i > 0 && a.decided[i-1]
		return !varying || a.part(i)
	case !varying:
		return true
	case code.use == asOrder: // a comparison, for the jump behind it
		a.decided[i] = true
		return i+1 < len(a.program) && a.program[i+1].code().next == jumpsThree
	case code.effect == inserts, code.effect == insertsKey, code.use == asRemoved:
		return a.tables.cursor(op.P1).own // which rows there are varies, see [analysis.loosen]
	}
	return false
}

// part records that runs part at an instruction.
func (a *analysis) part(i int) bool {
	if a.decided[i] {
		return true
	}
	if a.regions == nil {
		var err error
		if a.regions, err = newRegions(a.program); err != nil {
			return false
		}
	}
	a.decided[i], a.changed = true, true
	for _, n := range a.regions.of(i) {
		a.uncertain[n] = true
	}
	return true
}

// loosen follows an instruction that one run may execute more often than another: everything that it writes varies, and
// so do the rows of its cursor. The same holds for the cursor of an instruction that finds, stores or deletes rows by a varying key,
// and for everything that is read from such a cursor. It reports false if the instruction may not be executed more often.
func (a *analysis) loosen(i int) bool {
	op := &a.program[i]
	code := op.code()
	name, _ := op.function()
	switch {
	case !a.uncertain[i]:
	case op.calls() && !a.pure(name) && !a.idle(name), code.effect == filters, code.effect == fails && op.P1 != 0:
		return false
	}
	if a.uncertain[i] && code.cursor > usesIt || code.cursor != without && a.varying(i, code.decides) {
		a.loosenCursor(op.P1)
	}
	if code.cursor == leads && a.loose[op.P1] {
		a.loosenCursor(op.P3)
	}
	if a.uncertain[i] || code.cursor != without && a.loose[op.P1] {
		a.writeVarying(i)
	}
	return true
}

// loosenCursor makes all cursors loose that may see the rows of one.
func (a *analysis) loosenCursor(cursor int) {
	table := a.tables.cursor(cursor)
	for i, c := range a.tables {
		if i == cursor || c.own && c.of == table.of || table.writes && shareRoots(c, table) {
			a.changed = a.changed || !a.loose[i]
			a.loose[i] = true
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
