package vdbe

// meeting returns the graph in which nodes meet that differ in the past only, and its node for each node. It forgets which Once
// instructions have been run, and an address where nothing goes on there before another is stored in its register.
func (g *graph) meeting() (m *graph, of []int) {
	live := g.live()
	m = &graph{program: g.program}
	of = make([]int, len(g.at))
	numbers := map[string]int{}
	for n, at := range g.at {
		kept := way{}
		for k, address := range g.ways[n] {
			if alive := live[k]; alive != nil && alive[n] {
				kept[k] = address
			}
		}
		key := step{at, kept}.key()
		if _, known := numbers[key]; !known {
			numbers[key] = len(m.at)
			m.at, m.next = append(m.at, at), append(m.next, nil)
		}
		of[n] = numbers[key]
	}
	for n, next := range g.next {
		for _, to := range next {
			m.next[of[n]] = append(m.next[of[n]], of[to])
		}
	}
	return m, of
}

// live returns for each register with addresses before which nodes one matters: it follows the register from the instructions that
// go on there, backwards to where another one is stored.
func (g *graph) live() map[int][]bool {
	before := g.previous()
	all := map[int][]bool{}
	pending := map[int][]int{}
	for n := range g.at {
		switch op := g.op(n); op.code().next {
		case yields, returns, finishes:
			if all[op.P1] == nil {
				all[op.P1] = make([]bool, len(g.at))
			}
			all[op.P1][n] = true
			pending[op.P1] = append(pending[op.P1], n)
		}
	}
	for register, live := range all {
		for list := pending[register]; len(list) > 0; {
			n := list[len(list)-1]
			list = list[:len(list)-1]
			for _, m := range before[n] {
				op := g.op(m)
				next := op.code().next
				stores := op.P1 == register && (next == calls || next == prepares) || op.P2 == register && next == numbers
				if !live[m] && !stores {
					live[m] = true
					list = append(list, m)
				}
			}
		}
	}
	return all
}
