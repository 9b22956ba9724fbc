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
// code behind Once is on no cycle. Data decides nothing else: a condition may go
// either way.
type graph struct {
	program Program
	wide    bool    // see newWideGraph
	loose   bool    // see newLooseGraph
	at      []int   // the instruction of each node
	next    [][]int // the nodes that may follow each node
	ways    []way   // to each node, but in newLoosestGraph
}

// maxNodes limits how long a program is followed, and maxWideNodes for a wide graph.
const (
	maxNodes     = 20_000
	maxWideNodes = 3_000
)

func (g *graph) limit() int {
	if g.wide {
		return maxWideNodes
	}
	return maxNodes
}

// A way maps registers to the addresses stored there, those of LEFT JOINs to whether a row has been found, and ^i to 0 once the
// Once instruction i has been run.
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

// A step is an instruction and the way there.
type step struct {
	at  int
	way way
}

// key returns a text that differs between any two steps.
func (s step) key() string {
	var b strings.Builder
	fmt.Fprint(&b, s.at, " ")
	for _, k := range slices.Sorted(maps.Keys(s.way)) {
		fmt.Fprintf(&b, "%d=%d ", k, s.way[k])
	}
	return b.String()
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
	number := func(s step, by *Op) (int, error) {
		if s.at < 0 || s.at >= len(p) {
			return 0, errNotUnderstood(by.Name)
		}
		key := s.key()
		n, known := numbers[key]
		if !known {
			if n = len(g.at); n == g.limit() {
				return 0, errTooLong
			}
			numbers[key] = n
			g.at, g.next, g.ways = append(g.at, s.at), append(g.next, nil), append(g.ways, s.way)
			pending = append(pending, s)
		}
		return n, nil
	}
	if _, err := number(step{0, way{}}, &Op{}); err != nil {
		return err
	}
	for done := 0; done < len(pending); done++ {
		steps, err := g.follow(pending[done])
		if err != nil {
			return err
		}
		for _, s := range steps {
			n, err := number(s, g.op(done))
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

// follow returns the steps that may follow an instruction.
func (g *graph) follow(s step) ([]step, error) {
	op, on := &g.program[s.at], step{s.at + 1, s.way}
	to := func(address int, w way) []step { return []step{{address, w}} }
	code := op.code()
	if code.limits&noPath != 0 && !g.wide {
		return nil, errNotUnderstood(op.Name)
	}
	switch code.next {
	case onwards:
		return []step{on}, nil
	case branchesAbove:
		if found, known := s.way[op.P1]; known {
			if w := s.way.without(op.P1); found > 0 {
				return to(op.P2, w), nil
			} else {
				return to(on.at, w), nil
			}
		}
		fallthrough
	case branches:
		if op.P2 > 0 {
			return []step{on, {op.P2, s.way}}, nil
		}
		return []step{on}, nil
	case jumps, enters:
		return to(op.P2, s.way), nil
	case jumpsThree:
		return []step{{op.P1, s.way}, {op.P2, s.way}, {op.P3, s.way}}, nil
	case skips:
		if g.loose {
			return []step{on, {op.P2, s.way}}, nil
		}
		if _, run := s.way[^s.at]; run {
			return to(op.P2, s.way), nil
		}
		return to(on.at, s.way.with(^s.at, 0)), nil
	case halts:
		return nil, nil

	case calls:
		return to(op.P2, s.way.with(op.P1, s.at)), nil
	case forgets:
		w := s.way
		for r := op.P2; r <= max(op.P2, op.P3); r++ {
			if _, stored := w[r]; stored {
				w = w.without(r)
			}
		}
		return to(on.at, w), nil
	case numbers:
		if g.program.returnsTo(op.P2) || g.program.finds(op.P2) {
			return to(on.at, s.way.with(op.P2, op.P1)), nil
		}
		return []step{on}, nil
	case returns:
		if from, stored := s.way[op.P1]; stored {
			return to(from+1, s.way.without(op.P1)), nil
		}
		if op.P3 != 0 {
			return []step{on}, nil
		}
	case prepares:
		w := s.way.with(op.P1, op.P3-1)
		if op.P2 != 0 {
			return to(op.P2, w), nil
		}
		return to(on.at, w), nil
	case yields:
		if from, stored := s.way[op.P1]; stored {
			return to(from+1, s.way.with(op.P1, s.at)), nil
		}
	case finishes:
		if from, stored := s.way[op.P1]; stored && g.program.yieldsAt(from) {
			return to(g.program[from].P2, s.way.with(op.P1, s.at-1)), nil // when resumed, it ends again
		}
	}
	return nil, errNotUnderstood(op.Name)
}

// returnsTo reports whether an instruction returns to the address in a register.
func (p Program) returnsTo(register int) bool {
	return p.has(func(op *Op) bool { return op.code().next == returns && op.P1 == register })
}

// finds reports whether a register tells if a LEFT JOIN has found a row: it is tested before a cursor leaves its rows, and nothing
// but numbers are stored there.
func (p Program) finds(register int) (finds bool) {
	for i := range p {
		op := &p[i]
		code := op.code()
		if code.next == branchesAbove && op.P1 == register && op.P3 == 0 && i+1 < len(p) && p[i+1].code().cursor == leavesRows {
			finds = true
			continue
		}
		for r := range op.defines() {
			if r == register && code.next != numbers {
				return false
			}
		}
	}
	return finds
}

// yieldsAt reports whether the instruction at an address yields.
func (p Program) yieldsAt(at int) bool { return at >= 0 && at < len(p) && p[at].code().next == yields }

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
	order, before := g.finished(), g.previous()
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

// previous returns the nodes before each node.
func (g *graph) previous() [][]int {
	before := make([][]int, len(g.at))
	for n, next := range g.next {
		for _, m := range next {
			before[m] = append(before[m], n)
		}
	}
	return before
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
