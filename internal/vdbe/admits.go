package vdbe

import (
	"slices"
	"strconv"
)

// Where conditions are joined by OR, SQLite may read a table once for each of them, and keep the numbers of the rows in a set, so that a row is taken the
// first time only. The reading for a condition is a phase: a number is looked for among those of earlier phases.

// admits reports whether such a set lets each row of a cursor's table feed some nodes at most once.
func (d *disjointness) admits(cursor int, feeding []int) bool {
	row := d.number(position{cursor: cursor})
	tests := d.nodes(func(n int) bool {
		op := d.op(n)
		if op.code().effect != admits || d.before[n].sources(op.P3, 1) != row {
			return false
		}
		w := d.writer(n, op.P3)
		return w >= 0 && d.program[w].code().effect == readsRowid && d.cursor(d.program[w].P1).follows == cursor
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
	return !d.reaches(slices.Concat(moves, feeding), feeding, isIn(tests)) && !d.jumpsTo(tests, feeding, isIn(moves)) && !d.reaches(tests, emptied, none) && d.inPhases(cursor, tests)
}

// inPhases reports whether the tests of a set are in the order of their phases, and each row comes to each phase at most once.
func (d *disjointness) inPhases(cursor int, tests []int) bool {
	phases := map[int][]int{}
	for _, n := range tests {
		phases[d.at[n]] = append(phases[d.at[n]], n)
	}
	for at, of := range phases {
		for other, later := range phases {
			a, b := d.program[at].phase(), d.program[other].phase()
			if at != other && (a == b || a > b && d.reaches(of, later, none)) {
				return false
			}
		}
		all := isIn(d.begins(cursor))
		begins := slices.DeleteFunc(d.begins(cursor), func(n int) bool { return !d.reaches([]int{n}, of, all) })
		if !d.visits(cursor, begins, of) {
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
