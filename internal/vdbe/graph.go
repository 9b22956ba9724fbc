package vdbe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A graph holds every path that a run of a program may take. A node is an instruction
// together with the way there: the addresses that the program has stored in registers in
// order to go on there later, and the Once instructions that have been run. So a
// subroutine returns to where it was called from, a coroutine goes on where it stopped, and
// what stands behind Once is on no cycle. Data decides nothing else: a condition may go
// either way.
type graph struct {
	program Program
	loose   bool    // see newLooseGraph
	at      []int   // the instruction of each node
	next    [][]int // the nodes that may follow each node
}

// maxNodes limits how long a program is followed, and maxLooseNodes for a loose graph.
const (
	maxNodes      = 20_000
	maxLooseNodes = 3_000
)

func (g *graph) limit() int {
	if g.loose {
		return maxLooseNodes
	}
	return maxNodes
}

// A way maps registers to the addresses stored there, and ^i to 0 once the Once instruction
// i has been run.
type way map[int]int

func (w way) with(k, address int) way {
	w = maps.Clone(w)
	w[k] = address
	return w
}

func (w way) without(k int) way {
	w = maps.Clone(w)
	delete(w, k)
	return w
}

// key returns a text that differs between any two ways.
func (w way) key() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(w)) {
		fmt.Fprintf(&b, "%d=%d ", k, w[k])
	}
	return b.String()
}

// A step is an instruction and the way there.
type step struct {
	at  int
	way way
}

// newGraph follows a program from its first instruction. It returns an error for an
// instruction that is not understood.
func newGraph(p Program) (*graph, error) {
	g := &graph{program: p}
	return g, g.build()
}

func (g *graph) build() error {
	p := g.program
	numbers := map[string]int{}
	var pending []step
	number := func(s step) (int, error) {
		if s.at < 0 || s.at >= len(p) {
			return 0, errNotUnderstood("Goto")
		}
		key := fmt.Sprint(s.at, " ", s.way.key())
		n, known := numbers[key]
		if !known {
			if n = len(g.at); n == g.limit() {
				return 0, errTooLong
			}
			numbers[key] = n
			g.at, g.next = append(g.at, s.at), append(g.next, nil)
			pending = append(pending, s)
		}
		return n, nil
	}
	if _, err := number(step{0, way{}}); err != nil {
		return err
	}
	for done := 0; done < len(pending); done++ {
		steps, err := g.follow(pending[done])
		if err != nil {
			return err
		}
		for _, s := range steps {
			n, err := number(s)
			if err != nil {
				return err
			}
			g.next[done] = append(g.next[done], n)
		}
	}
	return nil
}

// op returns the instruction of a node.
func (g *graph) op(n int) *Op { return &g.program[g.at[n]] }

// follow returns what may follow an instruction.
func (g *graph) follow(s step) ([]step, error) {
	p := g.program
	op, on := &p[s.at], step{s.at + 1, s.way}
	to := func(address int, w way) []step { return []step{{address, w}} }
	switch op.Name {
	case "Halt":
		return nil, nil
	case "Goto", "Init":
		return to(op.P2, s.way), nil
	case "Jump":
		return []step{{op.P1, s.way}, {op.P2, s.way}, {op.P3, s.way}}, nil
	case "Once":
		if g.loose {
			return []step{on, {op.P2, s.way}}, nil
		}
		if _, run := s.way[^s.at]; run {
			return to(op.P2, s.way), nil
		}
		return to(on.at, s.way.with(^s.at, 0)), nil

	case "Gosub":
		return to(op.P2, s.way.with(op.P1, s.at)), nil
	case "BeginSubrtn", "Null": // a subroutine is entered without Gosub
		w := s.way
		for r := op.P2; r <= max(op.P2, op.P3); r++ {
			if _, stored := w[r]; stored {
				w = w.without(r)
			}
		}
		return to(on.at, w), nil
	case "Integer":
		if p.returnsTo(op.P2) {
			return to(on.at, s.way.with(op.P2, op.P1)), nil
		}
	case "Return":
		if from, stored := s.way[op.P1]; stored {
			return to(from+1, s.way.without(op.P1)), nil
		}
		if op.P3 == 0 {
			return nil, errNotUnderstood(op.Name)
		}
	case "InitCoroutine":
		w := s.way.with(op.P1, op.P3-1)
		if op.P2 != 0 {
			return to(op.P2, w), nil
		}
		return to(on.at, w), nil
	case "Yield":
		from, stored := s.way[op.P1]
		if !stored {
			return nil, errNotUnderstood(op.Name)
		}
		return to(from+1, s.way.with(op.P1, s.at)), nil
	case "EndCoroutine":
		from, stored := s.way[op.P1]
		if !stored || from < 0 || from >= len(p) || p[from].Name != "Yield" {
			return nil, errNotUnderstood(op.Name)
		}
		return to(p[from].P2, s.way.with(op.P1, s.at-1)), nil // when resumed, it ends again

	default:
		switch {
		case (branches[op.Name] || g.loose && looseBranches[op.Name]) && op.P2 > 0:
			return []step{on, {op.P2, s.way}}, nil
		case !branches[op.Name] && !straight[op.Name] && !(g.loose && (looseBranches[op.Name] || looseStraight[op.Name])):
			return nil, errNotUnderstood(op.Name)
		}
	}
	return []step{on}, nil
}

// returnsTo reports whether an instruction returns to the address in a register.
func (p Program) returnsTo(register int) bool {
	return p.has(func(op *Op) bool { return op.Name == "Return" && op.P1 == register })
}

// branches are the instructions that may go on at P2, unless it is 0.
var branches = set("DecrJumpZero", "ElseEq", "Eq", "Filter", "Found", "Ge", "Gt", "IdxGE", "IdxGT", "IdxLE", "IdxLT", "If", "IfEmpty",
	"IfNoHope", "IfNot", "IfNotOpen", "IfNotZero", "IfNullRow", "IfPos", "IsNull", "IsType", "Last", "Le", "Lt", "MustBeInt", "Ne", "Next",
	"NoConflict", "NotExists", "NotFound", "NotNull", "Prev", "Rewind", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid",
	"SequenceTest", "Sort", "SorterNext", "SorterSort", "VFilter", "VNext")

// straight are the instructions that go on at the next one.
var straight = set("Abortable", "Add", "AddImm", "Affinity", "AggFinal", "AggStep", "And", "BitAnd", "BitNot", "BitOr", "Blob", "Cast", "Close",
	"ClrSubtype", "CollSeq", "Column", "ColumnsUsed", "Compare", "Concat", "Copy", "Count", "CreateBtree", "CursorHint", "CursorLock",
	"CursorUnlock", "DeferredSeek", "Delete", "Divide", "Explain", "FilterAdd", "FinishSeek", "FkCheck", "Function", "GetSubtype", "HaltIfNull",
	"IdxDelete", "IdxInsert", "IdxRowid", "Insert", "Int64", "IntCopy", "IsTrue", "MakeRecord", "Move", "Multiply", "NewRowid", "Noop", "Not",
	"NullRow", "OffsetLimit", "OpenAutoindex", "OpenDup", "OpenEphemeral", "OpenPseudo", "OpenRead", "OpenWrite", "Or", "ParseSchema",
	"Permutation", "PureFunc", "ReadCookie", "Real", "RealAffinity", "ReleaseReg", "Remainder", "ReopenIdx", "ResetSorter", "ResultRow",
	"RowData", "Rowid", "SCopy", "SeekHit", "Sequence", "SetCookie", "SetSubtype", "ShiftLeft", "ShiftRight", "SoftNull", "SorterData",
	"SorterInsert", "SorterOpen", "String", "String8", "Subtract", "TableLock", "Trace", "Transaction", "TypeCheck", "VColumn", "VOpen",
	"Variable", "ZeroOrNull")

// looseBranches and looseStraight are further instructions of these kinds, for a loose graph.
var (
	looseBranches = set("FkIfZero", "IFindKey", "IfSizeBetween", "IfSmaller", "IncrVacuum", "Program", "RowSetRead", "RowSetTest", "SeekScan",
		"SorterCompare")
	looseStraight = set("AggInverse", "AggValue", "AutoCommit", "Checkpoint", "Clear", "Destroy", "DropIndex", "DropTable", "DropTrigger",
		"Expire", "FkCounter", "IntegrityCk", "JournalMode", "LoadAnalysis", "MaxPgcnt", "MemMax", "Offset", "Pagecount", "Param", "ResetCount",
		"RowCell", "RowSetAdd", "Savepoint", "SeekEnd", "SqlExec", "VBegin", "VCheck", "VCreate", "VDestroy", "VInitIn", "VRename", "VUpdate",
		"Vacuum")
)

func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// reaches reports whether a path of one node or more leads from a node behind one of from
// to one of to without crossing a barrier. A node of to that is a barrier is reached.
func (g *graph) reaches(from, to []int, barrier func(int) bool) bool {
	target := make([]bool, len(g.at))
	for _, n := range to {
		target[n] = true
	}
	seen := make([]bool, len(g.at))
	var pending []int
	visit := func(n int) {
		for _, m := range g.next[n] {
			if !seen[m] {
				seen[m] = true
				pending = append(pending, m)
			}
		}
	}
	for _, n := range from {
		visit(n)
	}
	for len(pending) > 0 {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if target[n] {
			return true
		}
		if !barrier(n) {
			visit(n)
		}
	}
	return false
}

// none is the barrier that nothing is.
func none(int) bool { return false }

// components numbers the strongly connected components of the graph that have a cycle. Two
// nodes have the same number if each can be reached from the other. A node on no cycle has -1.
func (g *graph) components() []int {
	order := g.finished()
	before := make([][]int, len(g.at))
	for n, next := range g.next {
		for _, m := range next {
			before[m] = append(before[m], n)
		}
	}
	component := make([]int, len(g.at)) // 0: not seen
	size := []int{0}
	for i := len(order) - 1; i >= 0; i-- {
		if component[order[i]] != 0 {
			continue
		}
		number := len(size)
		size = append(size, 0)
		component[order[i]] = number
		for pending := []int{order[i]}; len(pending) > 0; {
			n := pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			size[number]++
			for _, m := range before[n] {
				if component[m] == 0 {
					component[m] = number
					pending = append(pending, m)
				}
			}
		}
	}
	for n, c := range component {
		if size[c] == 1 {
			component[n] = -1 // no instruction goes on at itself
		}
	}
	return component
}

// finished returns the nodes in the order in which a search in depth leaves them.
func (g *graph) finished() []int {
	var order []int
	entered := make([]int, len(g.at)) // how many next nodes have been looked at, and 1
	entered[0] = 1
	for path := []int{0}; len(path) > 0; {
		n := path[len(path)-1]
		if entered[n] > len(g.next[n]) {
			order = append(order, n)
			path = path[:len(path)-1]
			continue
		}
		m := g.next[n][entered[n]-1]
		entered[n]++
		if entered[m] == 0 {
			entered[m] = 1
			path = append(path, m)
		}
	}
	return order
}
