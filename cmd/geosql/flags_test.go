package main

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want invocation
	}{
		{[]string{"db"}, invocation{args: []string{"db"}}},
		{[]string{"-csv", "db", "SELECT 1"}, invocation{mode: csvMode, args: []string{"db", "SELECT 1"}}},
		{[]string{"db", "SELECT 1", "--json"}, invocation{mode: jsonMode, args: []string{"db", "SELECT 1"}}},
		{[]string{"db", "-json", "SELECT 1"}, invocation{mode: jsonMode, args: []string{"db", "SELECT 1"}}},
		{[]string{"-csv", "--table", "db"}, invocation{mode: tableMode, args: []string{"db"}}},
		{[]string{"db", "--ledger", "l", "SELECT 1"}, invocation{ledger: ledgerFlags{file: "l"}, args: []string{"db", "SELECT 1"}}},
		{[]string{"-ledger=l", "db"}, invocation{ledger: ledgerFlags{file: "l"}, args: []string{"db"}}},
		{[]string{"--ledger=my l", "db"}, invocation{ledger: ledgerFlags{file: "my l"}, args: []string{"db"}}},
		{[]string{"--ledger", "my l", "db"}, invocation{ledger: ledgerFlags{file: "my l"}, args: []string{"db"}}},
		{[]string{"--ledger", "-l", "db"}, invocation{ledger: ledgerFlags{file: "-l"}, args: []string{"db"}}},
		{[]string{"db", "-- comment\nSELECT 1"}, invocation{args: []string{"db", "-- comment\nSELECT 1"}}},
		{[]string{"db", "--comment\nSELECT 1", "-csv"}, invocation{mode: csvMode, args: []string{"db", "--comment\nSELECT 1"}}},
		{[]string{"--", "-csv", "SELECT 1"}, invocation{args: []string{"-csv", "SELECT 1"}}},
		{[]string{"-json", "--", "-", "--csv"}, invocation{mode: jsonMode, args: []string{"-", "--csv"}}},
		{[]string{"-csv", "budget", "--ledger", "l", "db"}, invocation{command: "budget", mode: csvMode, ledger: ledgerFlags{file: "l"}, args: []string{"db"}}},
		{[]string{"budget", "--archive=my file", "db", "--before=2026-01-01 10:00"}, invocation{command: "budget", args: []string{"db"}}},
		{[]string{"import", "db", "t", "f"}, invocation{command: "import", args: []string{"db", "t", "f"}}},
		{[]string{"db", "import"}, invocation{args: []string{"db", "import"}}},
		{[]string{"db", "-h"}, invocation{command: "help"}},
	} {
		got, err := parse(c.args)
		if err != nil {
			t.Errorf("parse(%q): %v", c.args, err)
			continue
		}
		if got.command != c.want.command || got.mode != c.want.mode || got.ledger != c.want.ledger || !slices.Equal(got.args, c.want.args) {
			t.Errorf("parse(%q) = %+v, want %+v", c.args, *got, c.want)
		}
	}
}
