package vdbe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// program reads instructions as they are printed, "Name P1 P2 P3 P4 P5", of
// which the last may be missing and "-" is nothing.
func program(t *testing.T, lines ...string) (p Program) {
	t.Helper()
	for _, line := range lines {
		var op Op
		fields := strings.Fields(line + " 0 0 0 - 0")
		into := []any{&op.Name, &op.P1, &op.P2, &op.P3, &op.P4, &op.P5}
		for i, f := range fields[:min(len(strings.Fields(line)), 6)] {
			if _, err := fmt.Sscan(f, into[i]); err != nil {
				t.Fatal(line, err)
			}
		}
		op.P4 = strings.TrimPrefix(op.P4, "-")
		p = append(p, op)
	}
	return p
}

// pure are all functions but the release f and the aggregate g.
func pure(name string) bool {
	return slices.Contains([]string{"abs", "max", "coalesce", "sum", "count"}, name)
}

// idle is the function w alone.
func idle(name string) bool { return name == "w" }

// Instructions that choose the next one by register 1, which varies.
var choices = []string{
	"If 1 9", "IfNot 1 9", "IfPos 1 9", "IfNotZero 1 9", "DecrJumpZero 1 9", "IsNull 1 9", "NotNull 1 9", "MustBeInt 1 9",
	"Return 1", "Yield 1 9", "EndCoroutine 1", "HaltIfNull 1299 2 1",
	"Eq 1 9 5", "Ne 5 9 1", "Lt 1 9 5", "Le 5 9 1", "Gt 1 9 5", "Ge 5 9 1",
	"Compare 1 5 1", "Compare 5 1 1", "Compare 0 5 2",
	"SeekRowid 0 9 1", "NotExists 0 9 1", "NewRowid 0 9 1",
	"Found 0 9 1 0", "NotFound 0 9 1 1", "NoConflict 0 9 0 2", "SeekGE 0 9 1 1", "SeekGT 0 9 0 2", "SeekLE 0 9 1 1", "SeekLT 0 9 1 1",
	"IdxGE 0 9 1 1", "IdxGT 0 9 0 2", "IdxLE 0 9 1 1", "IdxLT 0 9 1 1", "IdxGE 0 9 1 odd",
	"Filter 1 9 5 1", "Filter 0 9 1 1",
	"Function 0 1 5 f(1)", "Function 0 0 5 f(2)", "AggStep 0 1 5 g(1)",
	"CollSeq 5", "VFilter 0 9 -1", "Program 0 9 5", "SomethingNew", "AggInverse 0 1 5 g(1)",
}

func TestChoices(t *testing.T) {
	for _, op := range choices {
		if program(t, op, "Function 0 7 1 f(0)").Repeats(pure, idle, computed) {
			t.Errorf("%s: proved", op)
		}
		if !program(t, op, "Function 0 7 1 h(0)").Repeats(func(string) bool { return true }, idle, computed) {
			t.Errorf("%s: not proved though nothing varies", op)
		}
	}
}

// Programs in which a varying value comes into register 9 or does not.
var flows = []struct {
	reaches bool
	program string
}{
	{true, "SCopy 1 9"}, {true, "IntCopy 1 9"}, {true, "Not 1 9"}, {true, "BitNot 1 9"}, {true, "IsTrue 1 9"},
	{true, "Copy 0 8 1"}, {false, "Copy 0 8 0"}, {true, "Move 0 8 2"}, {false, "Move 0 8 1"}, {false, "Copy 2 9 3"},
	{true, "Add 1 5 9"}, {true, "Concat 5 1 9"}, {false, "Add 5 6 9"}, {true, "ZeroOrNull 1 9 5"}, {true, "ZeroOrNull 5 9 1"},
	{true, "Function 0 1 9 abs(1)"}, {true, "Function 0 0 9 max(2)"}, {false, "Function 0 2 9 abs(1)"},
	{true, "Integer 5 0; Function 0 2 1 f(0); PureFunc 0 0 9 coalesce(-1)"}, {false, "Integer 5 0; PureFunc 0 0 9 coalesce(-1)"}, // 1 is written later
	{true, "Init 0 3; Function 0 0 9 max(-1); Goto 0 7; Integer 5 0; Function 0 2 1 f(0); Goto 0 1"}, {true, "Integer 5 0; Function 0 2 1 f(0); Function 0 0 9 odd"},
	{true, "AggStep 0 1 9 sum(1)"}, {false, "AggStep 0 2 9 sum(1)"}, {false, "AggStep 0 2 9 count(0)"},
	{true, "AggStep 0 2 9 g(1); AggFinal 9 1 0 g(1)"}, {true, "AggFinal 9 1 0 g(1)"}, {false, "AggFinal 9 1 0 sum(1)"},
	{true, "AggValue 5 1 9 g(1)"}, {false, "AggValue 5 1 9 sum(1)"}, {true, "AggStep 0 1 5 sum(1); AggValue 5 1 9 sum(1)"},
	{true, "AggInverse 0 1 5 sum(1); AggValue 5 1 9 sum(1)"}, {false, "AggInverse 0 2 5 sum(1); AggValue 5 1 9 sum(1)"},
	{true, "SCopy 8 9; SCopy 7 8; SCopy 1 7"}, // against the order of instructions
	{true, "Function 0 1 9 w(1)"}, {true, "Function 0 2 9 w(1)"}, {false, "Function 0 1 8 w(1)"},
	{true, "OffsetLimit 1 9 5"}, {true, "OffsetLimit 5 9 1"}, {false, "OffsetLimit 5 9 6"}, {true, "FilterAdd 9 0 1 1"}, {false, "FilterAdd 9 0 5 1"},
	{true, "CollSeq 9; AggStep 0 1 6 max(1)"}, {false, "CollSeq 9; AggStep 0 2 6 max(1)"}, // whether the row has the largest value
	{true, "AggStep 0 1 6 max(1); CollSeq 9; AggStep 0 2 6 max(1)"}, {false, "CollSeq 0; AggStep 0 1 6 max(1)"},
	{false, "Integer 5 9"}, {false, "ResultRow 1 1"}, {false, "Rowid 0 9"}, {true, "VOpen 0; Rowid 0 9"},
	{true, "VColumn 0 1 9"},
	{true, "MakeRecord 1 1 5; Insert 0 5 6; VInitIn 0 9 8"}, {true, "MakeRecord 1 1 5; Insert 0 5 6; VInitIn 0 8 9"},
	{false, "MakeRecord 1 1 5; Insert 0 5 6; VInitIn 2 9 8"},

	// Fields of records.
	{true, "MakeRecord 0 2 5; SCopy 5 9"}, {false, "MakeRecord 2 2 5; SCopy 5 9"},
	{true, "MakeRecord 0 2 5; Insert 0 5 6; Column 0 1 9"}, {false, "MakeRecord 0 2 5; Insert 0 5 6; Column 0 0 9"},
	{true, "MakeRecord -70 80 5; Insert 0 5 6; Column 0 63 9"}, {false, "MakeRecord -70 80 5; Insert 0 5 6; Column 0 62 9"},
	{false, "MakeRecord 0 2 5; Insert 0 5 6; Rowid 0 9"}, {false, "MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"},
	{true, "MakeRecord 0 2 5; Insert 0 5 6; RowData 0 7; Insert 2 7 6; Column 2 1 9"},
	{true, "OpenDup 1 0; MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"}, {true, "OpenDup 0 1; MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"},
	{false, "OpenDup 1 0; MakeRecord 0 2 5; Insert 0 5 6; Column 1 0 9"},
	{true, "OpenWrite 0 3 0; OpenRead 1 3 0; MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"},
	{false, "OpenWrite 0 3 0; OpenRead 1 4 0; MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"},
	{false, "OpenWrite 0 3 0; OpenRead 1 3 1; MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"},
	{false, "OpenWrite 0 3 0 - 16; OpenRead 1 3 0; MakeRecord 0 2 5; Insert 0 5 6; Column 1 1 9"},
	{true, "MakeRecord 0 2 5; OpenPseudo 3 5; Column 3 1 9"}, {false, "MakeRecord 0 2 5; OpenPseudo 3 5; Column 3 0 9"},

	// Sorters: field 1 varies.
	{true, "SorterOpen 0 3 0 k(1,B); MakeRecord 0 2 5; SorterInsert 0 5; SorterData 0 6; OpenPseudo 3 6; Column 3 1 9"},
	{false, "SorterOpen 0 3 0 k(1,B); MakeRecord 0 2 5; SorterInsert 0 5; SorterData 0 6; OpenPseudo 3 6; Column 3 0 9"},
	{true, "SorterOpen 0 3 0 k(2,B,B); MakeRecord 0 2 5; SorterInsert 0 5; SorterData 0 6; OpenPseudo 3 6; Column 3 0 9"},
	{true, "SorterOpen 0 3 0 odd; MakeRecord 0 2 5; SorterInsert 0 5; SorterData 0 6; OpenPseudo 3 6; Column 3 0 9"},
	{true, "SorterOpen 0 3 1 k(1,B); MakeRecord 0 2 5; SorterInsert 0 5; SorterData 0 6; OpenPseudo 3 6; Column 3 0 9"},
	{true, "MakeRecord 0 2 5; SorterInsert 0 5; SorterData 0 6; OpenPseudo 3 6; Column 3 0 9"},
}

func TestFlows(t *testing.T) {
	for _, c := range flows {
		lines := append(strings.Split(c.program, "; "), "Function 0 20 1 f(0)", "If 9 0")
		if got := program(t, lines...).Repeats(pure, idle, computed); got == c.reaches {
			t.Errorf("%s: proved: %v", c.program, got)
		}
	}
}

// Programs with decisions by register 1, the answer of the release f: whether all runs make the same calls.
var decisions = []struct {
	name    string
	proved  bool
	program string
}{
	{"a row is shown or not", true, "Function 0 20 1 f(0); If 1 3; ResultRow 1 1; Halt"},
	{"a release is made or not", false, "Function 0 20 1 f(0); If 1 3; Function 0 21 2 f(0); Halt"},
	{"an idle function is called or not", true, "Function 0 20 1 f(0); If 1 3; Function 0 21 2 w(0); Halt"},
	{"a register is written or not, and then decides", false, "Function 0 20 1 f(0); If 1 3; Integer 5 2; If 2 5; Function 0 21 2 f(0); Halt"},
	{"rows of a loop are shown or not", true, "Rewind 0 5; Function 0 20 1 f(0); If 1 4; ResultRow 1 1; Next 0 1; Halt"},
	{"a loop ends early", false, "Rewind 0 4; Function 0 20 1 f(0); If 1 4; Next 0 1; Halt"},
	{"a loop ends after three rows that are shown", false, "Integer 3 5; Rewind 0 7; Function 0 20 1 f(0); If 1 6; ResultRow 1 1; DecrJumpZero 5 7; Next 0 2; Halt"},
	{"a jump by a comparison", true, "Function 0 20 1 f(0); Compare 1 2 1; Jump 3 3 4; ResultRow 1 1; Halt"},
	{"a release behind such a jump", false, "Function 0 20 1 f(0); Compare 1 2 1; Jump 3 3 4; Function 0 21 2 f(0); Halt"},
	{"a jump by a comparison that is not the one before it", false, "Function 0 20 1 f(0); Compare 1 2 1; Noop; Jump 4 4 5; ResultRow 1 1; Halt"},
	{"a jump if equal", false, "Function 0 20 1 f(0); Lt 1 4 2; ElseEq 0 4; Function 0 21 2 f(0); Halt"},
	{"a virtual table is opened or not", false, "Function 0 20 1 f(0); If 1 4; Integer 0 4; VFilter 0 4 3; Halt"},
	{"a row of which the number is in a set", true, "Null 0 5; Rewind 0 7; Rowid 0 6; RowSetTest 5 6 6 0; Function 0 20 1 f(0); RowSetTest 5 6 6 -1; Next 0 2; Halt"},
	{"a number that varies is in a set", false, "Null 0 5; Function 0 20 1 f(0); RowSetTest 5 4 1 0; Function 0 21 2 f(0); Halt"},
	{"a set has a number that varies", false, "Null 0 5; Function 0 20 1 f(0); RowSetTest 5 3 1 0; Integer 3 6; RowSetTest 5 6 6 -1; Function 0 21 2 f(0); Halt"},
	{"a failure or not", true, "Function 0 20 1 f(0); If 1 3; HaltIfNull 1299 2 5; Halt"},
	{"a release or a failure", true, "Function 0 20 1 f(0); If 1 3; Halt 19 2; Function 0 21 2 f(0); Halt"},
	{"a row is stored in a table by a varying number", true, "OpenWrite 0 3; Function 0 20 1 f(0); Insert 0 5 1; Function 0 21 2 f(0); Halt"},
	{"a row is stored in a table or not", true, "OpenWrite 0 3; Function 0 20 1 f(0); If 1 4; Insert 0 5 6; Function 0 21 2 f(0); Halt"},
	{"such rows are read", false, "OpenWrite 0 3; OpenRead 2 3; Function 0 20 1 f(0); If 1 5; Insert 0 5 6; Rewind 2 8; Function 0 21 2 f(0); Next 2 6; Halt"},
	{"kept rows are shown", true, "OpenEphemeral 1 1; Function 0 20 1 f(0); If 1 5; MakeRecord 5 1 2; IdxInsert 1 2; Rewind 1 8; ResultRow 3 1; Next 1 6; Halt"},
	{"a release for each kept row", false, "OpenEphemeral 1 1; Function 0 20 1 f(0); If 1 5; MakeRecord 5 1 2; IdxInsert 1 2; Rewind 1 8; Function 0 21 3 f(0); Next 1 6; Halt"},
	{"the same, of the rows' copy", false, "OpenEphemeral 1 1; OpenDup 2 1; Function 0 20 1 f(0); If 1 6; MakeRecord 5 1 2; IdxInsert 1 2; Rewind 2 9; Function 0 21 3 f(0); Next 2 7; Halt"},
	{"a release of the number of kept rows", false, "OpenEphemeral 1 1; Function 0 20 1 f(0); If 1 5; MakeRecord 5 1 2; IdxInsert 1 2; Count 1 6; Function 0 6 3 f(1); Halt"},
	{"a row by a varying key", false, "OpenRead 1 2; Function 0 20 1 f(0); SeekGE 1 5 1 1; Function 0 21 3 f(0); Next 1 3; Halt"},
	{"a release if first rows were kept", true, "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 11; Function 0 20 1 f(0); MakeRecord 1 1 3; Last 1 9; IdxLE 1 10 1 1; Delete 1; Noop; " +
		"IdxInsert 1 3 1 1; Next 0 3; Sort 1 13; Function 0 21 4 f(0); Halt"},
	{"a release for each of them", false, "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 11; Function 0 20 1 f(0); MakeRecord 1 1 3; Last 1 9; IdxLE 1 10 1 1; Delete 1; Noop; " +
		"IdxInsert 1 3 1 1; Next 0 3; Sort 1 14; Function 0 21 4 f(0); Next 1 12; Halt"},
	{"a release if rows were left", false, "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 11; Function 0 20 1 f(0); MakeRecord 1 1 3; Last 1 9; IdxLE 1 10 1 1; Delete 1; Goto 0 10; " +
		"IdxInsert 1 3 1 1; Next 0 3; Sort 1 13; Function 0 21 4 f(0); Halt"},
	{"a release if rows were stored", false, "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 8; Function 0 20 1 f(0); MakeRecord 1 1 3; If 1 7; IdxInsert 1 3 1 1; Next 0 3; Sort 1 10; Function 0 21 4 f(0); Halt"},
	{"a release of a row by a varying key", false, "OpenRead 1 2; Function 0 20 1 f(0); SeekRowid 1 3 1; Column 1 0 3; Function 0 3 4 f(1); Halt"},
	{"a release of a row by another key", true, "OpenRead 1 2; Function 0 20 1 f(0); SeekRowid 1 3 2; Column 1 0 3; Function 0 3 4 f(1); Halt"},
	{"a register that is written anew", true, "Function 0 20 1 f(0); ResultRow 1 1; Integer 5 1; If 1 5; Function 0 21 2 f(0); Halt"},
	{"a register that is written anew on one way", false, "Function 0 20 1 f(0); If 9 3; Integer 5 1; If 1 5; Function 0 21 2 f(0); Halt"},
	{"a register with NULL or what it had", false, "Function 0 20 1 f(0); IfNullRow 0 2 1; If 1 4; Function 0 21 2 f(0); Halt"},
	{"an accumulator of two steps", false, "Function 0 20 1 f(0); AggStep 0 1 6 sum(1); AggStep 0 9 6 sum(1); AggFinal 6 1 0 sum(1); If 6 6; Function 0 21 2 f(0); Halt"},
	{"a subroutine", true, "Function 0 20 1 f(0); If 1 3; Gosub 4 4; Halt; ResultRow 1 1; Return 4"},
	{"a subroutine with a release", false, "Function 0 20 1 f(0); If 1 3; Gosub 4 4; Halt; Function 0 21 2 f(0); Return 4"},
}

func TestDecisions(t *testing.T) {
	for _, c := range decisions {
		if got := program(t, strings.Split(c.program, "; ")...).Repeats(pure, idle, computed); got != c.proved {
			t.Errorf("%s: proved: %v", c.name, got)
		}
	}
}

// computed is whether a virtual table has the same rows for the same arguments.
func computed(table string) bool { return table == "json" }

func TestComputedTables(t *testing.T) {
	const varies, same = "Function 0 20 9 f(0); Integer 1 4; ", "Integer 1 4; Integer 5 5; "
	for lines, want := range map[string]bool{
		same + "VOpen 0 0 0 json; VFilter 0 7 3; VColumn 0 1 6; Function 0 6 7 f(1); VNext 0 4; Halt":    true,
		same + "VOpen 0 0 0 other; VFilter 0 7 3; VColumn 0 1 6; Function 0 6 7 f(1); VNext 0 4; Halt":   false,
		same + "OpenRead 0 2; VOpen 0 0 0 json; VFilter 0 8 3; VColumn 0 1 6; Function 0 6 7 f(1); Halt": false, // the cursor had another
		// The arguments vary: so does the number of rows, and what is read of them.
		varies + "Copy 9 5; VOpen 0 0 0 json; VFilter 0 8 3; VColumn 0 1 6; ResultRow 6 1; VNext 0 5; Function 0 20 7 f(0); Halt": true,
		varies + "Copy 9 5; VOpen 0 0 0 json; VFilter 0 8 3; Function 0 20 7 f(0); VNext 0 5; Halt":                               false,
		varies + "Copy 9 5; VOpen 0 0 0 json; VFilter 0 6 3; VColumn 0 1 6; Function 0 6 7 f(1); Halt":                            false,
		varies + "Copy 9 5; VOpen 0 0 0 other; VFilter 0 7 3; ResultRow 6 1; VNext 0 5; Halt":                                     false,
		// One run opens it and another does not.
		"Function 0 20 1 f(0); If 1 6; Integer 0 4; VOpen 0 0 0 json; VFilter 0 6 3; ResultRow 1 1; Halt":        true,
		"Function 0 20 1 f(0); If 1 6; Integer 0 4; VOpen 0 0 0 json; VFilter 0 6 3; Function 0 20 7 f(0); Halt": false,
		"Function 0 20 1 f(0); If 1 6; Integer 0 4; VOpen 0 0 0 other; VFilter 0 6 3; ResultRow 1 1; Halt":       false,
	} {
		if got := program(t, strings.Split(lines, "; ")...).Repeats(pure, idle, computed); got != want {
			t.Errorf("%s: proved: %v", lines, got)
		}
	}
}

func TestVirtualTables(t *testing.T) {
	for lines, want := range map[string]bool{
		"Integer 2 4; VFilter 0 9 3; Function 0 20 7 f(0)":  true,
		"Integer 3 4; VFilter 0 9 3; Function 0 20 7 f(0)":  false,
		"Integer 2 40; VFilter 0 9 3; Function 0 20 7 f(0)": false, // how many arguments is not known
		"VFilter 0 9 3; Function 0 20 7 f(0)":               false,
		"Integer 2 4; VFilter 0 9 3; VColumn 0 0 5":         false, // its own answer
		"Integer 2 4; VFilter 0 9 3; VColumn 0 0 7":         true,

		"MakeRecord 7 1 5; Insert 1 5 6; VInitIn 1 5 8; Integer 1 4; VFilter 0 9 3; Function 0 20 7 f(0)": false,
		"MakeRecord 9 1 5; Insert 1 5 6; VInitIn 1 5 8; Integer 1 4; VFilter 0 9 3; Function 0 20 7 f(0)": true,
	} {
		if got := program(t, strings.Split(lines, "; ")...).Repeats(pure, idle, computed); got != want {
			t.Errorf("%s: proved: %v", lines, got)
		}
	}
}

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		op       string
		property func(Program) bool
		want     bool
	}{
		{"Variable 1 2", Program.HasParameters, true}, {"Integer 1 2", Program.HasParameters, false},
		{"ResultRow 1 2", Program.ReturnsRows, true}, {"MakeRecord 1 2", Program.ReturnsRows, false},
		{"Transaction 0 1", Program.Writes, true}, {"Transaction 0 0 5 - 1", Program.Writes, false},
		{"ParseSchema 0", Program.ChangesSchema, true}, {"SetCookie 0", Program.ChangesSchema, false},
		{"Halt 1555 1", Program.RollsBack, true}, {"Halt 1555 2", Program.RollsBack, false}, {"Halt 0 0", Program.RollsBack, false},
		{"HaltIfNull 1299 1", Program.RollsBack, true}, {"HaltIfNull 1299 2", Program.RollsBack, false},
		{"VUpdate 0 3 5 vtab 1", Program.RollsBack, true}, {"VUpdate 0 3 5 vtab 2", Program.RollsBack, false},
	} {
		if got := c.property(program(t, "Init 0 1", c.op)); got != c.want {
			t.Errorf("%s: %v", c.op, got)
		}
	}
}

func TestFields(t *testing.T) {
	for n := range 70 {
		var all fields
		for i := range n {
			all |= field(i)
		}
		if got := firstFields(n); got != all {
			t.Errorf("the first %d fields are %b, want %b", n, got, all)
		}
	}
}

// Programs that call the release f, the aggregate g and the function h, which is no release: whether they make one call of f or g at the
// most, and whether nothing is called behind that.
func TestCallsOnce(t *testing.T) {
	releases := func(name string) bool { return name == "f" || name == "g" }
	for lines, want := range map[string]string{
		"Function 0 1 2 h(1); Halt":                                                                                    "once, at the end",
		"Function 0 1 2 h(1); Function 0 1 2 f(1); Halt":                                                               "once, at the end",
		"Function 0 1 2 f(1); Function 0 1 2 h(1); Halt":                                                               "once",
		"Function 0 1 2 f(1); Function 0 1 2 f(1); Halt":                                                               "",
		"If 1 3; Function 0 1 2 f(1); Halt; Function 0 1 2 f(1); Halt":                                                 "once, at the end",
		"SeekRowid 0 2 1; Function 0 1 2 f(1); Halt":                                                                   "once, at the end",
		"Rewind 0 3; Function 0 1 2 f(1); Next 0 1; Halt":                                                              "",
		"Rewind 0 3; AggStep 0 1 5 g(1); Next 0 1; AggFinal 5 1 0 g(1); Halt":                                          "once, at the end",
		"Rewind 0 3; AggStep 0 1 5 g(1); Next 0 1; AggFinal 5 1 0 g(1); Function 0 1 2 h(1); Halt":                     "once",
		"Rewind 0 4; AggStep 0 1 5 g(1); AggStep 0 1 6 g(1); Next 0 1; AggFinal 5 1 0 g(1); AggFinal 6 1 0 g(1); Halt": "",
		"Rewind 0 5; If 1 3; AggFinal 5 1 0 g(1); AggStep 0 1 5 g(1); Next 0 1; Halt":                                  "",
		"Rewind 0 3; AggStep 0 1 5 g(1); Next 0 1; AggFinal 5 1 0 g(1); AggFinal 6 1 0 sum(1); Halt":                   "once, at the end",
		"VOpen 0 0 0 json; Function 0 1 2 f(1); Halt":                                                                  "",
		"Function 0 1 2 f(1); SomethingNew; Halt":                                                                      "",
		"Function 0 1 2 f(1); If 1 3; Gosub 4 4; Halt; Function 0 1 2 h(1); Return 4":                                  "once",
	} {
		p, got := program(t, strings.Split(lines, "; ")...), ""
		if p.CallsOnce(releases, releases) {
			got = "once"
		}
		if p.CallsOnce(releases, func(string) bool { return true }) {
			got += ", at the end"
		}
		if got != want {
			t.Errorf("%s: it calls %q, want %q", lines, got, want)
		}
	}
}
