// Package vdbe reads compiled SQL statements, as EXPLAIN lists them.
package vdbe

// An Op is an instruction of a compiled statement: a row of EXPLAIN.
type Op struct {
	Name           string
	P1, P2, P3, P5 int
	P4             string
}

// A Program is a compiled statement, with the triggers that it fires.
type Program []Op

// HasParameters reports whether the statement reads a parameter.
func (p Program) HasParameters() bool {
	return p.has(func(op *Op) bool { return op.Name == "Variable" })
}

// ReturnsRows reports whether the statement may return rows.
func (p Program) ReturnsRows() bool {
	return p.has(func(op *Op) bool { return op.Name == "ResultRow" })
}

// Writes reports whether the statement writes a database.
func (p Program) Writes() bool {
	return p.has(func(op *Op) bool { return op.Name == "Transaction" && op.P2 != 0 })
}

// Shares reports whether the statement locks tables of a cache that connections of the process share.
func (p Program) Shares() bool {
	return p.has(func(op *Op) bool { return op.Name == "TableLock" })
}

// ChangesSchema reports whether the statement creates or changes a table or the like.
func (p Program) ChangesSchema() bool {
	return p.has(func(op *Op) bool { return op.Name == "ParseSchema" })
}

// RollsBack reports whether a conflict or RAISE may roll back the transaction
// around the statement.
func (p Program) RollsBack() bool {
	const rollback = 1 // OE_Rollback
	return p.has(func(op *Op) bool {
		switch op.Name {
		case "Halt", "HaltIfNull":
			return op.P1 != 0 && op.P2 == rollback
		case "VUpdate":
			return op.P5 == rollback
		}
		return false
	})
}

func (p Program) has(property func(*Op) bool) bool {
	for i := range p {
		if property(&p[i]) {
			return true
		}
	}
	return false
}
