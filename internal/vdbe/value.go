package vdbe

import "slices"

// A position is something that a value may depend on: the row of a cursor, or the rows in an
// aggregate's accumulator. Positions are numbered per program.
type position struct {
	cursor      int
	field       int // of a row in a table of the statement's own: the first one that depends on the same, see [flow.field]
	accumulator int // register; 0 for a cursor
}

// sources is a set of positions that a value depends on as they are now. The last bit
// stands for all other secrets: rows of an earlier position, parameters of the statement,
// virtual tables.
type sources uint64

const (
	elsewhere    sources = 1 << 63
	maxPositions         = 63
)

// A value holds the sources of the content of a register: of all of it, and of the
// fields of a record.
type value struct {
	all    sources
	fields []sources // never changed, since values share them
}

// field returns the sources of a field of a record.
func (v value) field(i int) sources {
	if i < len(v.fields) {
		return v.all | v.fields[i]
	}
	return v.all
}

// sources returns the sources of everything in the register.
func (v value) sources() sources {
	s := v.all
	for _, f := range v.fields {
		s |= f
	}
	return s
}

// covers reports whether the union of both values is v.
func (v value) covers(w value) bool {
	if w.all&^v.all != 0 || len(w.fields) > len(v.fields) {
		return false
	}
	for i, f := range w.fields {
		if f&^v.fields[i] != 0 {
			return false
		}
	}
	return true
}

// union returns the value that depends on the sources of both.
func (v value) union(w value) value {
	if len(v.fields) < len(w.fields) {
		v, w = w, v
	}
	all := value{all: v.all | w.all, fields: v.fields}
	if len(w.fields) > 0 {
		all.fields = slices.Clone(v.fields)
		for i, f := range w.fields {
			all.fields[i] |= f
		}
	}
	return all
}

// moved returns the value after the position s has moved on: it now depends on an earlier
// position where it depended on s.
func (v value) moved(s sources) value {
	if v.sources()&s == 0 {
		return v
	}
	old := func(f sources) sources {
		if f&s == 0 {
			return f
		}
		return f&^s | elsewhere
	}
	w := value{all: old(v.all), fields: make([]sources, len(v.fields))}
	for i, f := range v.fields {
		w.fields[i] = old(f)
	}
	return w
}

// registers are the values in the registers of a program. Registers that are not stored depend on
// nothing.
type registers []value

func (r registers) get(i int) value {
	if i < len(r) {
		return r[i]
	}
	return value{}
}

func (r *registers) set(i int, v value) {
	if i >= len(*r) {
		if v.all == 0 && len(v.fields) == 0 {
			return
		}
		*r = append(*r, make(registers, i+1-len(*r))...)
	}
	(*r)[i] = v
}

// add adds the sources of a value to register i, and reports whether that has any that are new.
func (r *registers) add(i int, v value) (more bool) {
	old := r.get(i)
	if more = !old.covers(v); more {
		r.set(i, old.union(v))
	}
	return more
}

// copy copies n registers, which may overlap.
func (r *registers) copy(from, to, n int) {
	values := make(registers, n)
	for i := range values {
		values[i] = r.get(from + i)
	}
	for i, v := range values {
		r.set(to+i, v)
	}
}

// sources returns the sources of n registers.
func (r registers) sources(first, n int) (s sources) {
	for i := first; i < len(r) && i-first < n; i++ {
		s |= r[i].sources()
	}
	return s
}

// read returns the sources of operands.
func (r registers) read(op *Op, of operands) (s sources) {
	for first, n := range op.registers(of) {
		s |= r.sources(first, n)
	}
	return s
}

// write stores a value in all registers of operands.
func (r *registers) write(op *Op, to operands, v value) {
	for first, n := range op.registers(to) {
		for i := range n {
			r.set(first+i, v)
		}
	}
}

// copyAll copies the registers that an instruction copies.
func (r *registers) copyAll(op *Op) {
	for from, n := range op.registers(op.code().reads) {
		r.copy(from, op.P2, n)
	}
}

// pack returns the record that an instruction makes of registers.
func (r registers) pack(op *Op) value {
	record := value{fields: make([]sources, op.P2)}
	for i := range record.fields {
		record.fields[i] = r.sources(op.P1+i, 1)
	}
	return record
}

// A state is the knowledge before an instruction.
type state struct {
	registers
	behind sources // cursors of indexes that have moved on while the cursor that follows them has not
}
