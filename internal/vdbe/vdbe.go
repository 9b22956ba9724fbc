// Package vdbe reads compiled SQL statements, as EXPLAIN lists them, and proves facts about their runs: that no reading is in
// two groups of an aggregate ([Program.Disjoint]), that a second run makes the calls of the first ([Program.Repeats]), that there
// is one call ([Program.CallsOnce]), and where sealed values are used ([Program.SealedUses]). It imports internal/sqlite for
// EXPLAIN; its callers tell it about functions and tables. Start with the table [opcodes] of instructions, then read [graph],
// which has every path of a run, [flow], which follows the sources of values along them, [choice], which adds the sources of
// conditions, and the proof at [Program.Disjoint].
//
// # Where another proof goes
//
// A kind of statement with groups that are not proved yet needs one of these, and a program in the tests, statements in sqlitefn's
// groupRules, and a shape in its random statements:
//
//   - An instruction is not understood: its row of [opcodes] loses noPath, and [flow.apply] gets its effect if it has a new one.
//     Windows over grouped rows were of this kind: AggInverse and AggValue, of other aggregates than the one that is proved.
//   - A cursor starts or moves where that cannot matter: [disjointness.visits]. Sorters that keep the first rows were of this
//     kind, windows over rows, and joins in the order that reads the readings last: see [disjointness.startsToRead],
//     [disjointness.consumes] and [disjointness.keyed].
//   - A row feeds something several times by another way than a loop: [disjointness.movesOn], which says when a position begins anew.
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
	return p.has(func(op *Op) bool { return op.code().effect == binds })
}

// ReturnsRows reports whether the statement may return rows.
func (p Program) ReturnsRows() bool {
	return p.has(func(op *Op) bool { return op.code().effect == returnsRow })
}

// Writes reports whether the statement writes a database.
func (p Program) Writes() bool {
	return p.has(func(op *Op) bool { return op.code().effect == transacts && op.P2 != 0 })
}

// Shares reports whether the statement locks tables of a cache that connections of the process share.
func (p Program) Shares() bool {
	return p.has(func(op *Op) bool { return op.code().effect == locksTable })
}

// FiresTriggers reports whether the program may run triggers.
func (p Program) FiresTriggers() bool {
	return p.has(func(op *Op) bool { return op.code().effect == firesTrigger })
}

// ChangesSchema reports whether the statement creates or changes a table or the like.
func (p Program) ChangesSchema() bool {
	return p.has(func(op *Op) bool { return op.code().effect == changesSchema })
}

// RollsBack reports whether a conflict or RAISE may roll back the transaction
// around the statement.
func (p Program) RollsBack() bool {
	const rollback = 1 // OE_Rollback
	return p.has(func(op *Op) bool {
		switch op.code().effect {
		case fails:
			return op.P1 != 0 && op.P2 == rollback
		case updatesVirtual:
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
