package vdbe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Programs over the table with root page 2, where field 1 is the sealed column s, and its index with root
// page 4, where field 0 is; each with the uses of a sealed value, as kind and name. Jumps are to the
// number of the instruction, from 0.
var sealedPrograms = []struct{ name, want, program string }{
	{"a public field", "", "OpenRead 0 2; Rewind 0 5; Column 0 0 1; AggStep 0 1 5 sum(1) 1; Next 0 2; Halt"},
	{"another table", "", "OpenRead 0 3; Rewind 0 5; Column 0 1 1; AggStep 0 1 5 sum(1) 1; Next 0 2; Halt"},
	{"a sum", "1 sum", "OpenRead 0 2; Rewind 0 5; Column 0 1 1; AggStep 0 1 5 sum(1) 1; Next 0 2; Halt"},
	{"a count", "", "OpenRead 0 2; Rewind 0 5; Column 0 1 1; AggStep 0 1 5 count(1) 1; Next 0 2; Halt"},
	{"a private sum", "", "OpenRead 0 2; Rewind 0 6; Column 0 1 1; Real 0 2; AggStep 0 1 5 dx(2) 2; Next 0 2; Halt"},
	{"what a private function answers", "", "OpenRead 0 2; Column 0 1 1; Function 0 1 2 dx(1); Add 2 2 3; Halt"},
	{"what keeps a value sealed", "2 +", "OpenRead 0 2; Column 0 1 1; Function 0 1 2 keep(1); Add 2 2 3; Halt"},
	{"a register that is used again", "", "OpenRead 0 2; Column 0 1 1; ResultRow 1 1; Column 0 0 1; Add 1 1 3; Halt"},
	{"a copy", "2 *", "OpenRead 0 2; Column 0 1 1; SCopy 1 4; Copy 4 5 0; Move 5 6 1; Multiply 6 7 8; Halt"},
	{"one of two paths", "2 *", "OpenRead 0 2; If 9 4; Column 0 1 1; Goto 0 5; Integer 3 1; Multiply 1 1 8; Halt"},
	{"any number of arguments", "0 max", "OpenRead 0 2; Column 0 1 3; Function 0 1 4 max(-1); Halt"},
	{"at most two arguments", "", "OpenRead 0 2; Column 0 1 3; Function 0 1 4 printf(-1); Halt"},
	{"a comparison", "3 =", "OpenRead 0 2; Column 0 1 1; Eq 2 3 1; Halt"},
	{"a test for NULL", "", "OpenRead 0 2; Column 0 1 1; IsNull 1 3; NotNull 1 4; Halt"},
	{"a field of a sorter", "", "OpenRead 0 2; SorterOpen 1 2 0 k(1,B); Column 0 0 1; Column 0 1 2; MakeRecord 1 2 3; SorterInsert 1 3; SorterSort 1 9; " +
		"OpenPseudo 2 4; SorterData 1 4 2; Column 2 0 5; Add 5 5 6; Halt"},
	{"the other field of a sorter", "2 +", "OpenRead 0 2; SorterOpen 1 2 0 k(1,B); Column 0 0 1; Column 0 1 2; MakeRecord 1 2 3; SorterInsert 1 3; SorterSort 1 9; " +
		"OpenPseudo 2 4; SorterData 1 4 2; Column 2 1 5; Add 5 5 6; Halt"},
	{"the key of a sorter", "6 ", "OpenRead 0 2; SorterOpen 1 2 0 k(2,B,B); Column 0 0 1; Column 0 1 2; MakeRecord 1 2 3; SorterInsert 1 3; SorterSort 1 7; Halt"},
	{"a sorter of unknown keys", "6 ", "OpenRead 0 2; SorterOpen 1 2 0 odd; Column 0 0 1; Column 0 1 2; MakeRecord 1 2 3; SorterInsert 1 3; SorterSort 1 7; Halt"},
	{"a set", "7 ;7 ", "OpenRead 0 2; OpenEphemeral 1 1 0 k(1,B); Column 0 1 1; Found 1 6 1 1; MakeRecord 1 1 3; IdxInsert 1 3; Halt"},
	{"a subquery before it is filled", "2 +", "OpenRead 0 2; OpenEphemeral 1 1; Column 1 0 5; Add 5 5 6; Column 0 1 1; MakeRecord 1 1 3; Insert 1 3 4; Goto 0 2; Halt"},
	{"another cursor of a subquery", "2 +", "OpenRead 0 2; OpenEphemeral 1 1; OpenDup 3 1; Column 0 1 1; MakeRecord 1 1 3; Insert 1 3 4; Column 3 0 5; Add 5 5 6; Halt"},
	{"a walk along the index", "8 i", "OpenRead 1 4 0 k(2,,); Rewind 1 2; Halt"},
	{"a key of the index", "3 =;8 i", "OpenRead 1 4 0 k(2,,); SeekGE 1 2 5 1; Halt"},
	{"a table that is written", "2 +", "OpenRead 0 2; OpenWrite 1 5; OpenRead 2 5; Column 0 1 1; MakeRecord 1 1 3; Insert 1 3 4; Column 2 0 5; Add 5 5 6; Halt"},
	{"a group of rows", "6 ", "OpenRead 0 2; Column 0 1 2; Compare 1 3 2; Halt"},
	{"the others of a group of rows", "", "OpenRead 0 2; Column 0 1 2; Permutation 0 0 0 [0,2]; Compare 1 5 2 k(2,B,B) 1; Halt"},
	{"a trigger", "2 +", "OpenRead 0 2; Column 0 1 7; Program 6 3 9 program; Halt; Init 0 1; Param 1 1; Add 1 1 2; Halt"},
	{"a public field in a trigger", "", "OpenRead 0 2; Column 0 1 7; Program 6 3 9 program; Halt; Init 0 1; Param 0 1; Add 1 1 2; Halt"},
	{"a coroutine", "2 +", "OpenRead 0 2; InitCoroutine 9 5 2; Column 0 1 1; Yield 9; EndCoroutine 9; Yield 9 8; Add 1 1 3; Goto 0 5; Halt"},
	{"an argument of a virtual table", "9 ", "OpenRead 0 2; Column 0 1 6; Integer 1 5; VOpen 1 0 0 vtab; VFilter 1 5 4; Halt"},
	{"a list for a virtual table", "9 ", "OpenRead 0 2; OpenEphemeral 1 1; Column 0 1 1; MakeRecord 1 1 3; Insert 1 3 2; VInitIn 1 6 9; Integer 1 5; VOpen 2 0 0 vtab; " +
		"VFilter 2 9 4; Halt"},
	{"a list of a public field", "", "OpenRead 0 2; OpenEphemeral 1 1; Column 0 0 1; MakeRecord 1 1 3; Insert 1 3 2; VInitIn 1 6 9; Integer 1 5; VOpen 2 0 0 vtab; " +
		"VFilter 2 9 4; Halt"},
	{"what is read of a list", "2 +", "OpenRead 0 2; OpenEphemeral 1 1; Column 0 1 1; MakeRecord 1 1 3; Insert 1 3 2; VInitIn 1 6 9; Add 9 9 8; Halt"},
	{"an unknown instruction", "not understood: Mystery", "OpenRead 0 2; Mystery 1; Halt"},
	{"an unknown instruction elsewhere", "", "OpenRead 0 3; Mystery 1; Halt"},
	{"an unknown permutation", "not understood", "OpenRead 0 2; Column 0 1 2; Compare 1 5 2 k(2,B,B) 1; Halt"},
}

func TestSealedUses(t *testing.T) {
	s := Sealing{
		Layout: func(_, root int) Layout {
			switch root {
			case 2:
				return Layout{Fields: [][]string{nil, {"s"}}}
			case 4:
				return Layout{Index: "i", Fields: [][]string{{"s"}, nil}, Order: []string{"s"}}
			}
			return Layout{}
		},
		Opens:     func(name string) bool { return name == "dx" },
		Keeps:     func(name string) bool { return name == "keep" },
		Foreign:   true,
		Arguments: func(name string) int { return map[string]int{"printf": 2}[name] },
	}
	for _, c := range sealedPrograms {
		uses, err := program(t, strings.Split(c.program, "; ")...).SealedUses(s)
		var list []string
		for _, u := range uses {
			list = append(list, fmt.Sprint(int(u.Kind), " ", u.Name))
			if !slices.Equal(u.Columns, []string{"s"}) {
				t.Errorf("%s: columns %v", c.name, u.Columns)
			}
		}
		slices.Sort(list)
		got := strings.Join(list, ";")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want) || c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever follows a sealed value along the precise paths is also followed along the loosest ones.
func TestLoosestGraph(t *testing.T) {
	for _, c := range sealedPrograms {
		for _, part := range program(t, strings.Split(c.program, "; ")...).parts() {
			checkLoosest(t, c.name, part)
		}
	}
	for _, c := range disjointPrograms {
		checkLoosest(t, c.name, program(t, strings.Split(c.program, "; ")...))
	}
}

// checkLoosest checks that the loosest graph of a program has all paths of the precise one, if there
// is one.
func checkLoosest(t *testing.T, name string, p Program) {
	t.Helper()
	precise := &graph{program: p, loose: true}
	if precise.build() != nil {
		return
	}
	loosest, err := newLoosestGraph(p)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for n, next := range precise.next {
		for _, m := range next {
			if !slices.Contains(loosest.next[precise.at[n]], precise.at[m]) {
				t.Errorf("%s: no path from %d to %d", name, precise.at[n], precise.at[m])
			}
		}
	}
}
