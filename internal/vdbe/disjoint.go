package vdbe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Forms of a statement with groups that cost once, whatever is done with them.
const (
	alone = "; make the groups of its readings alone first, WITH g AS MATERIALIZED (SELECT .. GROUP BY ..) SELECT .. FROM g JOIN .., or join by a unique key"
	kept  = "; keep the groups in a table first (CREATE TEMP TABLE g AS SELECT .. GROUP BY ..)"
)

var (
	errTooLong   = errors.New("the statement is too long to prove it")
	errNoReading = errors.New("the aggregated values are not read from one row of a table; pass a column, or a value of one row's columns (dx_count counts rows)")
)

func errNotUnderstood(instruction string) error {
	return fmt.Errorf("an instruction that SQLite compiled is not understood: %s", instruction)
}

// Disjoint returns nil if it can prove the following, and otherwise an error that says why
// not. In every run of the program, and for every instruction that steps the aggregate: each
// row of each table causes at most one step of that instruction, through all cursors and
// indexes of the table together. So the groups that one instruction makes are disjoint: no
// row is in two of them, or in one of them twice. The secret argument of a step is argument
// number secret, from 0. A function is pure if it gives the same answer to the same
// arguments; pure reports which functions are, by their names in lower case. The function btrees
// describes the table or index with a root page.
//
// # The proof
//
// A row causes a step if the secret argument depends on it. Which rows and steps there are, for which account and in which group, is
// public, whatever decides it: a join with other rows, WHERE, or the first rows in an order.
//
//  1. The paths of the program are those of a [graph], on which every run goes. Along them a
//     [flow] follows, for each register, which positions its value depends on: the rows where
//     cursors stand now, and the rows now in accumulators of other aggregates. When a position
//     moves on, each value that depended on it is marked, and if a step's secret argument is
//     marked, or depends on nothing, nothing is proved. Parameters, virtual tables and impure
//     functions are marked from the beginning. A value that a condition chooses also depends on the values of
//     the condition, see [choice], and count(*) on the rows that it counts.
//  2. A cursor starts at most once in a run, since no path leads from one of its starts to
//     another, and then it only goes one way. So it stands on each row, or each record of a
//     sorter or materialised subquery, at most once. A start in a table of the statement's own does not count if no row is read
//     before another start: a sorter that keeps the first rows of ORDER BY and LIMIT starts so at its last row, to compare it
//     with the next one and perhaps delete it. Nor do starts matter where each row that feeds something is deleted before the
//     cursor moves, as windows over rows do, or all rows before the next start. They do not either where each start
//     finds rows by a key of its own ([disjointness.keyed]), or a set remembers which rows have been found ([disjointness.admits]).
//  3. Where a position feeds something, that is an instruction that steps the aggregate, a
//     table of the statement's own or an accumulator, every path from one such feeding to
//     another crosses an instruction that moves the position on. So each row, record, or
//     content of an accumulator feeds it at most once.
//  4. By induction along these feedings, a row of a table reaches the steps of an instruction
//     at most as often as there are ways from the table to it, over all of the table's
//     cursors. At most one way is required. Fields of a record are followed one by one, since others may depend on
//     other rows.
//
// The rows of a table must not change: the statement must not write a table with readings,
// and fires no trigger. The caller excludes that other statements write in between. Unknown
// instructions end the proof, and so does the aggregate as a window function. Windows of other
// functions have accumulators like any: steps back feed them as steps do, and an answer before the
// group ends reads them.
func (p Program) Disjoint(aggregate string, secret int, pure func(name string) bool, btrees func(database, root int) Btree) error {
	switch {
	case p.has(func(op *Op) bool { return op.code().effect == firesTrigger }):
		return errors.New("the statement fires triggers" + kept)
	case p.has(func(op *Op) bool { return op.asks(aggregate) }):
		return errors.New("the aggregate is used as a window function; windows over its groups cost nothing more, sum(s) OVER (..) FROM (SELECT .. AS s .. GROUP BY ..)")
	}
	f, err := newFlow(p.unhurried(), pure, btrees)
	if err != nil {
		return fmt.Errorf("%w%s", err, kept)
	}
	d := &disjointness{flow: f, aggregate: aggregate, checked: map[position]map[string]int{}, keying: map[int]bool{}}
	for at := range f.program {
		if op := &f.program[at]; op.steps(aggregate) {
			if err := d.prove(at, secret); err != nil {
				return err
			}
		}
	}
	return nil
}

// unhurried returns the program without instructions that only save time: with them, a cursor finds the same rows by its key, or
// none where SQLite knows that there are no more.
func (p Program) unhurried() Program {
	p = slices.Clone(p)
	for i := range p {
		if p[i].code().effect == hurries {
			p[i] = Op{Name: "Noop"}
		}
	}
	return p
}

// Steps reports whether the program steps an aggregate.
func (p Program) Steps(aggregate string) bool {
	return p.has(func(op *Op) bool { return op.steps(aggregate) })
}

// CountSteps returns how many instructions step an aggregate.
func (p Program) CountSteps(aggregate string) (n int) {
	for i := range p {
		if op := &p[i]; op.steps(aggregate) || op.code().effect == unstepsGroup && op.is(aggregate) {
			n++
		}
	}
	return n
}

// steps reports whether an instruction steps an aggregate.
func (op *Op) steps(aggregate string) bool { return op.code().effect == stepsGroup && op.is(aggregate) }

// asks reports whether an instruction asks an aggregate for an answer before its group ends, or takes a step of it back.
func (op *Op) asks(aggregate string) bool {
	effect := op.code().effect
	return (effect == asksGroup || effect == unstepsGroup) && op.is(aggregate)
}

// disjointness proves that the groups of single instructions are disjoint.
type disjointness struct {
	*flow
	aggregate string
	checked   map[position]map[string]int // the number of ways from each table to a position; nil while they are counted
	keying    map[int]bool                // cursors, while it is being proved that they start by different keys
}

// writes reports whether the statement writes a table.
func (d *disjointness) writes(table string) bool {
	for _, c := range d.cursors {
		for root := range c.tables {
			if c.writes && d.table(root) == table {
				return true
			}
		}
	}
	return false
}

// table returns the name of a table. Tables of one name are taken for the same one, since a
// file may be attached twice, and so are all tables without a known name.
func (d *disjointness) table(root [2]int) string { return cmp.Or(d.btree(root).Table, "?") }

// prove proves that the steps of the instruction at have disjoint rows.
func (d *disjointness) prove(at, secret int) error {
	steps := d.nodes(func(n int) bool { return d.at[n] == at })
	read := func(n int) sources {
		return d.before[n].sources(d.program[at].P2+secret, 1)
	}
	ways, err := d.ways(steps, read)
	if err != nil {
		return err
	}
	for table, n := range ways {
		if n > 1 {
			return fmt.Errorf("table %s is read more than once; SELECT .. GROUP BY .. UNION ALL SELECT .. GROUP BY .. costs once for each SELECT", table)
		}
	}
	return nil
}

// nodes returns the nodes that are reached and for which yes holds.
func (d *disjointness) nodes(yes func(n int) bool) (list []int) {
	for n := range d.at {
		if d.reached[n] && yes(n) {
			list = append(list, n)
		}
	}
	return list
}

// ways returns in how many ways the rows of each table reach nodes that read values with
// these sources. It returns an error if a row may reach them more often than that.
func (d *disjointness) ways(nodes []int, read func(int) sources) (map[string]int, error) {
	var from sources
	for _, n := range nodes {
		s := read(n)
		if s == 0 || s&elsewhere != 0 {
			return nil, errNoReading
		}
		from |= s
	}
	total := map[string]int{}
	for _, p := range d.positionsIn(from) {
		feeding := slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return read(n)&d.number(p) == 0 })
		if !d.once(p, feeding) {
			return nil, d.errRepeated(p)
		}
		ways, err := d.position(p)
		if err != nil {
			return nil, err
		}
		for table, n := range ways {
			total[table] += n
		}
	}
	return total, nil
}

// once reports whether each row, record or content of a position feeds these nodes at most once.
func (d *disjointness) once(p position, feeding []int) bool {
	if p.accumulator != 0 {
		return d.movesBetween(p, feeding)
	}
	return d.visits(p.cursor, d.begins(p.cursor), feeding) || d.movesBetween(p, feeding) && d.consumes(p.cursor, feeding) || d.admits(p.cursor, feeding)
}

// visits reports whether a cursor that begins at some nodes feeds others at most once by each row.
func (d *disjointness) visits(cursor int, begins, feeding []int) bool {
	return d.movesBetween(position{cursor: cursor}, feeding) && (d.onePass(cursor, begins) || d.emptied(cursor, begins)) || d.keyed(cursor, begins, feeding)
}

// movesBetween reports whether a position moves on between any two of the nodes that it feeds.
func (d *disjointness) movesBetween(p position, feeding []int) bool {
	return !d.reaches(feeding, feeding, func(n int) bool { return d.movesOn(n, p) })
}

// movesOn reports whether a node moves a position on.
func (d *disjointness) movesOn(n int, p position) bool {
	op := d.op(n)
	if p.accumulator != 0 {
		return op.code().effect == clears && op.P2 <= p.accumulator && p.accumulator <= max(op.P2, op.P3)
	}
	return op.code().cursor.isAdvance() && op.P1 == p.cursor
}

// startsToRead returns the nodes that start a cursor. In a table of the statement's own, they are those from which a path leads to
// a node that reads a row, and not through another start.
func (d *disjointness) startsToRead(cursor int) []int {
	starts := func(n int) bool { return d.startsCursor(n, cursor) }
	if !d.cursors[cursor].own {
		return d.nodes(starts)
	}
	var found []int
	seen := make([]bool, len(d.at))
	for pending := d.nodes(func(n int) bool { return d.readsRow(n, cursor) }); len(pending) > 0; {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, m := range d.previous[n] {
			switch {
			case seen[m]:
			case starts(m):
				found = append(found, m)
			default:
				pending = append(pending, m)
			}
			seen[m] = true
		}
	}
	return found
}

// readsRow reports whether a node reads the row where a cursor stands, or one that another cursor finds by it.
func (d *disjointness) readsRow(n, cursor int) bool {
	op := d.op(n)
	code := op.code()
	reads := readsField <= code.effect && code.effect <= readsRow || code.cursor == leads
	return reads && (op.P1 == cursor || d.cursor(op.P1).follows == cursor)
}

// startsCursor reports whether a node starts a cursor.
func (d *disjointness) startsCursor(n, cursor int) bool {
	op := d.op(n)
	role := op.code().cursor
	return role.isStart() && op.P1 == cursor || role == leads && op.P3 == cursor
}

// position returns in how many ways the rows of each table come to a position, each at
// most once.
func (d *disjointness) position(p position) (map[string]int, error) {
	if ways, known := d.checked[p]; known {
		if ways == nil {
			return nil, errors.New("the statement is recursive")
		}
		return ways, nil
	}
	d.checked[p] = nil
	ways, err := d.trace(p)
	if err == nil {
		d.checked[p] = ways
	}
	return ways, err
}

func (d *disjointness) trace(p position) (map[string]int, error) {
	if p.accumulator != 0 {
		steps := d.nodes(func(n int) bool { return d.op(n).feeds(p.accumulator) })
		return d.ways(d.feeding(steps, func(n int) sources { return d.stepped(n, &d.before[n]) }))
	}
	c := d.cursors[p.cursor]
	if c.own {
		inserts := d.nodes(func(n int) bool { return d.insertsInto(n, c.of) })
		return d.ways(d.feeding(inserts, func(n int) sources { return d.recordOf(n, p) }))
	}
	ways := map[string]int{}
	for root := range c.tables {
		if d.writes(d.table(root)) {
			return nil, fmt.Errorf("the statement writes table %s, which it reads%s", d.table(root), kept)
		}
		ways[d.table(root)] = 1
	}
	return ways, nil
}

// feeding returns the nodes that read something from rows, and a form of read without the
// sources that have moved on.
func (d *disjointness) feeding(nodes []int, read func(int) sources) ([]int, func(int) sources) {
	current := func(n int) sources { return read(n) &^ elsewhere }
	var list []int
	for _, n := range nodes {
		if current(n) != 0 {
			list = append(list, n)
		}
	}
	return list, current
}

// feeds reports whether an instruction steps an accumulator, forwards or back.
func (op *Op) feeds(accumulator int) bool {
	effect := op.code().effect
	return (effect == stepsGroup || effect == unstepsGroup) && op.P3 == accumulator
}

// recordOf returns the sources of the record that a node inserts, in the fields that a position stands for.
func (d *disjointness) recordOf(n int, p position) (s sources) {
	stored := d.stored[position{cursor: d.cursors[p.cursor].of}]
	record := d.before[n].get(d.op(n).P2)
	for i := range max(len(stored.fields), p.field) + 1 {
		if stored.field(i) == stored.field(p.field) {
			s |= record.field(i)
		}
	}
	return s
}

// insertsInto reports whether a node inserts a record into a table of the statement's own.
func (d *disjointness) insertsInto(n, table int) bool {
	switch op := d.op(n); op.code().effect {
	case inserts, insertsKey:
		c := d.cursors[op.P1]
		return c != nil && c.own && c.of == table
	}
	return false
}

// with returns the nodes that are of roles in the life of a cursor.
func (d *disjointness) with(cursor int, roles ...role) []int {
	return d.nodes(func(n int) bool { return d.op(n).P1 == cursor && slices.Contains(roles, d.op(n).code().cursor) })
}

// begins returns the nodes from which on a cursor may stand on rows that it has passed already.
func (d *disjointness) begins(cursor int) []int {
	return append(d.startsToRead(cursor), d.with(cursor, probes)...)
}

// onePass reports whether a cursor begins at most once and goes one way.
func (d *disjointness) onePass(cursor int, begins []int) bool {
	return !d.reaches(begins, begins, none) && d.oneWay(cursor)
}

func (d *disjointness) oneWay(cursor int) bool {
	return len(d.with(cursor, advances)) == 0 || len(d.with(cursor, retreats)) == 0
}

// emptied reports whether the rows of a table of the statement's own are deleted before its cursor begins again, as those of a sorter are
// that sorts one part of the rows after the other.
func (d *disjointness) emptied(cursor int, begins []int) bool {
	return d.cursors[cursor].own && d.oneWay(cursor) &&
		!d.reaches(begins, begins, func(n int) bool { return d.op(n).P1 == cursor && d.op(n).code().effect == empties })
}

// consumes reports whether a cursor over a table of the statement's own deletes each row that feeds these nodes before it moves.
func (d *disjointness) consumes(cursor int, feeding []int) bool {
	of := func(n int) bool { return d.op(n).P1 == cursor }
	moves := d.nodes(func(n int) bool { return of(n) && d.op(n).code().cursor.moves() })
	return d.cursors[cursor].own && !d.reaches(feeding, moves, func(n int) bool { return of(n) && d.op(n).code().effect == deletesRow })
}

// errRepeated returns the error for a row that may be used several times.
func (d *disjointness) errRepeated(p position) error {
	if p.accumulator != 0 {
		return errors.New("the same sum may be used several times" + alone)
	}
	return fmt.Errorf("a row of %s may be used several times%s", d.name(p.cursor), alone)
}

// name describes the table that a cursor reads.
func (d *disjointness) name(cursor int) string {
	for root := range d.cursors[cursor].tables {
		return "table " + d.table(root)
	}
	return "a subquery"
}
