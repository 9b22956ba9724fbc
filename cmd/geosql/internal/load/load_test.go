package load

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/printable/drawtest"
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

// describe reads a data set to its end and returns its description.
func describe(d *cli.DataSet) (infer.Description, error) {
	survey := infer.NewSurvey(d.Reader, nil)
	err := EachRow(d, "reading", survey.Add)
	return survey.Description(), err
}

// watchNothing is for load.
func watchNothing(*dataset.Rows, int) error { return nil }

// Data that is exported as CSV comes back as it was, but for the difference between
// NULL and an empty text.
func TestExportImport(t *testing.T) {
	dir := t.TempDir()
	file, db := filepath.Join(dir, "out.csv"), filepath.Join(dir, "x.db")
	rapid.Check(t, func(t *rapid.T) {
		os.Remove(db)
		a, b := drawtest.Text.Draw(t, "a"), drawtest.Text.Draw(t, "b")
		csv := dataset.AppendCSV([]byte("a,b\n1,"), []byte(a))
		csv = append(dataset.AppendCSV(append(csv, "\n2,"...), []byte(b)), '\n')
		if err := os.WriteFile(file, csv, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Task{Database: db, Table: "t", File: file}).create(context.Background()); err != nil {
			t.Fatal(err)
		}
		conn, err := store.Open(db, sqlite.ReadWrite)
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
	conn, err := store.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
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
		conn, err := store.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
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
		if _, err := (&Task{Database: db, Table: "t", File: file}).create(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
