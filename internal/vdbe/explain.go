package vdbe

import "github.com/geosql/geosql/internal/sqlite"

// Explain compiles a statement on a connection and lists its program.
func Explain(conn *sqlite.Conn, sql string) (p Program, err error) {
	text := func(v *sqlite.Value) string {
		if v.Type() != sqlite.Text {
			return ""
		}
		return v.Text()
	}
	number := func(v *sqlite.Value) int {
		if v.Type() != sqlite.Integer {
			return 0
		}
		return int(v.Int())
	}
	err = conn.Each("EXPLAIN "+sql, func(v []sqlite.Value) error {
		p = append(p, Op{Name: text(&v[1]), P1: number(&v[2]), P2: number(&v[3]), P3: number(&v[4]), P4: text(&v[5]), P5: number(&v[6])})
		return nil
	})
	return p, err
}

// Opened returns the tables and indexes that the program opens, by their databases and root pages, and the virtual tables, as
// EXPLAIN calls them. A program reads nothing of a database without. A root page that the program computes is 0.
func (p Program) Opened() (roots [][2]int, virtual []string) {
	for i := range p {
		switch op := &p[i]; op.code().cursor {
		case opensRead, opensWrite:
			root := op.P2
			if op.P5&rootInRegister != 0 {
				root = 0
			}
			roots = append(roots, [2]int{op.P3, root})
		case opensVirtual:
			virtual = append(virtual, op.P4)
		}
	}
	return roots, virtual
}

// StopsBehindRows reports whether the program returns rows, and stops behind each: a run has one row at most, and another step
// does nothing.
func (p Program) StopsBehindRows() bool {
	for i := range p {
		if p[i].code().effect == returnsRow && (i+1 == len(p) || p[i+1].code().next != halts) {
			return false
		}
	}
	return p.ReturnsRows()
}
