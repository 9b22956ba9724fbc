package vdbe

import (
	"math/bits"
	"slices"
)

// A position is what a value may depend on: the row of a cursor, or the rows in an
// aggregate's accumulator. Positions are numbered per program.
type position struct {
	cursor      int
	accumulator int // register; 0 for a cursor
}

// sources is a set of positions that a value depends on as they are now. The last bit
// stands for all other secrets: rows of an earlier position, parameters of the statement,
// virtual tables.
type sources uint64

const (
	elsewhere    sources = 1 << 63
	maxPositions         = 63
)

// A value holds the sources of what is in a register: of all of it, and of the fields
// of a record.
type value struct {
	all    sources
	fields []sources // never changed, since values share them
}

// field returns the sources of a field of a record.
func (v value) field(i int) sources {
	if i < len(v.fields) {
		return v.all | v.fields[i]
	}
	return v.all
}

// sources returns the sources of everything in the register.
func (v value) sources() sources {
	s := v.all
	for _, f := range v.fields {
		s |= f
	}
	return s
}

func (v value) equal(w value) bool { return v.all == w.all && slices.Equal(v.fields, w.fields) }

// union returns what depends on the sources of both.
func (v value) union(w value) value {
	if len(v.fields) < len(w.fields) {
		v, w = w, v
	}
	all := value{all: v.all | w.all, fields: v.fields}
	if len(w.fields) > 0 {
		all.fields = slices.Clone(v.fields)
		for i, f := range w.fields {
			all.fields[i] |= f
		}
	}
	return all
}

// moved returns the value after the position s has moved on: what depended on it depends
// on an earlier one.
func (v value) moved(s sources) value {
	if v.sources()&s == 0 {
		return v
	}
	old := func(f sources) sources {
		if f&s == 0 {
			return f
		}
		return f&^s | elsewhere
	}
	w := value{all: old(v.all), fields: make([]sources, len(v.fields))}
	for i, f := range v.fields {
		w.fields[i] = old(f)
	}
	return w
}

// registers are the values in the registers of a program. Those that are not stored depend on
// nothing.
type registers []value

func (r registers) get(i int) value {
	if i < len(r) {
		return r[i]
	}
	return value{}
}

func (r *registers) set(i int, v value) {
	if i >= len(*r) {
		if v.equal(value{}) {
			return
		}
		*r = append(*r, make(registers, i+1-len(*r))...)
	}
	(*r)[i] = v
}

// copy copies n registers, which may overlap.
func (r *registers) copy(from, to, n int) {
	values := make(registers, n)
	for i := range values {
		values[i] = r.get(from + i)
	}
	for i, v := range values {
		r.set(to+i, v)
	}
}

// sources returns what n registers depend on.
func (r registers) sources(first, n int) (s sources) {
	for i := first; i < len(r) && i-first < n; i++ {
		s |= r[i].sources()
	}
	return s
}

// A state is what is known before an instruction.
type state struct {
	registers
	behind sources // cursors of indexes that have moved on while what follows them has not
}

// A flow follows which rows the values in registers come from, along the paths of a graph.
type flow struct {
	*graph
	pure      func(string) bool
	cursors   map[int]*cursor
	positions []position
	numbers   map[position]int
	stored    map[position]value // what is in a table of the statement's own, by its first cursor, or in an accumulator
	before    []state            // before each node
	reached   []bool
	size      int  // of all registers before nodes
	grown     bool // something stored has grown
	err       error
}

// A cursor tells what the instructions with its number open and how they move it.
type cursor struct {
	tables  map[[2]int]bool // database and root page of what it reads
	writes  bool            // it writes tables
	own     bool            // it reads a table of the statement's own: a sorter, a materialised subquery
	of      int             // the first cursor of such a table, itself but for OpenDup
	pseudo  int             // the register of the record that it reads, 0 for none
	foreign bool            // it reads a virtual table
	follows int             // the cursor of an index whose row it always stands on, itself if none
}

// newFlow finds out what the cursors are, and follows values until nothing changes.
func newFlow(g *graph, pure func(string) bool) (*flow, error) {
	f := &flow{graph: g, pure: pure, cursors: map[int]*cursor{}, numbers: map[position]int{}, stored: map[position]value{}}
	for i := range g.program {
		f.open(&g.program[i])
	}
	for _, c := range f.cursors {
		for c.own && f.cursors[c.of].of != c.of {
			c.of = f.cursors[c.of].of
		}
	}
	f.findFollowers()
	for f.grown = true; f.grown && f.err == nil; {
		f.grown = false
		f.run()
	}
	return f, f.err
}

func (f *flow) cursor(i int) *cursor {
	c := f.cursors[i]
	if c == nil {
		c = &cursor{tables: map[[2]int]bool{}, of: i, follows: i}
		f.cursors[i] = c
	}
	return c
}

// open records what an instruction opens.
func (f *flow) open(op *Op) {
	switch op.Name {
	case "OpenRead", "ReopenIdx":
		f.cursor(op.P1).tables[[2]int{op.P3, op.P2}] = true
	case "OpenWrite":
		c := f.cursor(op.P1)
		c.writes = true
		if op.P5&rootInRegister == 0 {
			c.tables[[2]int{op.P3, op.P2}] = true
		}
	case "OpenEphemeral", "OpenAutoindex", "SorterOpen":
		f.cursor(op.P1).own = true
	case "OpenDup":
		f.cursor(op.P1).own = true
		f.cursor(op.P1).of = op.P2
	case "OpenPseudo":
		f.cursor(op.P1).pseudo = op.P2
	case "VOpen":
		f.cursor(op.P1).foreign = true
	}
}

// findFollowers finds the cursors of tables that only follow a cursor of one of their
// indexes.
func (f *flow) findFollowers() {
	leaders := map[int]map[int]bool{}
	lead := func(c, by int) {
		if leaders[c] == nil {
			leaders[c] = map[int]bool{}
		}
		leaders[c][by] = true
	}
	for i := range f.program {
		op := &f.program[i]
		switch {
		case op.Name == "DeferredSeek":
			lead(op.P3, op.P1)
		case op.moves():
			lead(op.P1, op.P1)
		}
	}
	for c, by := range leaders {
		for leader := range by {
			if len(by) == 1 {
				f.cursor(c).follows = leader
			}
		}
	}
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

// maxSize limits how many registers are followed, over all nodes.
const maxSize = 1 << 22

// run follows the values through all nodes that are reached.
func (f *flow) run() {
	f.before, f.reached, f.size = make([]state, len(f.at)), make([]bool, len(f.at)), 0
	f.reached[0] = true
	pending := []int{0}
	for len(pending) > 0 && f.err == nil {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		after := state{slices.Clone(f.before[n].registers), f.before[n].behind}
		f.apply(f.op(n), &after)
		for _, m := range f.next[n] {
			if f.join(m, after) {
				pending = append(pending, m)
			}
		}
		if f.size > maxSize {
			f.err = errTooLong
		}
	}
}

// join adds a state to the one before a node, and reports whether that changes anything.
func (f *flow) join(n int, s state) (more bool) {
	before := &f.before[n]
	more = !f.reached[n] || s.behind&^before.behind != 0
	f.reached[n] = true
	before.behind |= s.behind
	f.size -= len(before.registers)
	for r, v := range s.registers {
		old := before.get(r)
		if w := old.union(v); !w.equal(old) {
			before.set(r, w)
			more = true
		}
	}
	f.size += len(before.registers)
	return more
}

// store adds values to what a table of the statement's own or an accumulator holds.
func (f *flow) store(p position, v value) {
	if w := f.stored[p].union(v); !w.equal(f.stored[p]) {
		f.stored[p] = w
		f.grown = true
	}
}

// fetch returns the sources of something that a position p reads from what is stored. They
// are the position itself if what is stored depends on rows.
func (f *flow) fetch(p position, stored sources) sources {
	if stored == 0 || stored&elsewhere != 0 {
		return stored & elsewhere
	}
	return f.number(p)
}

// column returns the sources of a column of a cursor's row.
func (f *flow) column(at, column int, s *state) sources {
	c := f.cursor(at)
	switch {
	case c.pseudo != 0:
		return s.get(c.pseudo).field(column)
	case c.own:
		return f.fetch(position{cursor: at}, f.stored[position{cursor: c.of}].field(column))
	case c.foreign || len(c.tables) == 0:
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
	stored := f.stored[position{cursor: c.of}]
	v := value{all: f.fetch(position{cursor: at}, stored.all), fields: make([]sources, len(stored.fields))}
	for i, field := range stored.fields {
		v.fields[i] = f.fetch(position{cursor: at}, field)
	}
	return v
}

// moved tells the registers that a position moves on.
func (f *flow) moved(p position, r registers) {
	n, known := f.numbers[p]
	if !known {
		return
	}
	for i := range r {
		r[i] = r[i].moved(1 << n)
	}
}

// probes are the instructions that look a key up with the cursor P1.
var probes = set("Found", "NoConflict", "NotFound")

// starts are the instructions that move the cursor P1 to a first row, or to the only one.
var starts = set("Last", "NotExists", "Rewind", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid", "Sort", "SorterSort", "VFilter")

// advances are the instructions that move the cursor P1 to a next row.
var advances = set("Next", "Prev", "SorterNext", "VNext")

// moves reports whether an instruction moves the cursor P1.
func (op *Op) moves() bool {
	return probes[op.Name] || starts[op.Name] || advances[op.Name] || op.Name == "NullRow"
}

// opens reports whether an instruction opens or closes the cursor P1.
func (op *Op) opens() bool {
	switch op.Name {
	case "Close", "OpenAutoindex", "OpenDup", "OpenEphemeral", "OpenPseudo", "OpenRead", "OpenWrite", "ReopenIdx", "SorterOpen", "VOpen":
		return true
	}
	return false
}

// apply applies the effects of an instruction to the registers.
func (f *flow) apply(op *Op, r *state) {
	set := func(i int, s sources) { r.set(i, value{all: s}) }
	if op.moves() || op.opens() {
		f.moved(position{cursor: op.P1}, r.registers)
		r.behind |= f.number(position{cursor: op.P1}) &^ elsewhere
	}
	switch op.Name {
	case "DeferredSeek":
		f.moved(position{cursor: op.P3}, r.registers)
		r.behind &^= f.number(position{cursor: op.P1})

	case "Null":
		for i := op.P2; i <= max(op.P2, op.P3); i++ {
			f.moved(position{accumulator: i}, r.registers)
			set(i, 0)
		}
	case "BeginSubrtn", "Blob", "CreateBtree", "Int64", "Integer", "NewRowid", "OffsetLimit", "ReadCookie", "Real", "Sequence", "String", "String8":
		set(op.P2, 0)
	case "Count", "Variable":
		set(op.P2, elsewhere)
	case "BitNot", "GetSubtype", "IntCopy", "IsTrue", "Not", "SetSubtype":
		set(op.P2, r.sources(op.P1, 1))
	case "SCopy":
		r.copy(op.P1, op.P2, 1)
	case "Copy":
		r.copy(op.P1, op.P2, op.P3+1)
	case "Move":
		r.copy(op.P1, op.P2, op.P3)
	case "Add", "And", "BitAnd", "BitOr", "Concat", "Divide", "Multiply", "Or", "Remainder", "ShiftLeft", "ShiftRight", "Subtract":
		set(op.P3, r.sources(op.P1, 1)|r.sources(op.P2, 1))
	case "ZeroOrNull":
		set(op.P2, r.sources(op.P1, 1)|r.sources(op.P3, 1))

	case "Function", "PureFunc":
		name, n := op.function()
		if f.pure(name) {
			set(op.P3, r.sources(op.P2, n))
		} else {
			set(op.P3, elsewhere)
		}
	case "AggStep":
		_, n := op.function()
		f.store(position{accumulator: op.P3}, value{all: r.sources(op.P2, n)})
	case "AggFinal":
		p := position{accumulator: op.P1}
		if name, _ := op.function(); f.pure(name) {
			set(op.P1, f.fetch(p, f.stored[p].all))
		} else {
			set(op.P1, elsewhere)
		}

	case "MakeRecord":
		record := value{fields: make([]sources, op.P2)}
		for i := range record.fields {
			record.fields[i] = r.sources(op.P1+i, 1)
		}
		r.set(op.P3, record)
	case "Column":
		set(op.P3, f.column(op.P1, op.P2, r))
	case "IdxRowid", "Rowid":
		set(op.P2, f.row(op.P1, r).sources())
	case "VColumn":
		set(op.P3, elsewhere)
	case "RowData", "SorterData":
		r.set(op.P2, f.row(op.P1, r))
	case "IdxInsert", "Insert", "SorterInsert":
		if c := f.cursor(op.P1); c.own {
			f.store(position{cursor: c.of}, r.get(op.P2))
		}
	}
}
