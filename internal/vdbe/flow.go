package vdbe

import (
	"math/bits"
	"slices"
)

// A flow follows which rows the values in registers come from, along the paths of a graph.
type flow struct {
	*graph
	pure    func(string) bool
	btrees  func(database, root int) Btree
	written *definitions
	cursors
	positions []position
	numbers   map[position]int
	stored    map[position]value // the content of a table of the statement's own, by its first cursor, or of an accumulator
	choices   map[int][]choice   // by the nodes where their ways meet
	deciding  map[int]int        // the register of each deciding instruction, see choice
	loops     []int              // of each node, see [graph.components]
	previous  [][]int            // the nodes before each node
	lookups   map[int]int        // see [flow.looksUp]
	led       map[int][]int      // by their leaders, the cursors that also move by themselves
	arguments map[int]int        // how many there are, by instruction
	reach
	grown bool // something stored has grown
	err   error
}

// newFlow finds the cursors, and follows values until nothing changes.
func newFlow(p Program, pure func(string) bool, btrees func(database, root int) Btree) (*flow, error) {
	g, err := newGraph(p)
	if err != nil {
		return nil, err
	}
	f := &flow{graph: g, pure: pure, btrees: btrees, written: newDefinitions(p), cursors: cursorsOf(g.program), numbers: map[position]int{},
		stored: map[position]value{}, loops: g.components(), previous: g.previous(), lookups: map[int]int{}, led: map[int][]int{}, arguments: map[int]int{}}
	f.findFollowers()
	if err := f.findChoices(); err != nil {
		return nil, err
	}
	for f.grown = true; f.grown && f.err == nil; {
		f.grown = false
		f.run()
	}
	return f, f.err
}

// number returns the sources of a position alone.
func (f *flow) number(p position) sources {
	n, known := f.numbers[p]
	if !known {
		if n = len(f.positions); n == maxPositions {
			f.err = errTooLong
			return elsewhere
		}
		f.numbers[p] = n
		f.positions = append(f.positions, p)
	}
	return 1 << n
}

// positionsIn returns the positions in s.
func (f *flow) positionsIn(s sources) (list []position) {
	for s &^= elsewhere; s != 0; s &= s - 1 {
		list = append(list, f.positions[bits.TrailingZeros64(uint64(s))])
	}
	return list
}

// run follows the values through all nodes that are reached.
func (f *flow) run() {
	reach, err := f.propagate(func(n int, s *state) error {
		f.decide(n, s)
		f.apply(n, s)
		return f.err
	}, f.meet)
	f.reach, f.err = reach, err
}

// store adds values to a table of the statement's own or to an accumulator.
func (f *flow) store(p position, v value) {
	if old := f.stored[p]; !old.covers(v) {
		f.stored[p] = old.union(v)
		f.grown = true
	}
}

// fetch returns the sources of a value that a position p reads, given the sources of the stored
// value. They are the position itself if the stored value depends on rows.
func (f *flow) fetch(p position, stored sources) sources {
	if stored == 0 || stored&elsewhere != 0 {
		return stored & elsewhere
	}
	return f.number(p)
}

// lag returns a position that stands for a cursor that is led to some rows, and moves to others by itself, while its leader has moved on; 0
// for other cursors.
func (f *flow) lag(cursor int) sources {
	for _, list := range f.led {
		if slices.Contains(list, cursor) {
			return f.number(position{cursor: cursor, field: -1}) &^ elsewhere
		}
	}
	return 0
}

// column returns the sources of a column of a cursor's row.
func (f *flow) column(at, column int, s *state) sources {
	c := f.cursor(at)
	switch {
	case c.pseudo != 0:
		return s.get(c.pseudo).field(column)
	case c.own:
		return f.field(at, column)
	case c.foreign || len(c.tables) == 0, s.behind&f.lag(at) != 0:
		return elsewhere
	}
	leader := f.number(position{cursor: c.follows})
	if c.follows != at && s.behind&leader != 0 {
		return elsewhere
	}
	return leader
}

// row returns the record of a cursor's row.
func (f *flow) row(at int, s *state) value {
	c := f.cursor(at)
	if !c.own {
		return value{all: f.column(at, 0, s)}
	}
	n := len(f.stored[position{cursor: c.of}].fields)
	v := value{all: f.field(at, n), fields: make([]sources, n)}
	for i := range v.fields {
		v.fields[i] = f.field(at, i)
	}
	return v
}

// field returns the sources of a field of a row in a table of the statement's own. Fields that depend on the same share a position,
// which is that of the first of them.
func (f *flow) field(at, i int) sources {
	stored := f.stored[position{cursor: f.cursor(at).of}]
	p, of := position{cursor: at}, stored.field(i)
	for stored.field(p.field) != of {
		p.field++
	}
	return f.fetch(p, of)
}

// moved tells the registers that a position moves on.
func (f *flow) moved(p position, r registers) {
	var s sources
	for n, q := range f.positions {
		if q.cursor == p.cursor && q.accumulator == p.accumulator {
			s |= 1 << n
		}
	}
	for i := range r {
		if s != 0 {
			r[i] = r[i].moved(s)
		}
	}
}

// apply applies the effects of an instruction to the registers.
func (f *flow) apply(n int, r *state) {
	op := f.op(n)
	code := op.code()
	if role := code.cursor; role.moves() || role.opensOrCloses() {
		f.moved(position{cursor: op.P1}, r.registers)
		r.behind |= f.number(position{cursor: op.P1}) &^ elsewhere
		for _, c := range f.led[op.P1] {
			r.behind |= f.lag(c)
		}
		r.behind &^= f.lag(op.P1)
		if leader, is := f.lookups[f.at[n]]; is {
			f.follow(leader, r.read(op, code.decides), r)
		} else if role == leavesRows && f.leavesTogether(n) {
			r.behind &^= f.number(position{cursor: op.P1})
		}
	} else if role == leads {
		f.moved(position{cursor: op.P3}, r.registers)
		r.behind &^= f.number(position{cursor: op.P1}) | f.lag(op.P3)
	}
	read := f.read(n, r, code.reads)
	set := func(s sources) { r.write(op, code.writes, value{all: s}) }
	switch code.effect {
	case sets, tells, marks:
		set(read)
	case clears:
		for first, count := range op.registers(code.writes) {
			for i := range count {
				f.moved(position{accumulator: first + i}, r.registers)
			}
		}
		set(0)
	case copies:
		r.copyAll(op)
	case counts, binds, readsVirtual:
		set(elsewhere)
	case callsFunction:
		if name, _ := op.function(); f.pure(name) {
			set(read)
		} else {
			set(elsewhere)
		}
	case stepsGroup, unstepsGroup:
		f.store(position{accumulator: op.P3}, value{all: f.stepped(n, r)})
	case endsGroup, asksGroup:
		p := position{accumulator: op.P1}
		if name, _ := op.function(); f.pure(name) {
			set(f.fetch(p, f.stored[p].all))
		} else {
			set(elsewhere)
		}
	case packs:
		r.write(op, code.writes, r.pack(op))
	case readsField:
		set(f.column(op.P1, op.P2, r))
	case readsRowid:
		set(f.row(op.P1, r).sources())
	case readsRow:
		r.write(op, code.writes, f.row(op.P1, r))
	case inserts, insertsKey:
		if c := f.cursor(op.P1); c.own {
			f.store(position{cursor: c.of}, r.get(op.P2))
		}
	}
}

// stepped returns the sources of a step: of its arguments or, as it is count(*) without any, the rows of all cursors that move in
// a loop around it.
func (f *flow) stepped(n int, r *state) (s sources) {
	if f.program.arguments(f.at[n]) > 0 {
		return f.read(n, r, arguments)
	}
	for m, loop := range f.loops {
		if op := f.op(m); loop >= 0 && loop == f.loops[n] && op.code().cursor.isAdvance() {
			s |= f.row(op.P1, r).sources()
		}
	}
	return s
}

// read returns the sources of operands of a node.
func (f *flow) read(n int, r *state, of operands) sources {
	if of != arguments {
		return r.read(f.op(n), of)
	}
	at := f.at[n]
	count, known := f.arguments[at]
	if !known {
		count = f.program.arguments(at)
		f.arguments[at] = count
	}
	return r.sources(f.op(n).P2, count)
}
