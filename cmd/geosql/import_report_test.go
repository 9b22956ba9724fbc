package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// The report of an import: the first line without the path, and a line for each column.
func TestImportReport(t *testing.T) {
	const commas, semicolons = "separated by commas; the first line names the columns", "separated by semicolons; the first line names the columns"
	for name, c := range map[string]struct {
		in    string
		flags []string
		form  string
		want  string
	}{
		"types": {"id,name,lat\n1,ana,48.85\n2,,\n", nil, commas, `
  id    INTEGER
  name  TEXT     1 NULL
  lat   REAL     1 NULL
`},
		"a cell that is no number": {"meter,kwh\n1,0.5\n1,n/a\n2,\n2,1\n", nil, commas, `
  meter  INTEGER
  kwh    TEXT     because of line 3: 'n/a'; 2 cells are numbers; 1 NULL
functions take no TEXT for a number: correct such cells in the file, or write CAST(nullif("kwh", 'n/a') AS REAL)
`},
		"several such cells": {"kwh\n0.5\nn/a\n?\n1\n2\n", nil, commas, `
  kwh  TEXT     because of line 3: 'n/a' and 1 more; 3 cells are numbers
functions take no TEXT for a number: correct such cells in the file
`},
		"codes": {"code,n\n007,1\n1,2\n", nil, commas, `
  code  TEXT     because of line 2: '007' (a number would lose its leading zeros); 1 cell is a number
  n     INTEGER
`},
		"decimal commas": {"zeit;kwh\n2026-03-01 12:00;0,099\n2026-03-01 12:30;1\n", nil, semicolons, `
  zeit  TEXT     times, which functions read as UTC
  kwh   REAL     decimal commas
`},
		"decimal commas between commas": {"a,b\n1,\"0,5\"\n2,3\n", nil, commas, `
  a  INTEGER
  b  TEXT     because of line 2: '0,5' (a decimal comma? it is read in files with semicolons or tabs); 1 cell is a number
`},
		"other dates": {"day\n16/12/2006\n", nil, commas, `
  day  TEXT     dates in a form that functions do not read: they take 2026-03-01 12:00, in UTC, or seconds or milliseconds since 1970
`},
		"nothing": {"a\tb\n\t\n\t\n", nil, "separated by tabs; the first line names the columns", `
  a  TEXT     only NULL
  b  TEXT     only NULL
`},
		"no header": {"1,ana,0.5\n2,bo,0.7\n", []string{"--no-header"}, "separated by commas; no header line", `
  c1  INTEGER
  c2  TEXT
  c3  REAL
`},
		"a header of numbers": {"2010,2011\n1,2\n", []string{"--header"}, commas, `
  2010  INTEGER
  2011  INTEGER
`},
		"a number in the header": {"region,2011\nx,2\n", nil, commas, `
  region  TEXT
  2011    INTEGER
a column has the name '2011': if the first line is a row, drop the table and import again with --no-header
`},
		"given types": {"code,n\n007,1\n,2\n", []string{"--type", "CODE=integer", "--type=n=TEXT"}, commas, `
  code  INTEGER  1 NULL
  n     TEXT
`},
	} {
		t.Run(name, func(t *testing.T) {
			db, file := clitest.TempFile(t, "x.db"), clitest.WriteFile(t, c.in)
			first, rest, _ := strings.Cut(clitest.Import(t, append([]string{db, "t", file}, c.flags...)...), "\n")
			if !strings.HasSuffix(first, " into table t of "+db+" ("+c.form+")") {
				t.Errorf("first line %q", first)
			}
			if rest != c.want[1:] {
				t.Errorf("got\n%s\nwant%s", rest, c.want)
			}
		})
	}
	wide := strings.Repeat("a,", 99) + "a\n"
	report := clitest.Import(t, clitest.TempFile(t, "x.db"), "t", clitest.WriteFile(t, wide), "--no-header")
	if !strings.HasPrefix(report, "imported 1 row into") || !strings.HasSuffix(report, "\n  and 40 more columns\n") {
		t.Errorf("a wide table: %q", report)
	}
}

// The table holds the numbers that the report shows.
func TestImportOfNumbers(t *testing.T) {
	for name, c := range map[string]struct{ in, flags, want string }{
		"decimal commas": {"a;b;c\n0,099;1;x\n -1,5 ;2;0,5\n7;;\n;3;\n", "", "0.099|1|'x'\n-1.5|2|'0,5'\n7.0|NULL|NULL\nNULL|3|NULL\n"},
		"given commas":   {"a;b;c\n007,5;+5;0,5\n", "a=REAL b=INTEGER c=TEXT", "7.5|5|'0,5'\n"},
		"given points":   {"a,b,c\n1,1,1\n,,\n", "a=REAL b=TEXT", "1.0|'1'|1\nNULL|NULL|NULL\n"},
		"blank cells":    {"a,b,c\n 1, ,x\n ,2, \n", "", "1|NULL|'x'\nNULL|2|' '\n"},
	} {
		t.Run(name, func(t *testing.T) {
			db := clitest.TempFile(t, "x.db")
			args := []string{db, "t", clitest.WriteFile(t, c.in)}
			for _, given := range strings.Fields(c.flags) {
				args = append(args, "--type", given)
			}
			clitest.Import(t, args...)
			if got := clitest.Query(t, "-csv", db, "SELECT quote(a) || '|' || quote(b) || '|' || quote(c) AS q FROM t"); strings.ReplaceAll(got, `"`, "") != "q\n"+c.want {
				t.Errorf("rows %q, want %q", got, c.want)
			}
		})
	}
}

// An import that is refused names the flags that help, and leaves no table and no database.
func TestImportRefuses(t *testing.T) {
	const decide = ": say --no-header if it is a row, or --header if it names the columns"
	for name, c := range map[string]struct {
		in     string
		flags  []string
		status int
		text   string
	}{
		"a row of numbers":   {"1001,0.5\n1002,0.7\n", nil, 1, "in.csv: the first line has only values" + decide},
		"a row of a meter":   {"1001,2013-01-01 00:30,0.5\n", nil, 1, "the first line has only values" + decide},
		"a row of a person":  {"ana,48.85,2.33\n", nil, 1, "the first line has the value '48.85'" + decide},
		"decimal commas":     {"0,5;0,7\n0,6;0,8\n", nil, 1, "the first line has only values" + decide},
		"equal names":        {"1,1\n2,3\n", nil, 1, "two columns have the name 1 (if the first line is a row, say --no-header)"},
		"no name":            {"ana,,1\n", nil, 1, "column 2 has no name in the header line (if the first line is a row, say --no-header)"},
		"both":               {"a\n1\n", []string{"--header", "--no-header"}, 2, "-header and -no-header exclude each other"},
		"a cell":             {"meter,kwh\n1,0.5\n1,n/a\n", []string{"--type", "kwh=REAL"}, 1, "in.csv: line 3: column kwh: 'n/a' is not a number; correct it, or leave out --type kwh=REAL"},
		"a fraction":         {"meter,kwh\n1,0.5\n", []string{"--type", "kwh=INTEGER"}, 1, "line 2: column kwh: '0.5' is not a 64-bit integer"},
		"an unknown column":  {"a,b\n1,2\n", []string{"--type", "kwh=REAL"}, 1, "import: there is no column kwh: the file has a, b"},
		"an unknown type":    {"a,b\n1,2\n", []string{"--type", "a=FLOAT"}, 2, "flag -type: the type must be INTEGER, REAL or TEXT"},
		"no type":            {"a,b\n1,2\n", []string{"--type", "a"}, 2, "flag -type: it must be like kwh=REAL"},
		"two types":          {"a,b\n1,2\n", []string{"--type", "a=REAL", "--type", "A=TEXT"}, 2, "import: column A is given two types"},
		"no rows, no header": {"", []string{"--no-header"}, 1, "in.csv: the file has no rows"},
	} {
		t.Run(name, func(t *testing.T) {
			db := clitest.TempFile(t, "x.db")
			clitest.WantError(t, clitest.Run(t, "", append([]string{"import", db, "t", clitest.WriteFile(t, c.in)}, c.flags...)...), c.status, c.text)
			if left, _ := filepath.Glob(db + "*"); left != nil {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// A table and a Parquet file name their columns, and their types can be changed.
func TestImportFlagsOfTables(t *testing.T) {
	from, db := clitest.TempFile(t, "from.db"), clitest.TempFile(t, "x.db")
	clitest.Query(t, from, "CREATE TABLE s(n INTEGER, x, t TEXT); INSERT INTO s VALUES (1, 'n/a', '2026-03-01'), (NULL, 0.5, '')")
	clitest.WantError(t, clitest.Run(t, "", "import", db, "t", from+"#s", "--no-header"), 1, "only CSV has header lines")
	report := clitest.Import(t, db, "t", from+"#s", "--type", "n=TEXT")
	if _, columns, _ := strings.Cut(report, "\n"); !strings.HasPrefix(columns, "  n  TEXT     1 NULL\n  x  TEXT     because of row 1: 'n/a'; 1 cell is a number\n  t  TEXT     times") {
		t.Errorf("report %q", report)
	}
	if _, err := os.Stat(db + "-ledger"); err == nil {
		t.Error("an import made a ledger")
	}
}
