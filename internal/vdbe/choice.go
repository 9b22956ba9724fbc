package vdbe

import "slices"

// A choice is a decision by values between ways that write registers: CASE and the like. Where its ways meet again, each of
// these registers depends on its values, written or not. A decision whether there is a step at all, as WHERE
// makes it, is none: its ways do not meet before the next row, which writes the registers anew.
type choice struct {
	by      int   // a register behind the program's own, with the values of the decision on the way here
	written []int // registers that an instruction on one of the ways writes
}

// maxRegions limits how many nodes the regions of all decisions have.
const maxRegions = 1 << 21

// findChoices finds the choices of the graph by the nodes where their ways meet.
func (f *flow) findChoices() error {
	g, node := f.graph.meeting()
	r, err := newRegions(g)
	if err != nil {
		return err
	}
	f.choices, f.deciding = map[int][]choice{}, map[int]int{}
	meeting := map[int][]choice{}
	registers := f.program.registerCount()
	size := 0
	for n := range g.at {
		if f.comparison(g.at[n]) == nil {
			continue
		}
		nodes, join := r.ofNode(n)
		if size += len(nodes); size > maxRegions {
			return errTooLong
		}
		c := choice{}
		seen := map[int]bool{}
		for _, m := range nodes {
			op := g.op(m)
			for first, count := range op.registers(op.code().writes) {
				for i := first; i < first+count; i++ {
					if !seen[i] {
						seen[i] = true
						c.written = append(c.written, i)
					}
				}
			}
		}
		if join == len(g.at) || len(c.written) == 0 {
			continue
		}
		by, known := f.deciding[g.at[n]]
		if !known {
			by = registers + len(f.deciding)
			f.deciding[g.at[n]] = by
		}
		c.by = by
		meeting[join] = append(meeting[join], c)
	}
	for n := range f.at {
		if list := meeting[node[n]]; list != nil {
			f.choices[n] = list
		}
	}
	return nil
}

// comparison returns the instruction that compares the values by which the one at i decides where a run goes on; nil if it decides
// by none. Which values are NULL, and which rows there are, is public.
func (f *flow) comparison(i int) *Op {
	op := &f.program[i]
	code := op.code()
	switch {
	case !code.next.isBranch():
		return nil
	case code.decides == 0 && code.cursor == without: // it goes by the instruction before it
		op = &f.program[max(i-1, 0)]
	}
	if op.code().use == unused {
		return nil
	}
	return op
}

// decide remembers the values by which a node decides.
func (f *flow) decide(n int, s *state) {
	by, chooses := f.deciding[f.at[n]]
	if !chooses {
		return
	}
	op := f.comparison(f.at[n])
	code := op.code()
	from := s.read(op, code.decides)
	if code.use == asKey && code.cursor != probes {
		from |= f.row(op.P1, s).sources()
	}
	s.set(by, value{all: s.get(by).all | from})
}

// meet tells the registers before a node of the decisions with ways that meet there.
func (f *flow) meet(n int, s state) state {
	if f.choices[n] == nil {
		return s
	}
	s.registers = slices.Clone(s.registers)
	for _, c := range f.choices[n] {
		if from := s.get(c.by).all; from != 0 {
			s.set(c.by, value{})
			for _, r := range c.written {
				s.set(r, s.get(r).union(value{all: from}))
			}
		}
	}
	return s
}

// registerCount returns a number larger than that of any register of the program.
func (p Program) registerCount() (n int) {
	for i := range p {
		op := &p[i]
		for first, count := range op.registers(op.code().writes) {
			n = max(n, first+count)
		}
	}
	return n
}
