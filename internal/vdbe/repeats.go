package vdbe

import (
	"maps"
	"math"
	"strconv"
	"strings"
)

// Repeats reports whether it can prove the following: on the same data and with the same parameters, every run
// of the program that completes calls the functions that are neither pure nor idle
// equally often and with the same arguments, and opens virtual tables with the same
// arguments. A function is pure if it gives the same answer to the same arguments, and
// idle if its answers may vary and its calls have no effect; pure and idle report which
// functions are, by their names in lower case. A virtual table that is computed has the same rows for the same arguments, and opening
// it has no effect; computed reports which are, by the names that EXPLAIN gives them. Of such tables it is not proved that they are
// opened equally often or with the same arguments.
//
// # The proof
//
// Call varying every value that may differ between two runs: answers of functions that are not
// pure, columns of virtual tables that are not computed, and values computed from these. A decision is an instruction
// that chooses the next one. A decision by a varying value opens a region: the instructions
// on paths from it to the first one that all these paths have in common, its post-dominator.
// Two runs execute the instructions outside all regions in the same order, by induction on their number,
// as both complete: they part at such decisions only, and meet again behind their regions. If no call of
// a function that is neither pure nor idle is in a region, and the arguments of none vary, the calls are the same.
//
// Everything that an instruction in a region writes varies, since it is written more often in one run
// than in another: registers, and the rows of the statement's own tables with their number and their order.
// A cursor over such rows is loose: each value read from it varies, and each of its moves is a decision. Only a move to the first row
// is none where it is known that there is one.
//
// The varying values are computed as a least fixed point: of a register, what each instruction writes, which reaches the instructions
// that [definitions] tell. Where a table of the statement's own keeps rows by number, or
// sorts them by fields that do not vary, the rows and their order do not vary,
// although some of their fields do. So fields are followed one by one. Rows that
// are stored by a varying key make the cursors over their table loose, and varying arguments a cursor over a computed table.
//
// An unknown instruction, such as one of another version of SQLite, ends the proof
// as soon as anything varies. This also holds for triggers (Program), which have
// registers of their own.
func (p Program) Repeats(pure, idle, computed func(name string) bool) bool {
	a := &analysis{pure: pure, idle: idle, program: p, registers: map[int]map[int]fields{}, cursors: map[int]fields{}, roots: map[[3]int]fields{},
		loose: map[int]bool{}, hollow: map[int]bool{}, adrift: map[int]bool{}, causes: map[int][]int{}, tables: cursorsOf(p), uncertain: make([]bool, len(p)), decided: make([]bool, len(p)), computed: computedCursors(p, computed)}
	for a.changed = true; a.changed; {
		a.changed = false
		for i := range p {
			if !a.follow(i) {
				return false
			}
		}
	}
	return true
}

// fields is the set of fields of a record that vary, or everything. The last bit
// stands for all further fields.
type fields uint64

const everything = ^fields(0)

func field(i int) fields { return 1 << min(max(i, 0), 63) }

// firstFields returns the set of fields 0 to n-1.
func firstFields(n int) fields {
	if n > 63 {
		return everything
	}
	return field(n) - 1
}

// rootInRegister is a flag in P5: register P2 holds the root of a table that the
// statement creates.
const rootInRegister = 0x10

type analysis struct {
	pure    func(name string) bool
	idle    func(name string) bool
	program Program
	changed bool

	registers map[int]map[int]fields // the varying fields of each register, by the instruction that writes them; nothing if absent
	cursors   map[int]fields         // by cursor
	roots     map[[3]int]fields      // of tables, which several cursors may share

	decided   []bool        // of instructions: decisions by a varying value
	uncertain []bool        // of instructions: in a region
	loose     map[int]bool  // of cursors: which rows there are varies
	hollow    map[int]bool  // of cursors: whether there is any row varies
	causes    map[int][]int // of instructions: the decisions with regions that have them
	adrift    map[int]bool  // of cursors: which row they stand on varies
	tables    cursors
	computed  map[int]bool // of cursors: they are over computed tables only
	regions   *regions     // nil until there is a decision
	written   *definitions // nil until anything varies
}

func grow[K comparable](a *analysis, of map[K]fields, k K, f fields) {
	if f &^= of[k]; f != 0 {
		of[k] |= f
		a.changed = true
	}
}

// write records that fields of a register vary that instruction i has written.
func (a *analysis) write(i, register int, f fields) {
	if f == 0 || register == 0 { // 0 is none
		return
	}
	if a.registers[register] == nil {
		a.registers[register] = map[int]fields{}
	}
	grow(a, a.registers[register], i, f)
}

// vary records that a register varies that instruction i has written, if yes.
func (a *analysis) vary(i, register int, yes bool) {
	if yes {
		a.write(i, register, everything)
	}
}

// read returns the fields of a register that vary where instruction i reads it.
func (a *analysis) read(i, register int) (f fields) {
	for at, written := range a.registers[register] {
		if a.definitions().has(i, definition{at, register}) {
			f |= written
		}
	}
	return f
}

func (a *analysis) definitions() *definitions {
	if a.written == nil {
		a.written = newDefinitions(a.program)
	}
	return a.written
}

// varies reports whether any of n registers varies where instruction i reads them.
func (a *analysis) varies(i, first, n int) bool {
	for r := range a.registers {
		if r >= first && r-first < n && a.read(i, r) != 0 {
			return true
		}
	}
	return false
}

// varying reports whether any register of operands of instruction i varies.
func (a *analysis) varying(i int, of operands) bool {
	if len(a.registers) == 0 {
		return false // nor is it asked how many arguments there are
	}
	for first, n := range a.program[i].registers(of) {
		if of == arguments {
			n = a.program.arguments(i)
		}
		if a.varies(i, first, n) {
			return true
		}
	}
	return false
}

// follow applies the effects of instruction i. It reports false if the instruction
// ends the proof.
func (a *analysis) follow(i int) bool {
	op := &a.program[i]
	code := op.code()
	if code.next == refused || code.limits&noRepeat != 0 {
		return a.nothingVaries()
	}
	a.open(op)
	return a.decide(i) && a.loosen(i) && a.compute(i)
}

// compute follows the values that an instruction computes.
func (a *analysis) compute(i int) bool {
	op := &a.program[i]
	code := op.code()
	name, _ := op.function()
	write := func(yes bool) {
		for first := range op.registers(code.writes) {
			a.vary(i, first, yes)
		}
	}
	switch code.effect {
	case sets, tells:
		write(a.varying(i, code.reads))
	case admits:
		write(a.varying(i, code.decides))
	case copies:
		for from, n := range op.registers(code.reads) {
			for k := range n {
				a.write(i, op.P2+k, a.read(i, from+k))
			}
		}
	case marks:
		// Whether the row is the extreme one depends on the values of the step behind it, and of those before.
		if op.P1 != 0 {
			step := min(i+1, len(a.program)-1)
			a.vary(i, op.P1, a.varying(step, arguments|p3))
			return a.program[step].code().effect == stepsGroup || a.nothingVaries()
		}
	case callsFunction, stepsGroup, unstepsGroup:
		varying := a.varying(i, code.reads)
		write(varying || !a.pure(name))
		return !varying || a.pure(name) || a.idle(name)
	case endsGroup:
		write(!a.pure(name))
	case asksGroup:
		// The answer of a window function to a row depends on the steps up to it.
		write(!a.pure(name) || a.varying(i, code.reads))
	case filters:
		varying := a.varies(i, op.P3+2, a.program.filterArguments(i))
		if varying {
			a.loosenCursor(op.P1, true)
		}
		return !varying || a.computed[op.P1]
	case lists:
		write(a.cursors[op.P1] != 0)
	case readsVirtual:
		write(!a.computed[op.P1] || a.cursors[op.P1] != 0)
	case packs:
		for k := range op.P2 {
			if a.varies(i, op.P1+k, 1) {
				a.write(i, op.P3, field(k))
			}
		}
	case readsField:
		write(a.cursors[op.P1]&field(op.P2) != 0)
	case readsRowid:
		write(a.cursors[op.P1] == everything)
	case readsRow:
		a.write(i, op.P2, a.cursors[op.P1])
	case inserts:
		grow(a, a.cursors, op.P1, a.read(i, op.P2))
	case insertsKey:
		f := a.read(i, op.P2)
		if a.keyVaries(i) {
			f = everything // the order of the rows varies
		}
		grow(a, a.cursors, op.P1, f)
	}
	return true
}

// open records the kind of table that an instruction opens.
func (a *analysis) open(op *Op) {
	switch op.code().cursor {
	case opensVirtual:
		if !a.computed[op.P1] {
			grow(a, a.cursors, op.P1, everything)
		}
	case opensRecord: // which the register has at any time
		for _, f := range a.registers[op.P2] {
			grow(a, a.cursors, op.P1, f)
		}
	case opensCopy:
		grow(a, a.cursors, op.P1, a.cursors[op.P2])
		grow(a, a.cursors, op.P2, a.cursors[op.P1])
	case opensRead, opensWrite:
		root := [3]int{op.P3, op.P2, op.P5 & rootInRegister}
		grow(a, a.roots, root, a.cursors[op.P1])
		grow(a, a.cursors, op.P1, a.roots[root])
	}
}

// computedCursors returns the cursors that open computed tables and nothing else.
func computedCursors(p Program, computed func(name string) bool) map[int]bool {
	cursors, others := map[int]bool{}, map[int]bool{}
	for i := range p {
		switch op := &p[i]; {
		case op.code().cursor == opensVirtual && computed(op.P4):
			cursors[op.P1] = true
		case op.code().cursor.opensOrCloses() && op.code().cursor != closes:
			others[op.P1] = true
		}
	}
	maps.DeleteFunc(cursors, func(c int, _ bool) bool { return others[c] })
	return cursors
}

// nothingVaries reports whether nothing that an unknown instruction could read has been
// found to vary so far.
func (a *analysis) nothingVaries() bool { return len(a.registers) == 0 && len(a.cursors) == 0 }

// arguments returns the most arguments that the call at an instruction has. EXPLAIN does not tell how many there are of a
// function that takes any number, but SQLite writes each by an instruction at a lower address, or among the constants, from which
// Init goes on: so they are no more than the registers from P2 on, without a gap, that such instructions write.
func (p Program) arguments(at int) (n int) {
	if _, n = p[at].function(); n != math.MaxInt {
		return n
	}
	n = 0
	written := map[int]bool{}
	for i := range p {
		if i < at || p[0].code().next == enters && i >= p[0].P2 {
			for r, count := range p[i].registers(p[i].code().writes) {
				for k := range count {
					written[r+k] = true
				}
			}
		}
	}
	for written[p[at].P2+n] {
		n++
	}
	return n
}

// filterArguments returns the number of arguments of the VFilter at i, which the
// instruction before it sets.
func (p Program) filterArguments(i int) int {
	if i > 0 {
		if count := &p[i-1]; count.code().next == numbers && count.P2 == p[i].P3+1 {
			return count.P1
		}
	}
	return math.MaxInt
}

// decides reports whether any value by which instruction i decides varies.
func (a *analysis) decides(i int) bool {
	if op := &a.program[i]; op.code().effect == insertsKey {
		return op.code().decides != 0 && a.keyVaries(i)
	}
	return a.varying(i, a.program[i].code().decides)
}

// keyVaries reports whether any field varies by which a table sorts the record that instruction i inserts.
func (a *analysis) keyVaries(i int) bool {
	f := a.read(i, a.program[i].P2)
	return f != 0 && f&firstFields(a.sortedBy(i)) != 0
}

// sortedBy returns the number of leading fields by which a table sorts the record that instruction i inserts. A sorter
// compares as many as its opening instruction gives as k(n,...). Rows that are equal in these stay in the order of their
// insertion. Another table compares all, but all fields behind a number of its own sequence do not matter.
func (a *analysis) sortedBy(i int) int {
	cursor := a.program[i].P1
	for j := range a.program {
		op := &a.program[j]
		if op.code().cursor != opensSorter || op.P1 != cursor || op.P3 != 0 {
			continue
		}
		n, _, _ := strings.Cut(strings.TrimPrefix(op.P4, "k("), ",")
		if count, err := strconv.Atoi(strings.TrimSuffix(n, ")")); err == nil {
			return count
		}
	}
	by := a.definitions().writer(i, a.program[i].P2)
	if by < 0 {
		return math.MaxInt
	}
	record := &a.program[by]
	for k := 0; record.code().effect == packs && k < record.P2; k++ {
		if a.program.numbersRows(record.P1+k, cursor) {
			return k + 1
		}
	}
	return math.MaxInt
}

// numbersRows reports whether nothing writes a register but the sequence of a cursor, which never repeats a number.
func (p Program) numbersRows(register, cursor int) (only bool) {
	for i := range p {
		op := &p[i]
		for first, n := range op.registers(op.code().writes) {
			if first <= register && register < first+n {
				if op.code().cursor != changes || op.P1 != cursor {
					return false
				}
				only = true
			}
		}
	}
	return only
}
