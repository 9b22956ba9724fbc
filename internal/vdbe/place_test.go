package vdbe

import (
	"fmt"
	"strings"
	"testing"
)

// Programs that step the aggregate g by columns, in registers 1 and 2, and two more registers; what is known of its arguments, or "-" if
// something may fail before an answer is in a row.
var placed = []struct{ want, program string }{
	{"[{g [  0.1 'u']}]", "Rewind 0 8; Column 0 0 1; Column 0 1 2; Real 0 3 0 0.1; String8 0 4 0 u; AggStep 0 1 9 g(4); AggFinal 9 4 0 g(4); ResultRow 9 1; Next 0 1; Halt"},
	{"-", "Rewind 0 8; Column 0 0 1; Column 0 1 2; Real 0 3 0 0.1; String8 0 4 0 u; AggStep 0 1 9 g(4); AggFinal 9 4 0 g(4); Next 0 1; ResultRow 9 1; Halt"},
	{"-", "AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); Function 0 1 5 abs(1); ResultRow 9 1; Halt"},
	{"[{g [ ]}]", "AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); Function 0 1 5 max(2); ResultRow 9 1; Halt"},                // sure to succeed
	{"[{g [ ]}]", "Function 0 1 5 abs(1); AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"},                // before it
	{"[{g [ ]}]", "AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Function 0 1 5 abs(1); ResultRow 5 1; Halt"}, // behind the row
	{"[{g [ ]}]", "AggStep 0 1 9 g(2); AggStep 0 1 8 sum(1); AggFinal 9 2 0 g(2); AggFinal 8 1 0 sum(1); ResultRow 8 2; Halt"},
	{"-", "Function 0 1 5 f(1); AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"}, // which may do anything
	{"-", "AggStep 0 1 9 g(2); AggValue 9 2 8 g(2); ResultRow 8 1; Halt"},
	{"-", "Function 0 1 5 g(1); ResultRow 5 1; Halt"},
	{"-", "Transaction 0 1; AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"},
	{"-", "VOpen 0; AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"},
	{"-", "SomethingNew; AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"},
	{"[{g [3 5000000000 '']}]", "Integer 3 1; Int64 0 2 0 5000000000; String8 0 3; AggStep 0 1 9 g(3); AggFinal 9 3 0 g(3); ResultRow 9 1; Halt"},
	{"[{g [ 'it''s']}]", "Variable 1 1; String8 0 2 0 it's; AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"},
	{"[{g [ 1.0e-06]}]", "Real 0 1 0 0.123456789012345; Real 0 2 0 1.0e-06; AggStep 0 1 9 g(2); AggFinal 9 2 0 g(2); ResultRow 9 1; Halt"}, // it may have more digits
	{"[{g []}]", "Integer 1 1; If 5 3; Integer 2 1; AggStep 0 1 9 g(1); AggFinal 9 1 0 g(1); ResultRow 9 1; Halt"},                         // one or the other
	{"[{g []}]", "Integer 1 1; AddImm 1 1; AggStep 0 1 9 g(1); AggFinal 9 1 0 g(1); ResultRow 9 1; Halt"},
	{"[{g [1]} {g [2]}]", "Integer 1 1; AggStep 0 1 9 g(1); Integer 2 1; AggStep 0 1 8 g(1); AggFinal 9 1 0 g(1); AggFinal 8 1 0 g(1); ResultRow 8 2; Halt"},
}

func TestPlaces(t *testing.T) {
	g := func(name string) bool { return name == "g" }
	for _, c := range placed {
		places, ok := program(t, strings.Split(c.program, "; ")...).Places(g, pure, func(name string) bool { return name == "max" })
		got := "-"
		if ok {
			got = fmt.Sprint(places)
		}
		if got != c.want {
			t.Errorf("%s\nhas %s, want %s", c.program, got, c.want)
		}
	}
}
