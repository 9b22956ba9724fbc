package vdbe

import (
	"slices"
	"strconv"
)

// Where conditions are joined by OR, SQLite may read a table once for each of them, and keep the numbers of the rows in a set, so that a row is taken the
// first time only. The reading for a condition is a phase: a number is looked for among those of earlier phases.

// admits reports whether such a set lets each row of a cursor's table feed some nodes at most once.
func (d *disjointness) admits(cursor int, feeding []int) bool {
	phases := map[int][]int{} // the tests, by instruction
	by := map[int]int{}       // the cursor that finds the rows of each
	tests := d.nodes(func(n int) bool {
		x, is := d.testsRow(n, cursor)
		if is {
			phases[d.at[n]], by[d.at[n]] = append(phases[d.at[n]], n), x
		}
		return is
	})
	if len(tests) == 0 || !d.cursors[cursor].stored() {
		return false
	}
	set := d.op(tests[0]).P1
	if slices.ContainsFunc(tests, func(n int) bool { return d.op(n).P1 != set }) {
		return false
	}
	emptied := slices.DeleteFunc(d.defining(set), func(n int) bool { return d.op(n).code().effect == admits })
	moves := d.movesOf(cursor)
	return !d.reaches(slices.Concat(moves, feeding), feeding, isIn(tests)) && !d.jumpsTo(tests, feeding, isIn(moves)) && !d.reaches(tests, emptied, none) && d.inPhases(phases, by)
}

// testsRow reports whether a node looks for the number of the row of a cursor in a set, and returns the cursor that has found that row: another
// if it leads this one there, while this one also moves by itself.
func (d *disjointness) testsRow(n, cursor int) (by int, tests bool) {
	op := d.op(n)
	if op.code().effect != admits {
		return 0, false
	}
	w := d.writer(n, op.P3)
	if w < 0 || d.program[w].code().effect != readsRowid {
		return 0, false
	}
	by = d.program[w].P1
	switch {
	case d.cursor(by).follows == cursor:
		by = cursor
	case !d.ledTo(n, cursor, by):
		return 0, false
	}
	return by, d.before[n].sources(op.P3, 1) == d.number(position{cursor: by})
}

// ledTo reports whether a cursor stands at a node on the row to which a leader has led it, where that stands still.
func (d *disjointness) ledTo(n, cursor, leader int) bool {
	led := d.nodes(func(m int) bool {
		op := d.op(m)
		return op.code().cursor == leads && op.P1 == leader && op.P3 == cursor
	})
	moves := slices.DeleteFunc(slices.Concat([]int{0}, d.movesOf(cursor), d.movesOf(leader)), isIn(led))
	return d.cursors[leader].follows == leader && !d.reaches(moves, []int{n}, isIn(led))
}

// inPhases reports whether the tests of a set are in the order of their phases, and each row comes to each phase at most once.
func (d *disjointness) inPhases(phases map[int][]int, by map[int]int) bool {
	for at, tests := range phases {
		for other, later := range phases {
			a, b := d.program[at].phase(), d.program[other].phase()
			if at != other && (a == b || a > b && d.reaches(tests, later, none)) {
				return false
			}
		}
		all := isIn(d.begins(by[at]))
		begins := slices.DeleteFunc(d.begins(by[at]), func(n int) bool { return !d.reaches([]int{n}, tests, all) })
		if !d.visits(by[at], begins, tests) {
			return false
		}
	}
	return true
}

// phase returns the number of the phase in which a set is asked: the first is 0 and adds only, and the last asks only.
func (op *Op) phase() int {
	const last = 1 << 32
	if n, err := strconv.Atoi(op.P4); err == nil && n >= 0 {
		return n
	}
	return last
}
