package vdbe

// newWideGraph returns a graph that, unlike that of newGraph, knows the instructions of triggers, windows and statements that are
// not queries. It returns an error for any other. If it is large, it is that of newLooseGraph.
func newWideGraph(p Program) (*graph, error) {
	g := &graph{program: p, wide: true}
	if err := g.build(); err != errTooLong {
		return g, err
	}
	return newLooseGraph(p)
}

// newLooseGraph returns a wide graph that also has some paths that no run takes. Once goes either way
// wherever it stands, and if the graph is still large, it is that of newLoosestGraph.
func newLooseGraph(p Program) (*graph, error) {
	g := &graph{program: p, wide: true, loose: true}
	if err := g.build(); err != errTooLong {
		return g, err
	}
	return newLoosestGraph(p)
}

// newLoosestGraph returns a graph that has a node for each instruction, with its number. A subroutine
// may return to behind any of its calls, and a coroutine may go on behind any place where it stops.
func newLoosestGraph(p Program) (*graph, error) {
	g := &graph{program: p, at: make([]int, len(p)), next: make([][]int, len(p))}
	for i := range p {
		g.at[i] = i
		next, err := p.followLoosely(i)
		if err != nil {
			return nil, err
		}
		for _, n := range next {
			if n < 0 || n >= len(p) {
				return nil, errNotUnderstood(p[i].Name)
			}
		}
		g.next[i] = next
	}
	return g, nil
}

// followLoosely returns which instructions may follow one.
func (p Program) followLoosely(at int) ([]int, error) {
	op := &p[at]
	switch op.code().next {
	case branches, branchesAbove:
		if op.P2 > 0 {
			return []int{at + 1, op.P2}, nil
		}
		return []int{at + 1}, nil
	case onwards, forgets, numbers:
		return []int{at + 1}, nil
	case halts:
		return nil, nil
	case jumps, enters, calls:
		return []int{op.P2}, nil
	case jumpsThree:
		return []int{op.P1, op.P2, op.P3}, nil
	case skips:
		return []int{at + 1, op.P2}, nil
	case prepares:
		if op.P2 != 0 {
			return []int{op.P2}, nil
		}
		return []int{at + 1}, nil
	case returns:
		return p.returns(op), nil
	case finishes:
		return p.resumed(op.P1, func(yield int) bool { return !p.inCoroutine(yield, op.P1) }, func(yield *Op, _ int) int { return yield.P2 }), nil
	case yields:
		inside := p.inCoroutine(at, op.P1)
		next := p.resumed(op.P1, func(yield int) bool { return p.inCoroutine(yield, op.P1) != inside }, func(_ *Op, i int) int { return i + 1 })
		if !inside {
			// It begins the coroutine, or has found that it had ended.
			next = append(next, p.begins(op.P1)...)
			next = append(next, op.P2)
		}
		return next, nil
	}
	return nil, errNotUnderstood(op.Name)
}

// returns returns where a Return may go on.
func (p Program) returns(op *Op) (next []int) {
	for i := range p {
		switch from := &p[i]; from.code().next {
		case returns:
			if from == op && op.P3 != 0 {
				next = append(next, i+1) // a subroutine that was entered without a call
			}
		case calls:
			if from.P1 == op.P1 {
				next = append(next, i+1)
			}
		case numbers:
			if from.P2 == op.P1 {
				next = append(next, from.P1+1)
			}
		}
	}
	return next
}

// resumed returns where the Yield instructions of a coroutine's register lead, for which of holds.
func (p Program) resumed(register int, of func(yield int) bool, to func(yield *Op, at int) int) (next []int) {
	for i := range p {
		if op := &p[i]; op.code().next == yields && op.P1 == register && of(i) {
			next = append(next, to(op, i))
		}
	}
	return next
}

// begins returns where the coroutines of a register begin.
func (p Program) begins(register int) (next []int) {
	for i := range p {
		if op := &p[i]; op.code().next == prepares && op.P1 == register {
			next = append(next, op.P3)
		}
	}
	return next
}

// inCoroutine reports whether an instruction belongs to a coroutine of a register. Its instructions
// stand together, and the one that prepares it goes on behind them.
func (p Program) inCoroutine(at, register int) bool {
	return p.has(func(op *Op) bool {
		return op.code().next == prepares && op.P1 == register && op.P2 != 0 && op.P3 <= at && at < op.P2
	})
}
