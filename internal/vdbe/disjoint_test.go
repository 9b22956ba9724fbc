package vdbe

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Programs that step the aggregate g with the argument in register 1, each with the reason why there
// is no proof that each row of a table causes one step, "" if there is a proof. Root pages are those
// of the tables t and u in turn. Jumps are to the number of the instruction, from 0.
var disjointPrograms = []struct{ name, why, program string }{
	{"a scan", "", "OpenRead 0 2; Rewind 0 5; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 2; AggFinal 5 1 0 g(1); Halt"},
	{"a scan backwards", "", "OpenRead 0 2; Last 0 5; Column 0 0 1; AggStep 0 1 5 g(1); Prev 0 2; AggFinal 5 1 0 g(1); Halt"},
	{"back and forth", "several times", "OpenRead 0 2; Last 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Prev 0 2; Next 0 2; Halt"},
	{"two steps a row", "several times", "OpenRead 0 2; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); If 3 3; Next 0 2; Halt"},
	{"a scan that starts again", "several times", "OpenRead 0 2; Rewind 0 5; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 2; If 3 1; Halt"},
	{"the row before", "not read from one row", "OpenRead 0 2; Rewind 0 5; AggStep 0 1 5 g(1); Column 0 0 1; Next 0 2; Halt"},
	{"a sum with the row before", "not read from one row", "OpenRead 0 2; Rewind 0 6; Column 0 0 2; Add 2 1 1; AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"two places", "", "OpenRead 0 2; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); AggStep 0 1 6 g(1); Next 0 2; Halt"},
	{"two cursors", "table t is read more than once",
		"OpenRead 0 2; OpenRead 1 4; Rewind 0 9; Rewind 1 9; Column 0 0 2; Column 1 0 3; Add 2 3 1; AggStep 0 1 5 g(1); Halt; Halt"},
	{"two tables", "", "OpenRead 0 2; OpenRead 1 3; Rewind 0 9; Rewind 1 9; Column 0 0 2; Column 1 0 3; Add 2 3 1; AggStep 0 1 5 g(1); Halt; Halt"},
	{"a row that is looked up", "", "OpenRead 0 2; OpenRead 1 3; Rewind 0 7; Column 0 0 1; SeekRowid 1 6 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a key that is looked for", "", "OpenRead 0 2; OpenRead 1 3; Rewind 0 7; Column 0 0 1; Found 1 6 1 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"what was found", "several times", "OpenRead 0 2; OpenRead 1 3; Rewind 0 7; NotFound 1 6 1 1; Column 1 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a sum with what is looked up", "table u may be used several times",
		"OpenRead 0 2; OpenRead 1 3; Rewind 0 9; Column 0 0 2; SeekRowid 1 8 2; Column 1 0 3; Add 2 3 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},

	// A value that a condition chooses depends on all that the condition goes by, but for whether that is NULL.
	{"one number or another", "", "OpenRead 0 2; Rewind 0 8; Column 0 0 2; Integer 0 1; Le 3 6 2; Integer 7 1; AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"one number or another, by a comparison of three outcomes", "", "OpenRead 0 2; Rewind 0 9; Column 0 0 2; Integer 0 1; Compare 2 3 1; Jump 6 7 7; Integer 7 1; AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"a number or NULL", "not read from one row", "OpenRead 0 2; Rewind 0 8; Column 0 0 2; Integer 0 1; IsNull 2 6; Integer 7 1; AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"a value by a row that is looked up", "table u may be used several times",
		"OpenRead 0 2; OpenRead 1 3; Rewind 0 10; Column 0 0 1; SeekRowid 1 9 1; Column 1 0 2; Le 3 8 2; Integer 7 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a value by a row that is looked up, kept in a flag", "table u may be used several times",
		"OpenRead 0 2; OpenRead 1 3; Rewind 0 13; Column 0 0 1; SeekRowid 1 12 1; Column 1 0 2; Integer 0 4; Le 3 9 2; Integer 1 4; If 4 11; Integer 7 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a value by a range that is looked up", "not read from one row",
		"OpenRead 0 2; OpenRead 1 3; Rewind 0 8; Column 0 0 1; SeekGT 1 6 9 1; Integer 7 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a value by the row before", "not read from one row", "OpenRead 0 2; Rewind 0 7; Le 3 4 2; Integer 7 1; AggStep 0 1 5 g(1); Column 0 0 2; Next 0 2; Halt"},
	{"a step or none by a row that is looked up", "",
		"OpenRead 0 2; OpenRead 1 3; Rewind 0 9; Column 0 0 1; SeekRowid 1 8 1; Column 1 0 2; Le 3 8 2; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a parameter", "not read from one row", "OpenRead 0 2; Rewind 0 6; Variable 1 1; AggStep 0 1 5 g(1); Next 0 3; Halt; Halt"},
	{"a constant", "not read from one row", "OpenRead 0 2; Rewind 0 6; Integer 1 1; AggStep 0 1 5 g(1); Next 0 3; Halt; Halt"},
	{"an impure function", "not read from one row", "OpenRead 0 2; Rewind 0 6; Column 0 0 2; Function 0 2 1 f(1); AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"a pure function", "", "OpenRead 0 2; Rewind 0 6; Column 0 0 2; Function 0 2 1 abs(1); AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"a virtual table", "not read from one row", "VOpen 0; VFilter 0 5 3; VColumn 0 0 1; AggStep 0 1 5 g(1); VNext 0 2; Halt"},
	{"a list for a virtual table", "not understood: VInitIn", "OpenRead 0 2; VInitIn 1 5 6; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"an unknown instruction", "not understood: RowSetRead", "OpenRead 0 2; Rewind 0 6; Column 0 0 1; RowSetRead 7; AggStep 0 1 5 g(1); Next 0 2; Halt"},
	{"a trigger", "triggers", "OpenRead 0 2; Rewind 0 5; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 2; Program 1 2 3; Halt"},
	{"a window", "as a window function", "OpenRead 0 2; Rewind 0 5; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 2; AggValue 5 0 3 g(1); Halt"},
	{"a window of another function", "", "OpenRead 0 2; Rewind 0 7; Column 0 0 1; AggStep 0 1 5 g(1); AggStep 0 1 6 sum(1); AggValue 6 1 3 sum(1); Next 0 2; Halt"},
	{"a running sum that is asked for", "may be used several times", "OpenRead 0 2; Rewind 0 7; Column 0 0 1; AggStep 0 1 6 sum(1); AggValue 6 1 3 sum(1); AggStep 0 3 5 g(1); Next 0 2; Halt"},
	{"a sum that is asked for once", "", "OpenRead 0 2; Rewind 0 8; Null 0 6; Column 0 0 1; AggStep 0 1 6 sum(1); AggValue 6 1 3 sum(1); AggStep 0 3 5 g(1); Next 0 2; Halt"},
	{"a step that is taken back", "table t is read more than once", "OpenRead 0 2; OpenRead 1 2; Rewind 0 11; Rewind 1 11; Null 0 6; Column 0 0 1; AggStep 0 1 6 sum(1); " +
		"Column 1 0 1; AggInverse 0 1 6 sum(1); AggValue 6 1 3 sum(1); AggStep 0 3 5 g(1); Halt"},
	{"a table that is written", "writes table t", "OpenRead 0 2; OpenWrite 1 4; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"another table that is written", "", "OpenRead 0 2; OpenWrite 1 3; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a new table", "", "OpenRead 0 2; OpenWrite 1 4 0 - 16; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},

	// Field 1 of the sorter's records is read from the row; field 0 from the row before.
	{"a sorter", "", "OpenRead 0 2; SorterOpen 1 2; Rewind 0 8; Column 0 1 3; MakeRecord 2 2 4; SorterInsert 1 4; Column 0 0 2; Next 0 3; " +
		"OpenPseudo 2 7; SorterSort 1 14; SorterData 1 7 2; Column 2 1 1; AggStep 0 1 5 g(1); SorterNext 1 10; Halt"},
	{"another field", "not read from one row", "OpenRead 0 2; SorterOpen 1 2; Rewind 0 8; Column 0 1 3; MakeRecord 2 2 4; SorterInsert 1 4; Column 0 0 2; Next 0 3; " +
		"OpenPseudo 2 7; SorterSort 1 14; SorterData 1 7 2; Column 2 0 1; AggStep 0 1 5 g(1); SorterNext 1 10; Halt"},
	{"two records a row", "several times", "OpenRead 0 2; SorterOpen 1 2; Rewind 0 8; Column 0 1 3; MakeRecord 2 2 4; SorterInsert 1 4; SorterInsert 1 4; Next 0 3; " +
		"OpenPseudo 2 7; SorterSort 1 14; SorterData 1 7 2; Column 2 1 1; AggStep 0 1 5 g(1); SorterNext 1 10; Halt"},
	{"a record of the sorter before", "not read from one row", "OpenRead 0 2; SorterOpen 1 2; Rewind 0 8; Column 0 1 3; MakeRecord 2 2 4; SorterInsert 1 4; Noop; Next 0 3; " +
		"OpenPseudo 2 7; SorterSort 1 14; Column 2 1 1; SorterData 1 7 2; AggStep 0 1 5 g(1); SorterNext 1 10; Halt"},

	// A sorter that keeps one row: the rows are read behind Sort, and its last is looked at before.
	{"the first rows", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 1; AggStep 0 1 5 g(1); Column 0 1 2; MakeRecord 2 1 3; Last 1 11; " +
		"IdxLE 1 12 2 1; Delete 1; Noop; IdxInsert 1 3 2 1; Next 0 3; Sort 1 16; Column 1 0 4; Next 1 14; Halt"},
	{"the first rows, of which the last is read", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 1; AggStep 0 1 5 g(1); " +
		"Column 0 1 2; MakeRecord 2 1 3; Last 1 11; IdxLE 1 12 2 1; Rowid 1 4; Delete 1; IdxInsert 1 3 2 1; Next 0 3; Sort 1 16; Column 1 0 4; Next 1 14; Halt"},
	{"the last row, which is read at the end", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 1; AggStep 0 1 5 g(1); " +
		"Column 0 1 2; MakeRecord 2 1 3; Last 1 11; IdxLE 1 12 2 1; Delete 1; Noop; IdxInsert 1 3 2 1; Next 0 3; Noop; Column 1 0 4; Next 1 14; Halt"},
	{"a sum of the first rows", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 10; Column 0 1 2; MakeRecord 2 1 3; Last 1 8; " +
		"IdxLE 1 9 2 1; Delete 1; IdxInsert 1 3 2 1; Next 0 3; Sort 1 14; Column 1 0 1; AggStep 0 1 5 g(1); Next 1 11; Halt"},

	{"a sum of the last row before each", "a subquery may be used several times", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 10; Column 0 1 2; MakeRecord 2 1 3; Last 1 8; " +
		"Column 1 0 1; AggStep 0 1 5 g(1); IdxInsert 1 3 2 1; Next 0 3; Halt"},

	// Field 0 of the sorter's records is looked up, field 1 is read from the row.
	{"a field that is not looked up", "", "OpenRead 0 2; OpenRead 3 3; SorterOpen 1 2; Rewind 0 10; Column 0 0 3; SeekRowid 3 9 3; Column 3 0 2; MakeRecord 2 2 4; SorterInsert 1 4; Next 0 4; " +
		"OpenPseudo 2 7; SorterSort 1 16; SorterData 1 7 2; Column 2 1 1; AggStep 0 1 5 g(1); SorterNext 1 12; Halt"},
	{"a field that is looked up", "table u may be used several times", "OpenRead 0 2; OpenRead 3 3; SorterOpen 1 2; Rewind 0 10; Column 0 0 3; SeekRowid 3 9 3; Column 3 0 2; MakeRecord 2 2 4; SorterInsert 1 4; Next 0 4; " +
		"OpenPseudo 2 7; SorterSort 1 16; SorterData 1 7 2; Column 2 0 1; AggStep 0 1 5 g(1); SorterNext 1 12; Halt"},

	// A table of the statement's own is started over and over: that of windows over rows.
	{"rows that are deleted when they are read", "", "OpenRead 0 2; OpenEphemeral 1 1; Rewind 0 13; Column 0 0 2; MakeRecord 2 1 3; NewRowid 1 4; Insert 1 3 4; " +
		"Rewind 1 12; Column 1 0 1; AggStep 0 1 5 g(1); Delete 1; Next 1 8; Next 0 3; Halt"},
	{"rows that stay", "a subquery may be used several times", "OpenRead 0 2; OpenEphemeral 1 1; Rewind 0 13; Column 0 0 2; MakeRecord 2 1 3; NewRowid 1 4; Insert 1 3 4; " +
		"Rewind 1 12; Column 1 0 1; AggStep 0 1 5 g(1); Noop; Next 1 8; Next 0 3; Halt"},
	{"rows of which the next is deleted", "a subquery may be used several times", "OpenRead 0 2; OpenEphemeral 1 1; Rewind 0 13; Column 0 0 2; MakeRecord 2 1 3; NewRowid 1 4; Insert 1 3 4; " +
		"Rewind 1 12; Column 1 0 1; AggStep 0 1 5 g(1); Next 1 11; Delete 1; Next 0 3; Halt"},

	// A table of the statement's own is looked through while groups go on: that of windows over the groups.
	{"answers", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 1; AggStep 0 1 5 g(1); If 3 12; AggFinal 5 1 0 g(1); Column 0 0 6; " +
		"MakeRecord 5 2 4; Insert 1 4 7; Rewind 1 12; Column 1 0 8; Next 0 3; Halt"},
	{"answers and rows", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 14; Column 0 0 1; AggStep 0 1 5 g(1); If 3 13; AggFinal 5 1 0 g(1); Column 0 0 6; " +
		"MakeRecord 5 2 4; Insert 1 4 7; Insert 1 4 7; Rewind 1 13; Column 1 0 8; Next 0 3; Halt"},
	{"a row before the answers", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 14; Column 0 0 6; Insert 1 6 7; Column 0 0 1; AggStep 0 1 5 g(1); If 3 13; " +
		"AggFinal 5 1 0 g(1); MakeRecord 5 2 4; Insert 1 4 7; Rewind 1 13; Column 1 0 8; Next 0 5; Halt"},

	// An index, root page 4, leads the table.
	{"an index", "", "OpenRead 0 2; OpenRead 1 4; Rewind 1 7; DeferredSeek 1 0 0; Column 0 0 1; AggStep 0 1 5 g(1); Next 1 3; Halt"},
	{"a table behind its index", "not read from one row", "OpenRead 0 2; OpenRead 1 4; Rewind 1 7; Column 0 0 1; AggStep 0 1 5 g(1); DeferredSeek 1 0 0; Next 1 3; Halt"},

	// An accumulator of the aggregate sum, which gets a group of rows before each step.
	{"sums of groups", "", "OpenRead 0 2; Rewind 0 9; Column 0 0 2; AggStep 0 2 6 sum(1); If 3 8; AggFinal 6 1 0 sum(1); AggStep 0 6 5 g(1); Null 0 6; Next 0 2; Halt"},
	{"counts of groups", "", "OpenRead 0 2; Rewind 0 9; Noop; AggStep 0 0 6 count(0); If 3 8; AggFinal 6 0 0 count(0); AggStep 0 6 5 g(1); Null 0 6; Next 0 2; Halt"},
	{"counts of a join", "may be used several times",
		"OpenRead 0 2; OpenRead 1 3; Rewind 0 11; Rewind 1 6; AggStep 0 0 6 count(0); Next 1 4; AggFinal 6 0 0 count(0); AggStep 0 6 5 g(1); Null 0 6; If 3 3; Next 0 3; Halt"},
	{"running sums", "may be used several times", "OpenRead 0 2; Rewind 0 9; Column 0 0 2; AggStep 0 2 6 sum(1); If 3 8; AggFinal 6 1 0 sum(1); AggStep 0 6 5 g(1); Null 0 7; Next 0 2; Halt"},

	// A LEFT JOIN passes a row on with NULLs if its register says that no other was found.
	{"a LEFT JOIN", "", "OpenRead 0 2; OpenRead 1 3; Rewind 0 13; Integer 0 4; Column 0 0 1; SeekRowid 1 9 1; Integer 1 4; Column 0 0 1; AggStep 0 1 5 g(1); " +
		"IfPos 4 12; NullRow 1; Goto 0 6; Next 0 3; Halt"},
	{"a LEFT JOIN that forgets", "several times", "OpenRead 0 2; OpenRead 1 3; Rewind 0 13; Integer 0 4; Column 0 0 1; SeekRowid 1 9 1; Column 1 0 4; Column 0 0 1; AggStep 0 1 5 g(1); " +
		"IfPos 4 12; NullRow 1; Goto 0 6; Next 0 3; Halt"},
	{"a LEFT JOIN that counts", "several times", "OpenRead 0 2; OpenRead 1 3; Rewind 0 13; Integer 0 4; Column 0 0 1; SeekRowid 1 9 1; Integer 1 4; Column 0 0 1; AggStep 0 1 5 g(1); " +
		"IfPos 4 12 1; NullRow 1; Goto 0 6; Next 0 3; Halt"},
	{"a LEFT JOIN of several rows", "several times", "OpenRead 0 2; OpenRead 1 3; Rewind 0 13; Integer 0 4; Rewind 1 9; Integer 1 4; Column 0 0 1; AggStep 0 1 5 g(1); Next 1 5; " +
		"IfPos 4 12; NullRow 1; Goto 0 5; Next 0 3; Halt"},

	// Subroutines return to where they were called from, coroutines go on where they stopped.
	{"a subroutine", "", "OpenRead 0 2; Gosub 9 9; Rewind 0 7; Column 0 0 1; AggStep 0 1 5 g(1); If 3 7; Next 0 3; Gosub 9 9; Halt; Noop; Return 9"},
	{"a subroutine that is entered without a call", "", "OpenRead 0 2; BeginSubrtn 0 9; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; Return 9 2 1; Halt"},
	{"a subroutine that is entered in a loop", "several times",
		"OpenRead 0 2; BeginSubrtn 0 9; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; Return 9 2 1; Gosub 9 2; If 3 7; Halt"},
	{"a coroutine", "", "OpenRead 0 2; InitCoroutine 9 7 2; Rewind 0 6; Column 0 0 1; Yield 9; Next 0 3; EndCoroutine 9; " +
		"Yield 9 10; AggStep 0 1 5 g(1); Goto 0 7; Halt"},
	{"a coroutine with two rows for one", "several times", "OpenRead 0 2; InitCoroutine 9 8 2; Rewind 0 7; Column 0 0 1; Yield 9; Yield 9; Next 0 3; EndCoroutine 9; " +
		"Yield 9 11; AggStep 0 1 5 g(1); Goto 0 8; Halt"},
	{"once", "", "OpenRead 0 2; Once 0 6; Rewind 0 6; Column 0 0 1; AggStep 0 1 5 g(1); Next 0 3; If 3 1; Halt"},
	{"a return to nowhere", "not understood", "Return 9; Halt"},

	// A cursor over an index of t, root page 4, starts by a key that is read from a row of u: its number, field 0 or field 1, which may be NULL, are unique, and field 2 is not.
	{"a join that begins with the other table", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"a join that steps to the row of a key if it is near", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; SeekScan 5 7; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by another field", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Column 0 2 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a unique field", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Column 0 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a unique field that may be NULL", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Column 0 1 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a unique field that is not NULL", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Column 0 1 2; IsNull 2 10; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a unique field of which NULL is tested and forgotten", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Column 0 1 2; IsNull 2 5; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by texts that become numbers", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 12; Column 0 1 2; IsNull 2 11; Affinity 2 1 0 C; SeekGE 1 11 2 1; IdxGT 1 11 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 7; Next 0 3; Halt"},
	{"by numbers that become texts", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Affinity 2 1 0 B; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by numbers that become texts behind the start", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; SeekGE 1 10 2 1; Affinity 2 1 0 B; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by numbers that become less exact", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; RealAffinity 2; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a number that is moved away", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Move 2 9 1; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a number or another value", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Integer 5 2; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"without an end", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; Noop; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"with an end by another value", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 3 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"with an end that is passed over", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 7 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"without the key at the start", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGT 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"without the key at the end", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGE 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by a first part", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGT 1 10 2 2; IdxGE 1 10 2 2; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"from the other end", "", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekLE 1 10 2 1; IdxLT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Prev 1 6; Next 0 3; Halt"},
	{"away from the key", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Prev 1 6; Next 0 3; Halt"},
	{"by a collation that takes texts for equal", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,NOCASE,); Rewind 0 11; Column 0 1 2; IsNull 2 10; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"for each row twice", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 12; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; If 9 3; Next 0 3; Halt"},
	{"by the number of the first row", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 5; Halt"},
	{"with an end by the number of another row", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; Noop; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 12; Next 0 3; Halt; Next 0 14; Halt; Rowid 0 2; Goto 0 6"},
	{"of a table that is written", "several times", "OpenRead 0 3; OpenRead 1 4 0 k(2,,); Rewind 0 11; Rowid 0 2; OpenWrite 3 3; SeekGE 1 10 2 1; IdxGT 1 10 2 1; Column 1 1 1; AggStep 0 1 5 g(1); Next 1 6; Next 0 3; Halt"},
	{"by the number of a row", "", "OpenRead 0 3; OpenRead 1 2; Rewind 0 8; Rowid 0 2; SeekRowid 1 7 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"by the number of a row, from a text", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 9; Column 0 1 2; IsNull 2 8; SeekRowid 1 8 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 0 3; Halt"},
	{"a LEFT JOIN that begins with the other table", "", "OpenRead 0 3; OpenRead 1 2; OpenRead 3 4 0 k(2,,); Rewind 0 18; Integer 0 4; Rowid 0 2; SeekGE 3 13 2 1; IdxGT 3 13 2 1; DeferredSeek 3 0 1; Integer 1 4; Column 1 0 1; AggStep 0 1 5 g(1); Next 3 7; IfPos 4 17; NullRow 1; NullRow 3; Goto 0 9; Next 0 4; Halt"},
	{"a LEFT JOIN that keeps the last row", "not read from one row", "OpenRead 0 3; OpenRead 1 2; OpenRead 3 4 0 k(2,,); Rewind 0 18; Integer 0 4; Rowid 0 2; SeekGE 3 13 2 1; IdxGT 3 13 2 1; DeferredSeek 3 0 1; Integer 1 4; Column 1 0 1; AggStep 0 1 5 g(1); Next 3 7; IfPos 4 17; Noop; NullRow 3; Goto 0 9; Next 0 4; Halt"},

	// The keys are in a table of the statement's own.
	{"a list of numbers", "", "OpenRead 1 2; OpenEphemeral 2 1 0 k(1,); Integer 1 3; MakeRecord 3 1 4 D; IdxInsert 2 4; Rewind 2 11; Column 2 0 2; SeekRowid 1 10 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 2 6; Halt"},
	{"a list of numbers and texts that look like them", "several times", "OpenRead 1 2; OpenEphemeral 2 1 0 k(1,); Integer 1 3; MakeRecord 3 1 4; IdxInsert 2 4; Rewind 2 11; Column 2 0 2; SeekRowid 1 10 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 2 6; Halt"},
	{"a list that is sorted by more", "several times", "OpenRead 1 2; OpenEphemeral 2 1 0 k(2,,); Integer 1 3; MakeRecord 3 1 4 D; IdxInsert 2 4; Rewind 2 11; Column 2 0 2; SeekRowid 1 10 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 2 6; Halt"},
	{"a list with numbers of rows", "several times", "OpenRead 1 2; OpenEphemeral 2 1 0 k(1,); Integer 1 3; MakeRecord 3 1 4 D; Insert 2 4 6; Rewind 2 11; Column 2 0 2; SeekRowid 1 10 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 2 6; Halt"},
	{"a list that is read twice", "several times", "OpenRead 1 2; OpenEphemeral 2 1 0 k(1,); Integer 1 3; MakeRecord 3 1 4 D; IdxInsert 2 4; Rewind 2 12; Column 2 0 2; SeekRowid 1 10 2; Column 1 0 1; AggStep 0 1 5 g(1); Next 2 6; If 9 5; Halt"},
	{"two lists", "", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 1 0 k(1,); OpenEphemeral 3 1 0 k(1,); Rewind 2 14; Column 2 0 2; Rewind 3 13; Column 3 0 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 3 6; Next 2 4; Halt"},
	{"a list of pairs", "", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DD; IdxInsert 2 7; Rewind 2 13; Column 2 0 2; Column 2 1 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs, with the fields in another order", "", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DD; IdxInsert 2 7; Rewind 2 13; Column 2 1 2; Column 2 0 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs, with the first in the key", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DD; IdxInsert 2 7; Rewind 2 13; Column 2 0 2; Column 2 1 3; SeekGE 1 12 2 1; IdxGT 1 12 2 1; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs, with the second in the key", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DD; IdxInsert 2 7; Rewind 2 13; Column 2 0 2; Column 2 1 3; SeekGE 1 12 3 1; IdxGT 1 12 3 1; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs, with the first twice in the key", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DD; IdxInsert 2 7; Rewind 2 13; Column 2 0 2; Column 2 0 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs that differ in more", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(3,,,); MakeRecord 6 3 7 DDD; IdxInsert 2 7; Rewind 2 13; Column 2 0 2; Column 2 1 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs, the second of which is compared without case", "several times", "OpenRead 1 4 0 k(3,,NOCASE,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DD; IdxInsert 2 7; Rewind 2 13; Column 2 0 2; Column 2 1 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 2 5; Halt"},
	{"a list of pairs, the second of which is converted", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 2 0 k(2,,); MakeRecord 6 2 7 DB; IdxInsert 2 7; Rewind 2 14; Column 2 0 2; Column 2 1 3; Affinity 2 2 0 CC; SeekGE 1 13 2 2; IdxGT 1 13 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 9; Next 2 5; Halt"},
	{"two lists, with the first in the key", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 1 0 k(1,); OpenEphemeral 3 1 0 k(1,); Rewind 2 14; Column 2 0 2; Rewind 3 13; Column 3 0 3; SeekGE 1 12 2 1; IdxGT 1 12 2 1; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 3 6; Next 2 4; Halt"},
	{"two lists, with the second in the key", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 1 0 k(1,); OpenEphemeral 3 1 0 k(1,); Rewind 2 14; Column 2 0 2; Rewind 3 13; Column 3 0 3; SeekGE 1 12 3 1; IdxGT 1 12 3 1; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 3 6; Next 2 4; Halt"},
	{"two lists, the second read twice", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 1 0 k(1,); OpenEphemeral 3 1 0 k(1,); Rewind 2 15; Column 2 0 2; Rewind 3 13; Column 3 0 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 3 6; If 9 5; Next 2 4; Halt"},
	{"two lists, the first read twice", "several times", "OpenRead 1 4 0 k(3,,,); OpenEphemeral 2 1 0 k(1,); OpenEphemeral 3 1 0 k(1,); Rewind 2 14; Column 2 0 2; Rewind 3 13; Column 3 0 3; SeekGE 1 12 2 2; IdxGT 1 12 2 2; Column 1 2 8; AggStep 0 8 5 g(1); Next 1 8; Next 3 6; Next 2 4; If 9 3; Halt"},

	// All rows of t are read, and compared with a value of u.
	{"a comparison", "", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Ne 2 8 3 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison the other way round", "", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Ne 3 8 2 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison by which NULL is equal", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Ne 2 8 3 BINARY-8 208; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison that NULL passes", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Ne 2 8 3 BINARY-8 64; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison by a collation", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Ne 2 8 3 NOCASE-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison that makes numbers of texts", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Column 0 1 2; Ne 2 8 3 BINARY-8 83; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison of texts", "", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Column 0 1 2; Ne 2 8 3 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison that is passed over", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Ne 2 7 3 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison with a function of the row", "", "OpenRead 0 3; OpenRead 1 2; Rewind 0 11; Rewind 1 10; Column 1 0 3; Rowid 0 2; Function 0 3 4 abs(1); Ne 2 9 4 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison with a number of a sequence", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 11; Rewind 1 10; Column 1 0 3; Rowid 0 2; Sequence 7 4; Ne 2 9 4 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"a comparison with a sum of a field and a number of a sequence", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 12; Rewind 1 11; Column 1 0 3; Rowid 0 2; Sequence 7 6; Add 6 3 4; Ne 2 10 4 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},
	{"less than", "several times", "OpenRead 0 3; OpenRead 1 2; Rewind 0 10; Rewind 1 9; Column 1 0 3; Rowid 0 2; Gt 2 8 3 BINARY-8 80; AggStep 0 3 5 g(1); Next 1 4; Next 0 3; Halt"},

	// An index, root page 7, leads a table WITHOUT ROWID, root page 6, with the key in field 0.
	{"a table WITHOUT ROWID by an index", "", "OpenRead 0 6 0 k(1,); OpenRead 1 7 0 k(2,,); Rewind 1 8; Column 1 1 2; NotFound 0 7 2 1; Column 0 1 1; AggStep 0 1 5 g(1); Next 1 3; Halt"},
	{"a table WITHOUT ROWID by another field", "several times", "OpenRead 0 6 0 k(1,); OpenRead 1 7 0 k(2,,); Rewind 1 8; Column 1 0 2; NotFound 0 7 2 1; Column 0 1 1; AggStep 0 1 5 g(1); Next 1 3; Halt"},
	{"a table WITHOUT ROWID behind its index", "not read from one row", "OpenRead 0 6 0 k(1,); OpenRead 1 7 0 k(2,,); Rewind 1 8; Column 1 1 2; Column 0 1 1; NotFound 0 7 2 1; AggStep 0 1 5 g(1); Next 1 3; Halt"},
	{"a table WITHOUT ROWID by the row before", "not read from one row", "OpenRead 0 6 0 k(1,); OpenRead 1 7 0 k(2,,); Rewind 1 8; Column 1 1 2; NotFound 0 7 2 1; Column 0 1 1; AggStep 0 1 5 g(1); Next 1 4; Halt"},
	{"a table WITHOUT ROWID by a key that is converted", "several times", "OpenRead 0 6 0 k(1,); OpenRead 1 7 0 k(2,,); Rewind 1 9; Column 1 1 2; Affinity 2 1 0 C; NotFound 0 8 2 1; Column 0 1 1; AggStep 0 1 5 g(1); Next 1 3; Halt"},

	// Two readings of an index of t for one step, with a set of the numbers of rows.
	{"a set of rows", "", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 17; Next 2 4; Rewind 2 15; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 14 9 -1; Gosub 7 17; Next 2 10; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set that is not asked", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 17; Next 2 4; Rewind 2 15; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 14 9 0; Gosub 7 17; Next 2 10; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set, and a row that is looked up", "", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 14; Next 2 4; SeekRowid 0 13 3; Rowid 0 9; RowSetTest 8 13 9 -1; Gosub 7 14; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set that does not have the row that is looked up", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 14; Next 2 4; SeekRowid 0 13 3; IdxRowid 2 9; RowSetTest 8 13 9 -1; Gosub 7 14; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a row that is looked up, and in no set", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 14; Next 2 4; SeekRowid 0 13 3; Rowid 0 9; Noop; Gosub 7 14; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a row that its leader has left", "not read from one row", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Next 2 8; Gosub 7 14; SeekRowid 0 13 3; Rowid 0 9; RowSetTest 8 13 9 -1; Gosub 7 14; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a row to which its leader has not led", "not read from one row", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 10; If 11 6; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 9 9 0; Gosub 7 15; Next 2 4; SeekRowid 0 14 3; Rowid 0 9; RowSetTest 8 14 9 -1; Gosub 7 15; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"two sets", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 17; Next 2 4; Rewind 2 15; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 10 14 9 -1; Gosub 7 17; Next 2 10; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set that is emptied", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 18; Next 2 4; Null 0 8; Rewind 2 16; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 15 9 -1; Gosub 7 18; Next 2 11; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set that is passed over", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 17; Next 2 4; Rewind 2 15; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 13 9 -1; Gosub 7 17; Next 2 10; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set of another table's rows", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 17; Next 2 4; Rewind 2 15; DeferredSeek 2 0; Rowid 3 9; RowSetTest 8 14 9 -1; Gosub 7 17; Next 2 10; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set of the numbers of the rows before", "not read from one row", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 17; Next 2 4; Rewind 2 15; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 14 9 -1; Gosub 7 17; Next 2 12; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},
	{"a set that is read in one phase twice", "several times", "OpenRead 0 2; OpenRead 2 4; Null 0 8; Rewind 2 9; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 8 9 0; Gosub 7 18; Next 2 4; If 11 3; Rewind 2 16; DeferredSeek 2 0; IdxRowid 2 9; RowSetTest 8 15 9 -1; Gosub 7 18; Next 2 11; Halt; Halt; Column 0 0 1; AggStep 0 1 5 g(1); Return 7"},

	// A sorter of a part of the rows after the other.
	{"a sorter that is emptied", "", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 2; MakeRecord 2 1 3; IdxInsert 1 3; If 9 12; Sort 1 11; Column 1 0 1; AggStep 0 1 5 g(1); Next 1 8; ResetSorter 1; Next 0 3; Halt"},
	{"a sorter that is not emptied", "a subquery may be used several times", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 2; MakeRecord 2 1 3; IdxInsert 1 3; If 9 12; Sort 1 11; Column 1 0 1; AggStep 0 1 5 g(1); Next 1 8; Noop; Next 0 3; Halt"},
	{"another sorter that is emptied", "a subquery may be used several times", "OpenRead 0 2; OpenEphemeral 1 2; Rewind 0 13; Column 0 0 2; MakeRecord 2 1 3; IdxInsert 1 3; If 9 12; Sort 1 11; Column 1 0 1; AggStep 0 1 5 g(1); Next 1 8; ResetSorter 2; Next 0 3; Halt"},
	{"a program without end", "not understood", "OpenRead 0 2"},
}

func TestDisjoint(t *testing.T) {
	tables := map[int]Btree{
		2: {Table: "t"}, 4: {Table: "t"},
		3: {Table: "u", Fields: []Field{{Affinity: integer, Unique: true, NotNull: true}, {Column: 1, Affinity: text, Unique: true}, {Column: 2, Affinity: integer}}},
		6: {Table: "v", Key: 1, Fields: []Field{{}, {Column: 1}}}, 7: {Table: "v", Fields: []Field{{Column: 1}, {}}},
	}
	for _, c := range disjointPrograms {
		p := program(t, strings.Split(c.program, "; ")...)
		err := p.Disjoint("g", 0, pure, func(_, root int) Btree { return tables[root] })
		if c.why == "" && err != nil || c.why != "" && !strings.Contains(fmt.Sprint(err), c.why) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
	}
}

// A table without a known name may be any other.
func TestUnknownTables(t *testing.T) {
	p := program(t, strings.Split("OpenRead 0 2; OpenRead 1 3; Rewind 0 9; Rewind 1 9; Column 0 0 2; Column 1 0 3; Add 2 3 1; AggStep 0 1 5 g(1); Halt; Halt", "; ")...)
	if err := p.Disjoint("g", 0, pure, func(int, int) Btree { return Btree{} }); err == nil {
		t.Error("proved")
	}
}

// A program with more paths than can be followed is not proved.
func TestDisjointEnds(t *testing.T) {
	lines := []string{"OpenRead 0 2"}
	for i := range 20 { // each may be run or not before the next
		lines = append(lines, fmt.Sprintf("If 3 %d", 2*i+3), fmt.Sprintf("Once 0 %d", 2*i+3))
	}
	p := program(t, append(lines, "Rewind 0 45", "Column 0 0 1", "AggStep 0 1 5 g(1)", "Next 0 42", "Halt")...)
	if err := p.Disjoint("g", 0, pure, func(int, int) Btree { return Btree{Table: "t"} }); !errors.Is(err, errTooLong) {
		t.Error(err)
	}
}
