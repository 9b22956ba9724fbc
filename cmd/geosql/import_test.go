package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

const typesSQL = "SELECT name, type FROM pragma_table_info('t')"

func TestImport(t *testing.T) {
	t.Parallel()
	const plainTypes = "id,INTEGER\nname,TEXT\nlat,REAL\ncode,TEXT\nempty,TEXT\n"
	const plainRows = "id,name,lat,code,empty\n1,ana,48.85,007,\n2,\"b, \"\"c\"\"\",,010,\n,,-3,,\n"
	const text = plainRows
	for name, c := range map[string]struct{ in, types, rows string }{
		"plain":           {text, plainTypes, plainRows},
		"gzip":            {clitest.Zipped(t, text), plainTypes, plainRows},
		"no last newline": {strings.TrimSuffix(text, "\n"), plainTypes, plainRows},
		"CR LF":           {strings.ReplaceAll(text, "\n", "\r\n"), plainTypes, plainRows},
		"byte order mark": {"\uFEFF" + text, plainTypes, plainRows},
		"empty lines":     {strings.ReplaceAll(text, "\n", "\n\n"), plainTypes, plainRows},
		"semicolons":      {"a;\"b,c,d\";e\n1;2,5;3.5\n", "a,INTEGER\n\"b,c,d\",REAL\ne,REAL\n", "a,\"b,c,d\",e\n1,2.5,3.5\n"},
		"tabs":            {"a\tb\n1\tx y\n", "a,INTEGER\nb,TEXT\n", "a,b\n1,x y\n"},
		"blanks":          {" a , b c \n 1, x\n 2.5 , \n", "a,REAL\nb c,TEXT\n", "a,b c\n1, x\n2.5, \n"},
		"one column":      {"a\n1\n2\n", "a,INTEGER\n", "a\n1\n2\n"},
		"no rows":         {"a,b\n", "a,TEXT\nb,TEXT\n", "a,b\n"},
		"lines in cells":  {"a,\"b\nc\"\n1,\"x\ny\"\n", "a,INTEGER\n\"b\nc\",TEXT\n", "a,\"b\nc\"\n1,\"x\ny\"\n"},
		"SQL in names":    {"\"a\"\"); DROP TABLE t; --\",rowid\n1,2\n", "\"a\"\"); DROP TABLE t; --\",INTEGER\nrowid,INTEGER\n", "\"a\"\"); DROP TABLE t; --\",rowid\n1,2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			db := clitest.TempFile(t, "x.db")
			clitest.Import(t, db, "t", clitest.WriteFile(t, c.in))
			if got := clitest.Query(t, "-csv", db, typesSQL); got != "name,type\n"+c.types {
				t.Errorf("types %q", got)
			}
			if got := clitest.Query(t, "-csv", db, "SELECT * FROM t"); got != c.rows {
				t.Errorf("rows %q", got)
			}
		})
	}
}

func TestImportErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ table, in, text string }{
		"empty file":       {"t", "", "no header line"},
		"no name":          {"t", "a,,c\n", "column 2 has no name"},
		"blank name":       {"t", "a, \n", "column 2 has no name"},
		"duplicate name":   {"t", "a,b, A\n", "two columns have the name A"},
		"UTF-16":           {"t", "\xff\xfea\x00,\x00b\x00\n\x00", "NUL"},
		"short row":        {"t", "a,b\n1,2\n3\n", "line 3: the row has 1 cells, but the header line has 2"},
		"long row":         {"t", "a,b\n\"1\n\",2\n3,4,5\n", "line 4: the row has 3 cells, but the header line has 2"},
		"bare quote":       {"t", "a,b\n1,x\"y\n", "line 2: a cell contains a quote but does not begin with one"},
		"open quote":       {"t", "a,b\n1,\"x\n", "line 2: a quote is not closed"},
		"cut gzip":         {"t", clitest.Zipped(t, strings.Repeat("a\n", 1000))[:20], "truncated"},
		"reserved sqlite_": {"sqlite_x", "a\n1\n", "sqlite_ are reserved"},
		"reserved geosql_": {"GeoSQL_x", "a\n1\n", "geosql_ are reserved"},
		"empty table name": {"", "a\n1\n", "empty name"},
		"existing table":   {"old", "a\n1\n", "already exists"},
		"existing name":    {"OLD", "a\n1\n", "already exists"},
		"existing view":    {"v", "a\n1\n", "already exists"},
	} {
		t.Run(name, func(t *testing.T) {
			db := clitest.TempFile(t, "x.db")
			clitest.Query(t, db, "CREATE TABLE old(x); CREATE VIEW v AS SELECT 1")
			clitest.WantError(t, clitest.Run(t, "", "import", db, c.table, clitest.WriteFile(t, c.in)), 1, c.text)
			if got := clitest.Query(t, "-csv", db, "SELECT name FROM sqlite_schema"); got != "name\nold\nv\n" {
				t.Errorf("the database holds %q", got)
			}
		})
	}
}

func TestImportNeedsAFile(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.WantError(t, clitest.Run(t, "", "import", db, "t", clitest.TempFile(t, "none.csv")), 1, clitest.NoSuchFile)
	clitest.WantError(t, clitest.Run(t, "", "import", db, "t", os.DevNull), 1, "not a regular file")
	clitest.WantError(t, clitest.Run(t, "", "import", db, "t", t.TempDir()), 1, "not a regular file")
	if _, err := os.Stat(db); err == nil {
		t.Error("a failed import created the database")
	}
}

func TestInterruptedImportLeavesNoTable(t *testing.T) {
	file := clitest.WriteFile(t, "a\n"+strings.Repeat("123456\n", 2_000_000))
	db := clitest.TempFile(t, "x.db")
	cmd := clitest.Command(t, "import", db, "t", file)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	clitest.Await(t, "database, which appears when the rows are about to be written", func() bool {
		_, err := os.Stat(db)
		return err == nil
	})
	if err := clitest.Signal(cmd.Process, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := clitest.ExitStatus(t, cmd.Wait()); status != 130 || errOut.String() != "geosql: interrupted\n" {
		t.Errorf("status %d, %q", status, errOut.String())
	}
	if got := clitest.Query(t, "-csv", db, "SELECT count(*) AS n FROM sqlite_schema"); got != "n\n0\n" {
		t.Errorf("tables: %q", got)
	}
}
