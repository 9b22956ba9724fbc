package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/sqlite"
)

func dataSetOf(t *testing.T, ctx context.Context, path string) *cli.DataSet {
	t.Helper()
	d, err := cli.OpenDataSet(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// describe reads a data set to its end and returns what it holds.
func describe(d *cli.DataSet) (infer.Description, error) {
	survey := infer.NewSurvey(d.Reader, nil)
	err := eachRow(d, "reading", survey.Add)
	return survey.Description(), err
}

// watchNothing is for load.
func watchNothing(*dataset.Rows, int) error { return nil }

const typesSQL = "SELECT name, type FROM pragma_table_info('t')"

func TestImport(t *testing.T) {
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

// What is exported as CSV comes back as it was, but for the difference between
// NULL and an empty text.
func TestExportImport(t *testing.T) {
	dir := t.TempDir()
	file, db := filepath.Join(dir, "out.csv"), filepath.Join(dir, "x.db")
	rapid.Check(t, func(t *rapid.T) {
		os.Remove(db)
		a, b := anyText.Draw(t, "a"), anyText.Draw(t, "b")
		csv := dataset.AppendCSV([]byte("a,b\n1,"), []byte(a))
		csv = append(dataset.AppendCSV(append(csv, "\n2,"...), []byte(b)), '\n')
		if err := os.WriteFile(file, csv, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&importTask{database: db, table: "t", file: file}).create(context.Background()); err != nil {
			t.Fatal(err)
		}
		conn, err := openDatabase(db, sqlite.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := columnOf(t, conn, "SELECT CAST(coalesce(b, '') AS TEXT) FROM t"); typed(a, b) != typed(got...) {
			t.Fatalf("wrote %q, %q, read %q", a, b, got)
		}
	})
}

// typed compares texts as an import keeps them: numbers by value.
func typed(texts ...string) string {
	var c infer.Column
	for _, s := range texts {
		if s = cli.TrimBlanks(s); s != "" {
			c.Add(s)
		}
	}
	if k := c.Kind(); k != dataset.Text {
		return k.String()
	}
	return strings.Join(texts, "|")
}

func columnOf(t interface{ Fatal(...any) }, conn *sqlite.Conn, sql string) (texts []string) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for {
		more, err := stmt.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return texts
		}
		v := stmt.Column(0)
		texts = append(texts, v.Text())
	}
}

// A file that changes between the two readings leaves no table.
func TestImportOfAChangedFile(t *testing.T) {
	conn, err := openDatabase(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	d := dataSetOf(t, t.Context(), clitest.WriteFile(t, "a\n1\nx\n"))
	err = load(conn, "t", []infer.Summary{{Field: dataset.Field{Name: "a", Kind: dataset.Integer}}}, d, watchNothing)
	if err == nil || !strings.Contains(err.Error(), `in.csv: line 3: column a: "x" is not of type integer`) {
		t.Errorf("error %v", err)
	}
	if conn.AutoCommit() {
		t.Error("the rows were committed")
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
	for { // the database appears when the rows are about to be written
		if _, err := os.Stat(db); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
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

func TestImportStopsBetweenRows(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := describe(dataSetOf(t, ctx, clitest.WriteFile(t, "a\n1\n"))); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

// Blanks around a number, and cells that have nothing else, do not make a column text.
func TestDescribeKinds(t *testing.T) {
	found, err := describe(dataSetOf(t, t.Context(), clitest.WriteFile(t, "a,b,c,d,e\n1, 2,,x, \n,\t3 ,,1,\n-4,0.5,,,\n")))
	var fields []dataset.Field
	for _, c := range found.Columns {
		fields = append(fields, c.Field)
	}
	want := "[{a integer} {b real} {c text} {d text} {e text}]"
	if err != nil || fmt.Sprint(fields) != want {
		t.Errorf("%v, %v; want %s", fields, err, want)
	}
}

// Whatever a file holds, it is imported or refused with one line, and every table
// has as many columns as the header.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "a;b\n\"x;y\";2\n", "\uFEFFa\tb\r\n1\t\r\n", "a\n\"", "\x1f\x8b\x08", "a,a\n", "a\n1e400\n-0\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		d, err := cli.OpenDataSet(t.Context(), clitest.WriteFile(t, in))
		if err != nil {
			return
		}
		defer d.Close()
		found, err := describe(d)
		if err != nil {
			return
		}
		conn, err := openDatabase(":memory:", sqlite.ReadWrite|sqlite.Create)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		err = load(conn, "t", found.Columns, d, watchNothing)
		if err != nil {
			if len(found.Columns) <= 2000 { // SQLite's limit
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		if n := int64(len(columnOf(t, conn, "SELECT quote(t.rowid) FROM t"))); n != found.Rows && !strings.Contains(strings.ToLower(in), "rowid") {
			t.Errorf("%d rows of %d", n, found.Rows)
		}
	})
}

func BenchmarkImport(b *testing.B) {
	const rows = 100_000
	file := filepath.Join(b.TempDir(), "in.csv")
	text := "user,trace,t_utc,lat,lon\n" + strings.Repeat("005,20081024041230,1224821550,40.004155,116.321337\n", rows)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		db := filepath.Join(b.TempDir(), "x.db")
		if _, err := (&importTask{database: db, table: "t", file: file}).create(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
