package vdbe

import (
	"maps"
	"slices"
)

// A cursor holds the tables that the instructions with its number open, and how these instructions move it.
type cursor struct {
	tables  map[[2]int]bool // database and root page of each table that it reads
	writes  bool            // it writes tables
	own     bool            // it reads a table of the statement's own: a sorter, a materialised subquery
	of      int             // the first cursor of such a table, itself but for OpenDup
	pseudo  int             // the register of the record that it reads, 0 for none
	foreign bool            // it reads a virtual table
	follows int             // the index cursor with the row that it always stands on, itself if none
}

// cursors are the cursors of a program by their numbers.
type cursors map[int]*cursor

// cursorsOf returns the cursors of a program.
func cursorsOf(p Program) cursors {
	all := cursors{}
	for i := range p {
		all.open(&p[i])
	}
	for _, c := range all {
		for c.own && all.cursor(c.of).of != c.of {
			c.of = all.cursor(c.of).of
		}
	}
	return all
}

func (all cursors) cursor(i int) *cursor {
	c := all[i]
	if c == nil {
		c = &cursor{tables: map[[2]int]bool{}, of: i, follows: i}
		all[i] = c
	}
	return c
}

// open records the table that an instruction opens.
func (all cursors) open(op *Op) {
	switch op.code().cursor {
	case opensRead:
		all.cursor(op.P1).tables[[2]int{op.P3, op.P2}] = true
	case opensWrite:
		c := all.cursor(op.P1)
		c.writes = true
		if op.P5&rootInRegister == 0 {
			c.tables[[2]int{op.P3, op.P2}] = true
		}
	case opensOwn, opensIndex, opensSorter:
		all.cursor(op.P1).own = true
	case opensCopy:
		all.cursor(op.P1).own = true
		all.cursor(op.P1).of = op.P2
	case opensRecord:
		all.cursor(op.P1).pseudo = op.P2
	case opensVirtual:
		all.cursor(op.P1).foreign = true
	}
}

// findFollowers finds the cursors of tables that only follow a cursor of one of their
// indexes. A row of NULLs follows any.
func (f *flow) findFollowers() {
	leaders := map[int]map[int]bool{}
	lead := func(c, by int) {
		if leaders[c] == nil {
			leaders[c] = map[int]bool{}
		}
		leaders[c][by] = true
	}
	for i := range f.program {
		op := &f.program[i]
		switch role := op.code().cursor; {
		case role == leads:
			lead(op.P3, op.P1)
		case role == leavesRows:
		case role == probes:
			leader, is := f.looksUp(op, i)
			if is {
				f.lookups[i] = leader
			} else {
				leader = op.P1
			}
			lead(op.P1, leader)
		case role.moves():
			lead(op.P1, op.P1)
		}
	}
	followers := map[int][]int{}
	for c, by := range leaders {
		for leader := range by {
			if len(by) == 1 && len(leaders[leader]) == 1 && leaders[leader][leader] {
				followers[leader] = append(followers[leader], c)
			}
		}
	}
	for leader, list := range followers {
		list = slices.DeleteFunc(list, func(c int) bool { return c == leader })
		if len(list) == 1 {
			f.cursor(list[0]).follows = leader
		}
	}
	for c, by := range leaders {
		for leader := range by {
			if leader != c && f.cursor(c).follows == c {
				f.led[leader] = append(f.led[leader], c)
			}
		}
	}
	maps.DeleteFunc(f.lookups, func(i, leader int) bool { return f.cursor(f.program[i].P1).follows != leader })
}

// looksUp returns the cursor of an index by which the instruction at i finds the row of a table WITHOUT ROWID that the index row is of:
// the key is made of the fields of that row which tell the rows of the table apart. An index has such a row for each of the
// table, so it is always found.
func (f *flow) looksUp(op *Op, i int) (leader int, is bool) {
	n := op.keyLength()
	if n > len(f.program) {
		return 0, false
	}
	var fields []int
	for k := range n {
		w := f.written.writer(i, op.P3+k)
		changed := f.program.has(func(other *Op) bool { _, changes := other.changes(op.P3 + k); return changes })
		if w < 0 || changed || f.program[w].code().effect != readsField || k > 0 && f.program[w].P1 != leader {
			return 0, false
		}
		leader = f.program[w].P1
		fields = append(fields, f.program[w].P2)
	}
	of, by := f.cursor(op.P1), f.cursor(leader)
	for table := range of.tables {
		for index := range by.tables {
			if t := f.btree(table); table[0] != index[0] || !t.tells(n, f.btree(index), fields) {
				return 0, false
			}
		}
	}
	return leader, len(of.tables) > 0 && len(by.tables) > 0 && of.stored() && by.stored()
}

// stored reports whether a cursor only reads tables and indexes of a database.
func (c *cursor) stored() bool { return len(c.tables) > 0 && !c.own && !c.foreign && c.pseudo == 0 }

// follow notes whether a lookup has found the row of its leader: it has if its key is from there, and from where that stands now.
func (f *flow) follow(leader int, key sources, r *state) {
	row := f.number(position{cursor: leader})
	if key == row {
		r.behind &^= row
	} else {
		r.behind |= row &^ elsewhere
	}
}

// leavesTogether reports whether a node moves a leader to a row of NULLs right after its follower.
func (f *flow) leavesTogether(n int) bool {
	return len(f.previous[n]) > 0 && !slices.ContainsFunc(f.previous[n], func(m int) bool {
		op := f.op(m)
		return op.code().cursor != leavesRows || op.P1 == f.op(n).P1 || f.cursor(op.P1).follows != f.op(n).P1
	})
}
