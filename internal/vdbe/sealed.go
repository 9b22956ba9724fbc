package vdbe

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A Layout tells which sealed values the records of a table or an index hold.
type Layout struct {
	Index  string     // the name of the index; "" for a table
	Fields [][]string // the names of the columns that each field comes from, nothing for a public field
	Order  []string   // the names of the columns that decide which records an index has, and in which order
}

// Sealing tells which values are sealed, and how they may be used. Names of functions are in lower case.
type Sealing struct {
	Layout    func(database, root int) Layout // of the table or index with a root page
	Opens     func(function string) bool      // whether a function takes sealed values, and its answer is not sealed
	Keeps     func(function string) bool      // whether it answers a sealed value
	Arguments func(function string) int       // the most arguments that a call of a function with any number of them has; 0 if that is not known
	Foreign   bool                            // whether virtual tables may be others than the tables of functions that open
}

// A UseKind is a kind of use of a sealed value.
type UseKind int

// Each use has a name: of the function, the operator or the index.
const (
	UseFunction  UseKind = iota
	UseAggregate         // also as a window function
	UseOperator          // an operator that computes: +, AND, CAST
	UseEqual             // a comparison by =, <>, IN and the like
	UseLess              // a comparison by <, BETWEEN and the like
	UseCondition         // a value that is taken for true or false, or for a number of rows
	UseOrder             // the order, or the groups, of rows
	UseSet               // a set of different rows
	UseIndex             // the order of an index, or which rows are in it
	UseVirtual           // the argument of a virtual table
)

// A Use is an instruction that uses sealed values as if they were the hidden values.
type Use struct {
	Kind    UseKind
	Name    string   // of the function or the index, or the operator
	Columns []string // the names of the sealed columns that the values come from
	Results []int    // the columns of the result that are computed from its outcome
}

// SealedUses returns where the program does with a sealed value anything but these: keep, copy and
// return it; pass it to a function that opens it; test whether it is NULL, and ask for its type
// or length, or count it. No run of the program does so anywhere else.
//
// # Why nothing is missed
//
// A value is sealed if it was read from a sealed column, or copied from such a value. Copies are
// followed through registers along the paths of a loose [graph], on which every run goes, and
// through tables: by fields in those of the statement's own, as sorters and subqueries have, and
// in tables that the statement writes, whatever the order in which the instructions run. Values
// passed to triggers are followed into their programs. Each instruction either is known to do no
// more than that, or is reported as soon as a register that it reads may
// hold a sealed value, or a key by which it looks up or orders rows may. An unknown instruction,
// or one with operands that are not understood, is an error.
//
// Where SQLite orders or selects rows without an instruction, by walking along an index, every walk
// along an index is a use if the order or choice of its rows depends on a sealed column.
//
// The order of rows that the statement does not ask for may depend on anything: an automatic index
// gives rows in the order of all fields that it holds.
//
// A report may be wrong where two paths meet that no run takes one after the other, where a
// function takes any number of arguments and it is not known how many, and for walks along an
// index for another reason than its order. Values that another statement has stored in a public
// column are not known to be sealed.
func (p Program) SealedUses(s Sealing) ([]Use, error) {
	a := &sealed{Sealing: s, bits: map[string]int{}, layouts: map[[2]int]Layout{}, roots: map[[2]int]value{}, at: map[place]int{}}
	touched := false
	for i, part := range p.parts() {
		sp := &sealedPart{number: i, stored: map[int]value{}, cursors: cursorsOf(part), keys: keysOf(part)}
		sp.graph = &graph{program: part}
		a.parts = append(a.parts, sp)
		for _, c := range sp.cursors {
			for root := range c.tables {
				a.layouts[root] = s.Layout(root[0], root[1])
				touched = touched || a.layouts[root].isSealed()
			}
		}
	}
	if !touched {
		return nil, nil
	}
	a.findCalls()
	for _, sp := range a.parts {
		g, err := newLooseGraph(sp.program)
		if err != nil {
			return nil, err
		}
		sp.graph = g
	}
	for a.grown = true; a.grown; {
		a.grown = false
		for _, sp := range a.parts {
			_, err := sp.propagate(func(n int, r *state) error { return a.apply(sp, sp.at[n], r) }, nil)
			if err != nil {
				return nil, err
			}
		}
	}
	return a.uses, nil
}

// isSealed reports whether a layout has sealed values.
func (l Layout) isSealed() bool {
	return len(l.Order) > 0 || slices.ContainsFunc(l.Fields, func(f []string) bool { return len(f) > 0 })
}

// parts returns the program of the statement and those of its triggers, which EXPLAIN lists behind it.
func (p Program) parts() (list []Program) {
	from := 0
	for i := 1; i <= len(p); i++ {
		if i == len(p) || p[i].code().next == enters {
			list, from = append(list, p[from:i]), i
		}
	}
	return list
}

// sealed follows sealed values. The sources of a value are bits: the first are of sealed columns,
// the others of uses that its computation depends on.
type sealed struct {
	Sealing
	names   [][]string     // of the sealed columns, by bit
	bits    map[string]int // of the sealed columns
	layouts map[[2]int]Layout
	parts   []*sealedPart
	roots   map[[2]int]value // the values that the statement stores in tables
	uses    []Use
	at      map[place]int // the uses, by where they are
	grown   bool
}

// A sealedPart is the program of the statement or that of a trigger.
type sealedPart struct {
	*graph
	cursors
	number int
	called map[int][]*sealedPart // by the instruction that calls them
	stored map[int]value         // the content of a table of its own, by its first cursor, or of a virtual one
	keys   map[int]int           // of the tables of its own that are ordered: how many fields are their key, by their cursors
	passed registers             // the values that a trigger is passed
	sorted map[int]bool          // the tables of its own with rows that are read in their order; nil before that matters
}

// A place is an instruction with one kind of use that it makes of a sealed value.
type place struct {
	part, at int
	kind     UseKind
}

const (
	columnBits           = 48
	anySealed    sources = 1<<columnBits - 1
	numberedUses         = 63 - columnBits
	noNumber     sources = 1 << 63 // of all further uses
)

// bit returns the sources of a sealed column. The last one is that of all further columns.
func (a *sealed) bit(column string) sources {
	i, known := a.bits[column]
	if !known {
		i = min(len(a.names), columnBits-1)
		if i == len(a.names) {
			a.names = append(a.names, nil)
		}
		a.names[i] = append(a.names[i], column)
		a.bits[column] = i
	}
	return 1 << i
}

func (a *sealed) columnBits(columns []string) (s sources) {
	for _, c := range columns {
		s |= a.bit(c)
	}
	return s
}

// use records that an instruction uses values, if they may be sealed. It returns the sources of
// the result.
func (a *sealed) use(sp *sealedPart, at int, kind UseKind, name string, s sources) sources {
	found := s & anySealed
	s &^= anySealed
	if found == 0 {
		return s
	}
	where := place{sp.number, at, kind}
	i, known := a.at[where]
	if !known {
		i = len(a.uses)
		a.at[where] = i
		a.uses = append(a.uses, Use{Kind: kind, Name: name})
		a.grown = true
	}
	u := &a.uses[i]
	for ; found != 0; found &= found - 1 {
		for _, c := range a.names[bits.TrailingZeros64(uint64(found))] {
			if !slices.Contains(u.Columns, c) {
				u.Columns = append(u.Columns, c)
			}
		}
	}
	return s | useBit(i)
}

// useBit returns the sources of the outcome of a use.
func useBit(i int) sources {
	if i < numberedUses {
		return 1 << (columnBits + i)
	}
	return noNumber
}

// returns records which uses a column of the result is computed from.
func (a *sealed) returns(column int, s sources) {
	for i := range min(len(a.uses), numberedUses) {
		if u := &a.uses[i]; s&useBit(i) != 0 && !slices.Contains(u.Results, column) {
			u.Results = append(u.Results, column)
		}
	}
}

// keysOf returns how many fields are the key of each ordered table of the program's own.
func keysOf(p Program) map[int]int {
	keys := map[int]int{}
	for i := range p {
		switch op := &p[i]; op.code().cursor {
		case opensOwn, opensSorter:
			if n := op.keyFields(); n > 0 {
				keys[op.P1] = max(keys[op.P1], n)
			}
		}
	}
	return keys
}

// keyFields returns the number of fields of the key in P4, which is given as k(n,...): 0 if there is
// none. For a sorter, P3 may say that fewer are compared.
func (op *Op) keyFields() int {
	rest, found := strings.CutPrefix(op.P4, "k(")
	if !found {
		if op.code().cursor == opensSorter {
			return math.MaxInt
		}
		return 0
	}
	text, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(strings.TrimSuffix(text, ")"))
	if err != nil {
		return math.MaxInt
	}
	if op.code().cursor == opensSorter && op.P3 > 0 {
		n = min(n, op.P3)
	}
	return n
}

// findCalls finds the programs that each Program instruction may call. EXPLAIN lists a program
// once, in the order of the first instructions that call them. If each is called by one
// instruction, these are in the same order. Otherwise any may call any.
func (a *sealed) findCalls() {
	type call struct {
		part *sealedPart
		at   int
	}
	var calls []call
	for _, sp := range a.parts {
		sp.called = map[int][]*sealedPart{}
		for at := range sp.program {
			if sp.program[at].code().effect == firesTrigger {
				calls = append(calls, call{sp, at})
			}
		}
	}
	triggers := a.parts[1:]
	for i, c := range calls {
		c.part.called[c.at] = triggers
		if len(calls) == len(triggers) {
			c.part.called[c.at] = triggers[i : i+1]
		}
	}
}

// field returns the sources of a field of a cursor's record.
func (a *sealed) field(sp *sealedPart, cursor, field int, r *state) sources {
	c := sp.cursor(cursor)
	s := sp.stored[c.of].field(field)
	if c.pseudo != 0 {
		s |= r.get(c.pseudo).field(field)
	}
	for root := range c.tables {
		s |= a.roots[root].field(field)
		if l := a.layouts[root]; field < len(l.Fields) {
			s |= a.columnBits(l.Fields[field])
		}
	}
	return s
}

// record returns the whole record of a cursor.
func (a *sealed) record(sp *sealedPart, cursor int, r *state) value {
	c := sp.cursor(cursor)
	n := 0
	v := sp.stored[c.of]
	if c.pseudo != 0 {
		v = v.union(r.get(c.pseudo))
	}
	for root := range c.tables {
		v = v.union(a.roots[root])
		n = max(n, len(a.layouts[root].Fields))
	}
	whole := value{all: v.all, fields: make([]sources, max(n, len(v.fields)))}
	for i := range whole.fields {
		whole.fields[i] = a.field(sp, cursor, i, r)
	}
	return whole
}

// store adds a record to the tables of a cursor.
func (a *sealed) store(sp *sealedPart, cursor int, v value) {
	c := sp.cursor(cursor)
	for root := range c.tables {
		if old := a.roots[root]; !old.covers(v) {
			a.roots[root] = old.union(v)
			a.grown = true
		}
	}
	if len(c.tables) == 0 {
		if old := sp.stored[c.of]; !old.covers(v) {
			sp.stored[c.of] = old.union(v)
			a.grown = true
		}
	}
}

// firstFields returns the sources of the first n fields of a record.
func (v value) firstFields(n int) sources {
	s := v.all
	for i := 0; i < len(v.fields) && i < n; i++ {
		s |= v.fields[i]
	}
	return s
}

// key returns the sources of the n fields of a cursor's records by which it looks up rows. A
// table is looked up by its row number.
func (a *sealed) key(sp *sealedPart, cursor, n int, r *state) sources {
	c := sp.cursor(cursor)
	for root := range c.tables {
		if a.layouts[root].Index != "" {
			return a.record(sp, cursor, r).firstFields(n)
		}
	}
	if len(c.tables) > 0 {
		return 0
	}
	return a.record(sp, cursor, r).firstFields(n)
}

// lookedUp returns the sources of the key, in some registers or in a record in one, with which an
// instruction looks rows up, and the kind of use.
func (a *sealed) lookedUp(sp *sealedPart, op *Op, r *state) (s sources, kind UseKind) {
	n := op.keyLength()
	if op.P4 == "0" { // a record
		n = max(len(r.get(op.P3).fields), 1)
	}
	s = r.read(op, key) | a.key(sp, op.P1, n, r)
	if c := sp.cursor(op.P1); c.own && sp.keys[c.of] > 0 {
		return s, sp.keyUse(c)
	}
	return s, UseEqual
}

// compared returns the sources of the values that Compare compares. An instruction before it may say which
// of the registers.
func (a *sealed) compared(sp *sealedPart, at int, r *state) (s sources, err error) {
	op := &sp.program[at]
	const permuted = 1
	if op.P5&permuted == 0 {
		return r.read(op, op.code().decides), nil
	}
	if at == 0 || sp.program[at-1].code().effect != permutes {
		return 0, errNotUnderstood(op.Name)
	}
	order := &sp.program[at-1]
	list := strings.Split(strings.Trim(order.P4, "[]"), ",")
	if len(list) < op.P3 {
		return 0, errNotUnderstood(order.Name)
	}
	for _, text := range list[:op.P3] {
		i, err := strconv.Atoi(text)
		if err != nil {
			return 0, errNotUnderstood(order.Name)
		}
		s |= r.sources(op.P1+i, 1) | r.sources(op.P2+i, 1)
	}
	return s, nil
}

// call applies a call of a function with n arguments, which begin at a register. It returns the
// sources of its answer.
func (a *sealed) call(sp *sealedPart, at int, kind UseKind, first, n int, r *state) sources {
	name, declared := sp.program[at].function()
	if n == 0 {
		n = declared
	}
	if n == math.MaxInt {
		if most := a.Arguments(name); most > 0 {
			n = most
		}
	}
	s := r.sources(first, n)
	switch {
	case a.Keeps(name) || passOn[name]:
		return s
	case a.Opens(name) || asks[name]:
		return s &^ anySealed
	}
	return a.use(sp, at, kind, name, s)
}

// asks are SQLite's functions with answers about a sealed value that do not depend on the hidden value.
var asks = set("count", "length", "octet_length", "typeof")

// passOn are SQLite's functions that answer one of their arguments without looking at it, or show
// its bytes, which nobody takes for the hidden value. Their answer is as sealed as the argument.
var passOn = set("first_value", "hex", "lag", "last_value", "lead", "likelihood", "likely", "nth_value", "quote", "substr", "substring", "unlikely")

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// apply applies the effects of an instruction to the registers, and records how it uses sealed
// values.
func (a *sealed) apply(sp *sealedPart, at int, r *state) error {
	op := &sp.program[at]
	code := op.code()
	if code.cursor.isStart() {
		for root := range sp.cursor(op.P1).tables {
			l := a.layouts[root]
			a.use(sp, at, UseIndex, l.Index, a.columnBits(l.Order))
		}
	}
	s, err := a.used(sp, at, r)
	set := func(s sources) { r.write(op, code.writes, value{all: s}) }
	switch code.effect {
	case sets, asksGroup:
		set(s)
	case clears, marks, counts, binds, readsRowid:
		set(0)
	case tells:
		s &^= anySealed
		for _, kind := range []UseKind{UseEqual, UseLess} {
			if i, found := a.at[place{sp.number, at - 1, kind}]; found {
				s |= useBit(i)
			}
		}
		set(s)
	case copies:
		r.copyAll(op)
	case callsFunction:
		set(a.call(sp, at, UseFunction, op.P2, 0, r))
	case stepsGroup, unstepsGroup:
		set(r.sources(op.P3, 1) | a.call(sp, at, UseAggregate, op.P2, op.P5, r))
	case packs:
		r.write(op, code.writes, r.pack(op))
	case readsField:
		set(a.field(sp, op.P1, op.P2, r))
	case readsVirtual:
		set(sp.stored[sp.cursor(op.P1).of].all)
	case readsRow:
		r.write(op, code.writes, a.record(sp, op.P1, r))
	case inserts, insertsKey, transfers:
		a.insert(sp, at, r)
	case filters:
		s := r.sources(op.P3+2, sp.program.filterArguments(at))
		if a.Foreign {
			s = a.use(sp, at, UseVirtual, "", s)
		}
		a.store(sp, op.P1, value{all: s &^ anySealed})
	case lists:
		set(a.record(sp, op.P1, r).firstFields(1))
	case firesTrigger:
		for _, trigger := range sp.called[at] {
			a.pass(trigger, op.P1, r)
		}
	case passes:
		r.write(op, code.writes, sp.passed.get(op.P1))
	case returnsRow:
		for i := range op.P2 {
			a.returns(i, r.sources(op.P1+i, 1))
		}
	}
	return err
}

// used records that an instruction uses the registers that it reads, or by which it decides. It returns the sources of the
// result.
func (a *sealed) used(sp *sealedPart, at int, r *state) (sources, error) {
	op := &sp.program[at]
	code := op.code()
	read := r.read(op, code.reads)
	use := func(kind UseKind, name string, s sources) sources { return a.use(sp, at, kind, name, s) }
	if code.operator != "" {
		return use(UseOperator, code.operator, read), nil
	}
	both := read | r.read(op, code.decides)
	switch code.use {
	case asCondition:
		return use(UseCondition, "", both), nil
	case asEqual:
		return use(UseEqual, "=", both), nil
	case asLess:
		return use(UseLess, "<", both), nil
	case asOrder:
		s, err := a.compared(sp, at, r)
		return use(UseOrder, "", s), err
	case asRecordOrder:
		return use(UseOrder, "", both|a.record(sp, op.P1, r).sources()), nil
	case asRemoved:
		// Only EXCEPT deletes from a set. Indexes forget the rows that are deleted.
		if c := sp.cursor(op.P1); c.own {
			return use(UseSet, "", both|a.key(sp, op.P1, sp.keys[c.of], r)), nil
		}
	case asKey:
		s, kind := a.lookedUp(sp, op, r)
		name := ""
		if kind == UseEqual {
			name = "="
		}
		return use(kind, name, s), nil
	}
	return read, nil
}

// insert stores the record that an instruction inserts, or the row of another cursor.
func (a *sealed) insert(sp *sealedPart, at int, r *state) {
	op := &sp.program[at]
	code := op.code()
	if code.effect == transfers {
		a.store(sp, op.P1, a.record(sp, op.P2, r))
		return
	}
	c, v := sp.cursor(op.P1), r.get(op.P2)
	if n := sp.keys[c.of]; c.own && n > 0 && code.effect == insertsKey {
		a.use(sp, at, sp.keyUse(c), "", v.firstFields(n))
	}
	a.store(sp, op.P1, v)
}

// keyUse returns the kind of use of the key of a table of the program's own.
func (sp *sealedPart) keyUse(c *cursor) UseKind {
	if sp.sorts(c.of) {
		return UseOrder
	}
	return UseSet
}

// sorts reports whether the rows of a table of the program's own are read in their order.
func (sp *sealedPart) sorts(table int) bool {
	if sp.sorted == nil {
		sp.sorted = map[int]bool{}
		for i := range sp.program {
			if op := &sp.program[i]; op.code().cursor == startsSorted {
				sp.sorted[sp.cursor(op.P1).of] = true
			}
		}
	}
	return sp.sorted[table]
}

// pass passes the registers from a first one on to a trigger. The first may be one that does not
// exist, since the trigger does not use all.
func (a *sealed) pass(trigger *sealedPart, first int, r *state) {
	for i := max(first, 0); i < len(r.registers); i++ {
		if trigger.passed.add(i-first, r.get(i)) {
			a.grown = true
		}
	}
}
