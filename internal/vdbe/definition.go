package vdbe

import "iter"

// A definition is an instruction that writes a register.
type definition struct{ at, register int }

// definitions tell which instructions may have written the content of a register: those from which a path leads to where it is
// read, without another one that always writes it. SQLite uses a register for one thing after another.
type definitions struct {
	numbers map[definition]int
	all     map[int][]int // the instructions that write each register
	reach   []bitSet      // by number, before each instruction; nil if all definitions reach everywhere
}

// maxDefining limits how many instructions a program has of which definitions are followed.
const maxDefining = 4_000

func newDefinitions(p Program) *definitions {
	d := &definitions{numbers: map[definition]int{}, all: map[int][]int{}}
	for i := range p {
		for r := range p[i].defines() {
			d.all[r] = append(d.all[r], i)
		}
	}
	if len(p) > maxDefining {
		return d
	}
	g, err := newLoosestGraph(p)
	if err != nil {
		return d
	}
	of := map[int][]int{} // numbers, by register
	for r, list := range d.all {
		for _, i := range list {
			of[r] = append(of[r], len(d.numbers))
			d.numbers[definition{i, r}] = len(d.numbers)
		}
	}
	d.propagate(g, of)
	return d
}

// defines returns the registers that the instruction writes or changes in place.
func (op *Op) defines() iter.Seq[int] {
	return func(yield func(int) bool) {
		code := op.code()
		if code.effect == countsDown && !yield(op.P1) {
			return
		}
		for first, n := range op.registers(code.writes) {
			for r := first; r < first+n; r++ {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// propagate follows the definitions on all paths.
func (d *definitions) propagate(g *graph, of map[int][]int) {
	d.reach = make([]bitSet, len(g.at))
	for i := range d.reach {
		d.reach[i] = make(bitSet, len(d.numbers)/64+1)
	}
	reached := make([]bool, len(g.at))
	for pending := []int{0}; len(pending) > 0; {
		i := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		after := append(bitSet{}, d.reach[i]...)
		op := g.op(i)
		for r := range op.defines() {
			if op.code().overwrites() {
				for _, k := range of[r] {
					after.clear(k)
				}
			}
			after.set(d.numbers[definition{i, r}])
		}
		for _, m := range g.next[i] {
			if d.reach[m].add(after) || !reached[m] {
				reached[m] = true
				pending = append(pending, m)
			}
		}
	}
}

// overwrites reports whether the instruction always writes its registers, with values that depend only on the values it reads:
// so not an accumulator.
func (c *opcode) overwrites() bool {
	switch c.effect {
	case sets, clears, tells, copies, counts, callsFunction, packs, readsField, readsVirtual, readsRowid, readsRow:
		return c.next == onwards || c.next == numbers || c.next == forgets
	}
	return false
}

// has reports whether the value of a definition may be there before an instruction.
func (d *definitions) has(at int, w definition) bool {
	return d.reach == nil || d.reach[at].has(d.numbers[w])
}

// writer returns the only instruction that may have written a register where the one at i reads it; -1 if there are several, or none.
func (d *definitions) writer(i, register int) int {
	only := -1
	for _, at := range d.all[register] {
		if !d.has(i, definition{at, register}) {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = at
	}
	return only
}

// A bitSet is a set of numbers.
type bitSet []uint64

func (b bitSet) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitSet) clear(i int)    { b[i/64] &^= 1 << (i % 64) }
func (b bitSet) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// add adds a set, and reports whether that changes anything.
func (b bitSet) add(other bitSet) (more bool) {
	for i, w := range other {
		more = more || w&^b[i] != 0
		b[i] |= w
	}
	return more
}
