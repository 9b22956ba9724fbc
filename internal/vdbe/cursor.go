package vdbe

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
// indexes.
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
		case role.moves():
			lead(op.P1, op.P1)
		}
	}
	for c, by := range leaders {
		for leader := range by {
			if len(by) == 1 {
				f.cursor(c).follows = leader
			}
		}
	}
}
