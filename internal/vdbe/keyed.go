package vdbe

import (
	"slices"
	"strings"
)

// A cursor may start over and over and still pass each row at most once, if each start finds rows by a key, and no two keys are equal:
// x IN (1, 2), or a join that looks a row up in the other order. No two keys are equal if one part of them is a field in which no
// two rows of another cursor are equal, and each row of that one leads to one start. Parts of a key may also be all fields of a list, in
// which no two rows are equal together: (x, y) IN (SELECT ..).

// keyed reports whether a cursor, which begins at some nodes, feeds others only by rows with a key that differs from start to start.
func (d *disjointness) keyed(cursor int, begins, feeding []int) bool {
	moves := d.with(cursor, advances, retreats)
	if len(begins) == 0 || d.keying[cursor] || !d.oneWay(cursor) || d.reaches(feeding, feeding, isIn(begins, moves)) {
		return false
	}
	d.keying[cursor] = true
	defer delete(d.keying, cursor)
	k := &keyPart{disjointness: d, cursor: cursor, begins: begins, moves: moves, feeding: feeding, left: d.with(cursor, leavesRows)}
	var sources []int // cursors with fields in the key in which no two rows are equal
	parts := map[int]uint64{}
	add := func(isPart bool) {
		if !isPart || !k.bounds() {
			return
		}
		if from, f, is := k.source(); is {
			if parts[from] |= 1 << f.at; parts[from] == 1<<f.of-1 {
				sources = append(sources, from)
			}
		}
	}
	start := d.op(begins[0])
	if !slices.ContainsFunc(begins, func(n int) bool { return d.op(n) != start }) && start.P1 == cursor {
		for part := range min(start.keyLength(), len(d.program)) {
			add(k.looksUp(start, part))
		}
	}
	for i := range d.program {
		op := &d.program[i]
		add(k.compares(op, op.P1, op.P3))
		add(k.compares(op, op.P3, op.P1))
	}
	return slices.ContainsFunc(sources, func(from int) bool {
		return k.startsOnce(from) || slices.ContainsFunc(sources, func(outer int) bool { return outer != from && k.startsOnceWhile(outer, from) })
	})
}

// A keyPart is a part of the key of a cursor, in a register.
type keyPart struct {
	*disjointness
	cursor                 int
	begins, moves, feeding []int // the cursor's, and the nodes that its rows feed
	left                   []int // where it comes to a row of NULLs, which is none of the table, and has no next one

	register int
	uses     []int // nodes that find or compare rows by it
	limits   []int // uses that go on where a row is equal to it; none if the cursor finds one row
	looked   bool  // whether the cursor starts by it, perhaps by NULL
	number   bool  // whether it is the number of a row
	converts byte  // to an affinity, by the comparison
	collates []string
}

// looksUp makes the part one of the key by which the cursor starts, with its rows on one side, until they are compared with the other end. It
// reports false if rows may not be equal in it.
func (k *keyPart) looksUp(start *Op, part int) bool {
	var ends []bound
	against := retreats
	switch start.code().bound {
	case exactly:
	case atLeast, above:
		ends = []bound{atMost, below}
	case atMost, below:
		ends, against = []bound{atLeast, above}, advances
	default:
		return false
	}
	if ends == nil && (part > 0 || len(k.moves) > 0) || ends != nil && !start.equalIn(part) || len(k.with(k.cursor, against)) > 0 {
		return false
	}
	k.limits = k.nodes(func(n int) bool {
		op := k.op(n)
		return op.P1 == k.cursor && op.code().cursor == usesIt && slices.Contains(ends, op.code().bound) && op.P3 == start.P3 && op.equalIn(part)
	})
	k.register, k.uses, k.looked, k.number, k.converts, k.collates = start.P3+part, slices.Concat(k.begins, k.limits), true, ends == nil, unconverted, nil
	if k.number {
		return true
	}
	for i := range k.program {
		op := &k.program[i]
		if role := op.code().cursor; op.P1 != k.cursor || !role.opensOrCloses() || role == closes {
			continue
		}
		name, known := op.collation(part)
		if !known {
			return false
		}
		k.collates = append(k.collates, name)
	}
	return true
}

// compares makes the part that in a register which an instruction compares with a value of the cursor's row in another, and goes on if they
// are equal.
func (k *keyPart) compares(op *Op, register, with int) bool {
	const ( // flags in P5
		jumpsIfNull, nullIsEqual = 0x10, 0x80
		affinity                 = 0x47
	)
	if op.code().bound != exactly || op.code().cursor != without || op.P5&(jumpsIfNull|nullIsEqual) != jumpsIfNull || op.P4 != "" && !strings.HasPrefix(op.P4, "BINARY-") || !k.cursors[k.cursor].stored() {
		return false
	}
	row := k.disjointness.number(position{cursor: k.cursor})
	k.limits = k.nodes(func(n int) bool { return k.op(n) == op })
	if slices.ContainsFunc(k.limits, func(n int) bool { return k.before[n].sources(with, 1)&^row != 0 || !k.computed(k.at[n], with, 8) }) {
		return false
	}
	k.register, k.uses, k.looked, k.number, k.converts, k.collates = register, k.limits, false, false, byte(op.P5&affinity), []string{binary}
	return len(k.limits) > 0
}

// computed reports whether a value that an instruction reads is computed from rows and constants in a few steps, so that it is the same
// whenever cursors stand on these rows: no number of a sequence, for one.
func (d *disjointness) computed(at, register, steps int) bool {
	w := d.written.writer(at, register)
	if w < 0 || steps == 0 {
		return false
	}
	op := &d.program[w]
	code := op.code()
	name, _ := op.function()
	switch {
	case code.effect == readsField || code.effect == readsRowid:
		return d.cursor(op.P1).stored()
	case code.effect != sets && code.effect != copies && (code.effect != callsFunction || !d.pure(name)) || code.cursor != without:
		return false
	}
	for first, n := range op.registers(code.reads) {
		if code.reads == arguments {
			n = d.program.arguments(w)
		}
		for r := range n {
			if !d.computed(w, first+r, steps-1) {
				return false
			}
		}
	}
	return true
}

// bounds reports whether only rows feed that are equal to the key in the part.
func (k *keyPart) bounds() bool {
	if !k.number && k.reaches(slices.Concat(k.moves, k.begins), k.feeding, isIn(k.limits, k.left)) {
		return false
	}
	anew := isIn(k.begins, k.moves, k.left)
	return !k.jumpsTo(k.limits, k.feeding, anew) && !k.jumpsTo(k.begins, k.feeding, anew)
}

// equalIn reports whether rows on the two sides of a key, up to the instruction's, are equal to it in a part.
func (op *Op) equalIn(part int) bool {
	n := op.keyLength()
	if b := op.code().bound; b == above || b == below {
		n-- // the last part may differ
	}
	return part < n
}

// isIn returns the barrier of all nodes in some lists.
func isIn(lists ...[]int) func(int) bool {
	return func(n int) bool {
		return slices.ContainsFunc(lists, func(list []int) bool { return slices.Contains(list, n) })
	}
}

// jumpsTo reports whether a path from where one of some branches jumps leads to a node of to without crossing a barrier.
func (d *disjointness) jumpsTo(branches, to []int, barrier func(int) bool) bool {
	for _, n := range branches {
		for _, m := range d.next[n] {
			if d.at[m] == d.op(n).P2 && (slices.Contains(to, m) || !barrier(m) && d.reaches([]int{m}, to, barrier)) {
				return true
			}
		}
	}
	return false
}

// source returns the cursor of which the part is a field, always of the row where that stands, if rows that differ in it are
// not equal as the part is compared.
func (k *keyPart) source() (from int, f differentField, is bool) {
	w := k.writer(k.uses[0], k.register)
	if w < 0 || slices.ContainsFunc(k.uses, func(n int) bool { return k.writer(n, k.register) != w }) {
		return 0, f, false
	}
	from = k.program[w].P1
	f, different := k.differentField(&k.program[w])
	if !different || from == k.cursor || !k.distinguishes(f) || !k.convertsNothing(w, f) {
		return 0, f, false
	}
	writes := k.nodes(func(n int) bool { return k.at[n] == w })
	moves := k.movesOf(from)
	switch {
	case k.reaches([]int{0}, k.uses, isIn(writes)), k.reaches(moves, k.uses, isIn(writes)): // the field is of an earlier row, or of none
		return 0, f, false
	case k.reaches(moves, slices.Concat(k.limits, k.feeding), isIn(k.begins, k.left)): // the end is that of another key
		return 0, f, false
	case f.null && k.looked && !k.number && !k.skipsNull(writes): // NULL is no number of a row
		return 0, f, false
	}
	return from, f, true
}

// startsOnce reports whether each row of a cursor leads to one start at most.
func (k *keyPart) startsOnce(from int) bool {
	if k.cursors[from].own {
		return k.movesBetween(position{cursor: from}, k.begins) && k.onePass(from, k.disjointness.begins(from))
	}
	return k.once(position{cursor: k.cursors[from].follows}, k.begins)
}

// startsOnceWhile reports whether each row of a cursor leads to one start at most while another one, which passes each of its rows once, stands still:
// the key has a field of each.
func (k *keyPart) startsOnceWhile(outer, from int) bool {
	outer, from = k.cursors[outer].follows, k.cursors[from].follows
	next := k.with(outer, advances, retreats)
	begins := k.disjointness.begins(from)
	return k.onePass(outer, k.disjointness.begins(outer)) && k.oneWay(from) &&
		!k.reaches(begins, begins, isIn(next)) && !k.reaches(k.begins, k.begins, isIn(next, k.with(from, advances, retreats)))
}

// writer returns the only instruction that may have written a register where a node reads it; -1 if there are several, or none.
func (d *disjointness) writer(n, register int) int { return d.written.writer(d.at[n], register) }

// movesOf returns the nodes at which a cursor comes to stand on another row, or may come to do so: those of its leader too.
func (d *disjointness) movesOf(cursor int) []int {
	leader := d.cursors[cursor].follows
	return d.nodes(func(n int) bool {
		op := d.op(n)
		role := op.code().cursor
		return (op.P1 == cursor || op.P1 == leader) && (role.moves() || role.opensOrCloses()) || role == leads && op.P3 == cursor
	})
}

// A differentField is a field in which no two rows of a cursor are equal, or one of several in which no two are together.
type differentField struct {
	at, of    int    // which one of how many
	affinity  byte   // of its values, as instructions name it; 0 if it is not known
	numbers   bool   // whether they are the numbers of rows
	collation string // by which they differ
	null      bool   // whether several may be NULL
}

// differentField returns the field that an instruction reads, if no two rows of its cursor are equal in it but by NULL.
func (d *disjointness) differentField(op *Op) (f differentField, different bool) {
	c := d.cursor(op.P1)
	f.of = 1
	f.null = len(d.with(op.P1, leavesRows)) > 0
	switch {
	case op.code().effect == readsRowid:
		f.affinity, f.numbers = integer, true
		return f, c.stored() && !d.writesAny(c)
	case op.code().effect != readsField:
		return f, false
	case c.own:
		f.at = op.P2
		return f, d.keepsFields(op.P1, &f)
	case !c.stored() || d.writesAny(c):
		return f, false
	}
	for root := range c.tables {
		t := d.btree(root)
		of := t.field(op.P2)
		if !of.Unique || f.affinity != 0 && f.affinity != of.Affinity {
			return f, false
		}
		f.affinity, f.null = of.Affinity, f.null || !of.NotNull
	}
	return f, true
}

// writesAny reports whether the statement writes a table that a cursor reads.
func (d *disjointness) writesAny(c *cursor) bool {
	for root := range c.tables {
		if d.writes(d.table(root)) {
			return true
		}
	}
	return false
}

// keepsFields reports whether the rows in a table of the statement's own are sorted, and so differ, by all fields that they have.
func (d *disjointness) keepsFields(cursor int, f *differentField) bool {
	of := d.cursors[cursor].of
	for i := range d.program {
		op := &d.program[i]
		if c := d.cursors[op.P1]; !op.code().cursor.opensOrCloses() || op.code().cursor == closes || c == nil || !c.own || c.of != of {
			continue
		}
		name, known := op.collation(f.at)
		if op.code().cursor != opensOwn || !known || f.collation != "" && (f.collation != name || f.of != op.keyFields()) {
			return false
		}
		f.collation, f.of = name, op.keyFields()
	}
	inserts := d.nodes(func(n int) bool { return d.insertsInto(n, of) })
	for i, n := range inserts {
		w := d.writer(n, d.op(n).P2)
		if w < 0 || d.op(n).code().effect != insertsKey || d.program[w].code().effect != packs || d.program[w].P2 != f.of {
			return false
		}
		affinity := byte(0)
		if list := d.program[w].P4; f.at < len(list) {
			affinity = list[f.at]
		}
		if i > 0 && affinity != f.affinity {
			return false
		}
		f.affinity = affinity
	}
	return f.collation != "" && f.of <= 32
}

// Affinities, as instructions name them.
const (
	unconverted = '@'
	blob        = 'A'
	text        = 'B'
	numeric     = 'C'
	integer     = 'D'
	floating    = 'E'
)

// isNumeric reports whether values that look like numbers are numbers.
func isNumeric(affinity byte) bool {
	return affinity == numeric || affinity == integer || affinity == floating
}

// distinguishes reports whether no row is equal to two values that differ.
func (k *keyPart) distinguishes(f differentField) bool {
	switch {
	case k.number:
		return isNumeric(f.affinity) // '1' and 1 are one number
	case k.converts != unconverted && !f.staysDifferent(k.converts):
		return false
	}
	return !slices.ContainsFunc(k.collates, func(name string) bool { return name != binary && name != f.collation })
}

// convertsNothing reports whether values that an instruction writes into the register of the part stay different on the way to the start.
func (k *keyPart) convertsNothing(w int, f differentField) bool {
	writes := k.nodes(func(n int) bool { return k.at[n] == w })
	others := k.defining(k.register)
	return len(k.nodes(func(n int) bool {
		op := k.op(n)
		to, changes := op.changes(k.register)
		twice := k.looked && k.reaches(k.begins, []int{n}, isIn(writes)) // and the end of the key is not its beginning
		return changes && (!f.staysDifferent(to) || twice) && k.reaches(writes, []int{n}, isIn(others))
	})) == 0
}

// defining returns the nodes that may write a register.
func (d *disjointness) defining(register int) []int {
	return d.nodes(func(n int) bool {
		for r := range d.op(n).defines() {
			if r == register {
				return true
			}
		}
		return false
	})
}

// changes reports whether an instruction changes the content of a register without writing it: by a conversion to an affinity, or by moving
// it away, for which there is none.
func (op *Op) changes(register int) (to byte, changes bool) {
	code := op.code()
	moves := code.effect == copies && code.reads == p1n3
	if code.effect != converts && !moves {
		return 0, false
	}
	for first, count := range op.registers(code.reads) {
		if register < first || register >= first+count {
			continue
		}
		switch {
		case moves:
			return 0, true
		case op.P4 == "":
			return floating, true
		}
		return op.P4[min(register-first, len(op.P4)-1)], true
	}
	return 0, false
}

// staysDifferent reports whether values differ after a conversion too.
func (f differentField) staysDifferent(to byte) bool {
	switch to {
	case blob:
		return true
	case text:
		return f.numbers || f.affinity == text
	case numeric, integer:
		return isNumeric(f.affinity)
	case floating:
		return f.affinity == floating && !f.numbers
	}
	return false
}

// skipsNull reports whether the cursor does not start by a part that is NULL.
func (k *keyPart) skipsNull(writes []int) bool {
	tests := k.nodes(func(n int) bool { return k.op(n).code().effect == testsNull && k.op(n).P1 == k.register })
	return !k.reaches(writes, k.begins, isIn(tests)) && !k.jumpsTo(tests, k.begins, isIn(writes))
}

// binary is the name of the collation that compares bytes.
const binary = "B"

// collation returns the name of the collation by which a table sorts its rows in a field, as the instruction says that opens it.
func (op *Op) collation(field int) (name string, known bool) {
	list := strings.Split(strings.TrimSuffix(op.P4, ")"), ",")
	if !strings.HasPrefix(op.P4, "k(") || field+1 >= len(list) {
		return "", false
	}
	name = strings.TrimPrefix(strings.TrimPrefix(list[field+1], "-"), "N.")
	if name == "" {
		name = binary
	}
	return name, true
}
