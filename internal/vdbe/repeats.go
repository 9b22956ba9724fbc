package vdbe

import (
	"math"
	"strconv"
	"strings"
)

// Repeats reports whether it can prove the following: on the same data, every run
// of the program that completes calls the functions that are neither pure nor idle
// equally often and with the same arguments, and opens virtual tables with the same
// arguments. A function is pure if it gives the same answer to the same arguments, and
// idle if its answers may vary and its calls have no effect; pure and idle report which
// functions are, by their names in lower case.
//
// # The proof
//
// Call varying what may differ between two runs: answers of functions that are not pure,
// columns of virtual tables, and what is computed from these. If no instruction
// that chooses the next instruction reads anything varying, two runs execute the same
// instructions in the same order, by induction on their number; and if the
// arguments of functions that are not idle do not vary either, the calls are the same.
//
// What varies is computed as a least fixed point without regard to the order of
// instructions: a register that varies anywhere varies everywhere, which errs on
// the safe side. Where a table of the statement's own keeps rows by number, or
// sorts them by fields that do not vary, the rows and their order do not vary,
// although some of their fields do. So fields are followed one by one. Rows that
// are stored or found by a varying key end the proof.
//
// An unknown instruction, such as one of another version of SQLite, ends the proof
// as soon as anything varies. This also holds for triggers (Program), whose
// registers are not those of the statement.
func (p Program) Repeats(pure, idle func(name string) bool) bool {
	a := &analysis{pure: pure, idle: idle, program: p, registers: map[int]fields{}, cursors: map[int]fields{},
		roots: map[[3]int]fields{}}
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

	registers map[int]fields    // what varies in each register; nothing if absent
	cursors   map[int]fields    // by cursor
	roots     map[[3]int]fields // of tables, which several cursors may share
}

func grow[K comparable](a *analysis, of map[K]fields, k K, f fields) {
	if f &^= of[k]; f != 0 {
		of[k] |= f
		a.changed = true
	}
}

// vary records that a register varies, if yes.
func (a *analysis) vary(register int, yes bool) {
	if yes {
		grow(a, a.registers, register, everything)
	}
}

// varies reports whether any of n registers varies.
func (a *analysis) varies(first, n int) bool {
	for r := range a.registers {
		if r >= first && r-first < n {
			return true
		}
	}
	return false
}

// same reports whether none of n registers varies.
func (a *analysis) same(first, n int) bool { return !a.varies(first, n) }

// follow applies the effects of instruction i. It reports false if the instruction
// ends the proof.
func (a *analysis) follow(i int) bool {
	op := &a.program[i]
	switch op.Name {
	case "Abortable", "AddImm", "Affinity", "BeginSubrtn", "Blob", "Cast", "Close", "ClrSubtype", "Count", "CreateBtree",
		"CursorHint", "CursorLock", "CursorUnlock", "DeferredSeek", "Delete", "ElseEq", "Explain", "FinishSeek", "FkCheck",
		"Gosub", "Goto", "Halt", "IdxRowid", "IfEmpty", "IfNullRow", "Init", "InitCoroutine", "Int64", "Integer", "Jump", "Last", "Next",
		"Noop", "Null", "NullRow", "Once", "OpenAutoindex", "OpenEphemeral", "ParseSchema", "Permutation", "Prev",
		"ReadCookie", "Real", "RealAffinity", "ReleaseReg", "ResetSorter", "ResultRow", "Rewind", "SeekHit", "SeekScan",
		"Sequence", "SetCookie", "SoftNull", "Sort", "SorterNext", "SorterOpen", "SorterSort", "String", "String8", "TableLock", "Trace",
		"Transaction", "VNext":
		// Their outcome depends only on the position of cursors and on constants.
		return true

	case "DecrJumpZero", "EndCoroutine", "If", "IfNot", "IfNotZero", "IfPos", "IsNull", "MustBeInt", "NotNull", "Return", "Yield":
		return a.same(op.P1, 1)
	case "HaltIfNull", "NotExists", "SeekRowid":
		return a.same(op.P3, 1)
	case "Eq", "Ge", "Gt", "Le", "Lt", "Ne", "OffsetLimit":
		return a.same(op.P1, 1) && a.same(op.P3, 1)
	case "Compare":
		return a.same(op.P1, op.P3) && a.same(op.P2, op.P3)
	case "Filter", "FilterAdd", "Found", "IdxGE", "IdxGT", "IdxLE", "IdxLT", "NoConflict", "NotFound",
		"SeekGE", "SeekGT", "SeekLE", "SeekLT":
		return a.same(op.P3, op.keyLength())
	case "IdxInsert":
		return a.same(op.P2, 1)
	case "NewRowid":
		return op.P3 == 0 || a.same(op.P3, 1)

	case "BitNot", "GetSubtype", "IntCopy", "IsTrue", "Not", "SetSubtype":
		a.vary(op.P2, a.varies(op.P1, 1))
	case "SCopy":
		grow(a, a.registers, op.P2, a.registers[op.P1])
	case "Copy":
		a.copy(op, op.P3+1)
	case "Move":
		a.copy(op, op.P3)
	case "Add", "And", "BitAnd", "BitOr", "Concat", "Divide", "Multiply", "Or", "Remainder", "ShiftLeft", "ShiftRight", "Subtract":
		a.vary(op.P3, a.varies(op.P1, 1) || a.varies(op.P2, 1))
	case "ZeroOrNull":
		a.vary(op.P2, a.varies(op.P1, 1) || a.varies(op.P3, 1))

	case "AggInverse", "AggStep", "Function", "PureFunc":
		name, n := op.function()
		varying := a.varies(op.P2, n)
		if !a.pure(name) {
			a.vary(op.P3, true)
			return !varying || a.idle(name)
		}
		a.vary(op.P3, varying)
	case "AggFinal":
		name, _ := op.function()
		a.vary(op.P1, !a.pure(name))
	case "AggValue":
		// The answer of a window function to a row depends on the steps up to it.
		name, _ := op.function()
		a.vary(op.P3, !a.pure(name) || a.varies(op.P1, 1))
	case "CollSeq":
		// If it has a register, the next step of min or max stores there whether its
		// row is the extreme one.
		return op.P1 == 0 || a.nothingVaries()

	case "VOpen":
		grow(a, a.cursors, op.P1, everything)
	case "VFilter":
		return a.same(op.P3+2, a.program.filterArguments(i))
	case "VColumn":
		a.vary(op.P3, true)

	case "MakeRecord":
		for k := range op.P2 {
			if a.varies(op.P1+k, 1) {
				grow(a, a.registers, op.P3, field(k))
			}
		}
	case "Column":
		a.vary(op.P3, a.cursors[op.P1]&field(op.P2) != 0)
	case "Rowid":
		a.vary(op.P2, a.cursors[op.P1] == everything)
	case "RowData", "SorterData":
		grow(a, a.registers, op.P2, a.cursors[op.P1])
	case "OpenPseudo":
		grow(a, a.cursors, op.P1, a.registers[op.P2])
	case "OpenDup":
		grow(a, a.cursors, op.P1, a.cursors[op.P2])
		grow(a, a.cursors, op.P2, a.cursors[op.P1])
	case "OpenRead", "OpenWrite", "ReopenIdx":
		root := [3]int{op.P3, op.P2, op.P5 & rootInRegister}
		grow(a, a.roots, root, a.cursors[op.P1])
		grow(a, a.cursors, op.P1, a.roots[root])
	case "Insert":
		grow(a, a.cursors, op.P1, a.registers[op.P2])
		return a.same(op.P3, 1)
	case "SorterInsert":
		f := a.registers[op.P2]
		if f&firstFields(a.sortedBy(op.P1)) != 0 {
			f = everything // the order of the rows varies
		}
		grow(a, a.cursors, op.P1, f)

	default:
		return a.nothingVaries()
	}
	return true
}

// nothingVaries reports whether nothing that an unknown instruction could read has been
// found to vary so far.
func (a *analysis) nothingVaries() bool { return len(a.registers) == 0 && len(a.cursors) == 0 }

func (a *analysis) copy(op *Op, n int) {
	for k := range n {
		grow(a, a.registers, op.P2+k, a.registers[op.P1+k])
	}
}

// filterArguments returns the number of arguments of the VFilter at i, which the
// instruction before it sets.
func (p Program) filterArguments(i int) int {
	if i > 0 {
		if count := &p[i-1]; count.Name == "Integer" && count.P2 == p[i].P3+1 {
			return count.P1
		}
	}
	return math.MaxInt
}

// keyLength returns the number of registers from P3 on that hold a key.
func (op *Op) keyLength() int {
	n, err := strconv.Atoi(op.P4)
	if err != nil || n < 0 {
		return math.MaxInt
	}
	return max(n, 1) // 0: a record in P3
}

// function returns the name and the number of arguments of a function, which P4 gives
// as name(n). A function that takes any number may read all registers from its first
// argument on.
func (op *Op) function() (name string, n int) {
	open := strings.LastIndexByte(op.P4, '(')
	if open < 0 || !strings.HasSuffix(op.P4, ")") {
		return "", math.MaxInt
	}
	n, err := strconv.Atoi(op.P4[open+1 : len(op.P4)-1])
	if err != nil || n < 0 {
		n = math.MaxInt
	}
	return strings.ToLower(op.P4[:open]), n
}

// sortedBy returns the number of leading fields that a sorter compares, which its opening
// instruction gives as k(n,...). Rows that are equal in these stay in the order of their
// insertion.
func (a *analysis) sortedBy(cursor int) int {
	for i := range a.program {
		op := &a.program[i]
		if op.Name != "SorterOpen" || op.P1 != cursor || op.P3 != 0 {
			continue
		}
		n, _, _ := strings.Cut(strings.TrimPrefix(op.P4, "k("), ",")
		if count, err := strconv.Atoi(strings.TrimSuffix(n, ")")); err == nil {
			return count
		}
	}
	return math.MaxInt
}
