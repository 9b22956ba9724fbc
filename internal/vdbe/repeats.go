package vdbe

import (
	"math"
	"strconv"
	"strings"
)

// Repeats reports whether it is proved that over the same data every run of the
// program, if it comes to its end, calls the impure functions equally often and
// with the same arguments, and opens virtual tables with the same arguments. A
// function is pure that answers the same to the same arguments; pure says which
// are, by their names in lower case.
//
// # The proof
//
// Call varying what may differ between two runs: answers of impure functions,
// columns of virtual tables, and what is computed from these. If no instruction
// that chooses the next one reads anything varying, two runs execute the same
// instructions in the same order, by induction on their number; and if the
// arguments of impure functions do not vary either, the calls are the same.
//
// What varies is computed as a least fixed point without regard to the order of
// instructions: a register that varies anywhere varies everywhere, which errs on
// the safe side. Where a table of the statement's own keeps rows by number, or
// sorts them by fields that do not vary, the rows and their order do not vary
// though some of their fields do. So fields are followed one by one. Rows that
// are kept or found by a varying key disprove.
//
// An instruction that is not known, of another version of SQLite, say, disproves
// as soon as anything varies at all. That also holds for triggers (Program),
// whose registers are not those of the statement.
func (p Program) Repeats(pure func(name string) bool) bool {
	a := &analysis{pure: pure, program: p, registers: map[int]fields{}, cursors: map[int]fields{},
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

// fields says what varies of a value: the fields of a record, or everything. The
// last bit stands for all further fields.
type fields uint64

const everything = ^fields(0)

func field(i int) fields { return 1 << min(max(i, 0), 63) }

// firstFields are fields 0 to n-1.
func firstFields(n int) fields {
	if n > 63 {
		return everything
	}
	return field(n) - 1
}

// rootInRegister is a flag in P5: the root of a table that the statement makes
// stands in register P2.
const rootInRegister = 0x10

type analysis struct {
	pure    func(name string) bool
	program Program
	changed bool

	registers map[int]fields    // not in it: nothing
	cursors   map[int]fields    // by cursor
	roots     map[[3]int]fields // of tables, which several cursors may share
}

func grow[K comparable](a *analysis, of map[K]fields, k K, f fields) {
	if f &^= of[k]; f != 0 {
		of[k] |= f
		a.changed = true
	}
}

// vary notes that the value of a register varies if yes.
func (a *analysis) vary(register int, yes bool) {
	if yes {
		grow(a, a.registers, register, everything)
	}
}

// varies reports whether one of n registers does.
func (a *analysis) varies(first, n int) bool {
	for r := range a.registers {
		if r >= first && r-first < n {
			return true
		}
	}
	return false
}

// same reports whether n registers do not vary.
func (a *analysis) same(first, n int) bool { return !a.varies(first, n) }

// follow takes instruction i into account. It reports false where that ends the
// proof.
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
		// Their outcome depends on the position of cursors and on constants only.
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
			return !varying
		}
		a.vary(op.P3, varying)
	case "AggFinal":
		name, _ := op.function()
		a.vary(op.P1, !a.pure(name))
	case "AggValue":
		// The answer of a window function to a row, of the steps up to it.
		name, _ := op.function()
		a.vary(op.P3, !a.pure(name) || a.varies(op.P1, 1))
	case "CollSeq":
		// With a register, the next step of min or max says there whether its row
		// is the extreme one.
		return op.P1 == 0 || a.known()

	case "VOpen":
		grow(a, a.cursors, op.P1, everything)
	case "VFilter":
		return a.same(op.P3+2, a.filterArguments(i))
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
			f = everything // which row is where varies
		}
		grow(a, a.cursors, op.P1, f)

	default:
		return a.known()
	}
	return true
}

// known reports whether nothing varies, so far, that an instruction could read
// which is not followed.
func (a *analysis) known() bool { return len(a.registers) == 0 && len(a.cursors) == 0 }

func (a *analysis) copy(op *Op, n int) {
	for k := range n {
		grow(a, a.registers, op.P2+k, a.registers[op.P1+k])
	}
}

// filterArguments is how many arguments the VFilter at i has: its count is set by
// the instruction before.
func (a *analysis) filterArguments(i int) int {
	if i > 0 {
		if count := &a.program[i-1]; count.Name == "Integer" && count.P2 == a.program[i].P3+1 {
			return count.P1
		}
	}
	return math.MaxInt
}

// keyLength is how many registers from P3 on hold a key.
func (op *Op) keyLength() int {
	n, err := strconv.Atoi(op.P4)
	if err != nil || n < 0 {
		return math.MaxInt
	}
	return max(n, 1) // 0: a record in P3
}

// function is the name and number of arguments of a function, which stand in P4
// as name(n). One that takes any number may read all registers from its first
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

// sortedBy is how many leading fields a sorter compares, which stand where it is
// opened, as k(n,...). Rows with equal ones stay in the order of their insertion.
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
