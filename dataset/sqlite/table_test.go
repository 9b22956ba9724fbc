package sqlite

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/sqlite"
)

// database makes a database by statements.
func database(t *testing.T, sql string) string {
	t.Helper()
	path := t.TempDir() + "/data.sqlite"
	change(t, path, sql)
	return path
}

func change(t *testing.T, path, sql string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

func TestSQLiteTable(t *testing.T) {
	path := database(t, `CREATE TABLE "odd ""name"""(a TEXT, "b c" DOUBLE PRECISION, rowid BIGINT, d);
		INSERT INTO "odd ""name"""(_rowid_, a, "b c", rowid, d) VALUES (9, 'last', 1, 2, 3), (-5, '', NULL, 9223372036854775807, x'' || 'y'), (3, 'é', 1e-7, NULL, 2.5)`)
	r := datasettest.Open(t, path+`#odd "name"`)
	defer r.Close()
	if want := []dataset.Field{{Name: "a", Kind: dataset.Text}, {Name: "b c", Kind: dataset.Real}, {Name: "rowid", Kind: dataset.Integer}, {Name: "d", Kind: dataset.Text}}; !reflect.DeepEqual(r.Fields(), want) {
		t.Errorf("fields %v", r.Fields())
	}
	for c, want := range []bool{true, true, true, false} {
		if r.Typed(c) != want {
			t.Errorf("column %d: typed %v", c, !want)
		}
	}
	for _, max := range []int{1, 2, 100} {
		got, err := datasettest.Read(r, []int{3, 0, 1, 2}, max)
		if err != nil {
			t.Fatal(err)
		}
		datasettest.Same(t, got, [][]string{{"y", "", datasettest.Null, "9223372036854775807"}, {"2.5", "é", "1e-07", datasettest.Null}, {"3", "last", "1", "2"}})
	}
	if r.Progress() != 1 {
		t.Error(r.Progress())
	}
}

func TestSQLiteWithoutRowNumbers(t *testing.T) {
	path := database(t, `CREATE TABLE t(a, b, c, PRIMARY KEY (c, a)) WITHOUT ROWID; INSERT INTO t VALUES (2, 1, 1), (1, 2, 1), (0, 3, 0)`)
	r := datasettest.Open(t, path+"#T")
	defer r.Close()
	got, err := datasettest.Read(r, []int{1}, 10)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, [][]string{{"3"}, {"2"}, {"1"}})
}

// A reader stands in one transaction: it does not see later writes of others.
func TestSQLiteSnapshot(t *testing.T) {
	path := database(t, `PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)`)
	r := datasettest.Open(t, path+"#t")
	defer r.Close()
	change(t, path, `UPDATE t SET a = 7; INSERT INTO t VALUES (3)`)
	got, err := datasettest.Read(r, []int{0}, 10)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, [][]string{{"1"}, {"2"}})
}

func TestSQLiteLongCells(t *testing.T) {
	path := database(t, `CREATE TABLE t(a); WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < 10) INSERT INTO t SELECT printf('%.*c', 1 << 20, 'x') FROM s`)
	r := datasettest.Open(t, path+"#t")
	defer r.Close()
	if err := r.Start([]int{0}); err != nil {
		t.Fatal(err)
	}
	var rows dataset.Rows
	var sizes []int
	var err error
	for err = r.Read(&rows, 1000); err == nil; err = r.Read(&rows, 1000) {
		sizes = append(sizes, rows.Len())
	}
	if fmt.Sprint(sizes) != "[4 4 2]" || err != io.EOF {
		t.Error(sizes, err)
	}
}

func TestBadSQLite(t *testing.T) {
	path := database(t, `CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (3, x'0001'); CREATE VIEW v AS SELECT * FROM t; CREATE TABLE n(rowid, oid, _rowid_)`)
	for name, want := range map[string]string{
		"#t": "row 2, column b: a blob", "#none": "there is no table none", "#": "there is no table", "#v": "v is not a plain table (view)", "#n": "all names of the row number",
	} {
		err := datasettest.ReadThrough(path + name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	datasettest.Refuses(t, path, path+"#table")
	other := datasettest.File(t, "text.db", strings.Repeat("no database ", 1000))
	for _, p := range []string{t.TempDir() + "/none.db#t", other + "#t"} {
		err := datasettest.ReadThrough(p)
		if before, _, _ := strings.Cut(p, "#"); err == nil || !strings.HasPrefix(err.Error(), before) {
			t.Error(p, err)
		}
	}
}
