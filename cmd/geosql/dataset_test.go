package main

import (
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/release/table"
)

// parquetOf writes rows of cells, separated by |, into a Parquet file. A - is NULL.
func parquetOf(t *testing.T, fields []table.Field, rows ...string) string {
	t.Helper()
	path := tempFile(t, "in.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := table.Parquet.Create(file, table.Schema{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	var batch table.Rows
	batch.Reset(0, len(fields))
	for _, row := range rows {
		for c, cell := range strings.Split(row, "|") {
			if cell == "-" {
				batch.Columns[c].AppendNull()
			} else {
				batch.Columns[c].Append([]byte(cell))
			}
		}
	}
	block, err := w.Encode(&batch)
	if err == nil {
		err = w.Append(block)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// What a file says of its columns holds, whatever their cells look like.
func TestImportParquet(t *testing.T) {
	fields := []table.Field{{Name: "code", Kind: table.Text}, {Name: "n", Kind: table.Integer}, {Name: "x", Kind: table.Real}}
	file, db := parquetOf(t, fields, "1|9223372036854775807|2", "|-|-", "-|-5|1e300"), tempFile(t, "x.db")
	query(t, "import", db, "t", file)
	if got := query(t, "-csv", db, typesSQL); got != "name,type\ncode,TEXT\nn,INTEGER\nx,REAL\n" {
		t.Errorf("types %q", got)
	}
	const want = "'1'|9223372036854775807|2.0\n''|NULL|NULL\nNULL|-5|1.0e+300\n"
	if got := query(t, "-csv", db, "SELECT quote(code) || '|' || quote(n) || '|' || quote(x) AS q FROM t"); got != "q\n"+want {
		t.Errorf("rows %q", got)
	}
}

// What a name does not tell is CSV.
func TestImportAnyName(t *testing.T) {
	for _, name := range []string{"export", "export.dat"} {
		file, db := tempFile(t, name), tempFile(t, "x.db")
		if err := os.WriteFile(file, []byte("a;b\n1;x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		query(t, "import", db, "t", file)
		if got := query(t, "-csv", db, "SELECT * FROM t"); got != "a,b\n1,x\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A column without a declared type is what its cells are.
func TestImportSQLite(t *testing.T) {
	from, db := tempFile(t, "from.db"), tempFile(t, "x.db")
	query(t, from, `CREATE TABLE s(name TEXT, n BIGINT, x DOUBLE, whole, part DECIMAL, code);
		INSERT INTO s VALUES ('1', 2, 3, 4, 5.5, '006'), ('', NULL, 0.5, 5, 6, '7')`)
	query(t, "import", db, "t", from+"#S")
	if got := query(t, "-csv", db, typesSQL); got != "name,type\nname,TEXT\nn,INTEGER\nx,REAL\nwhole,INTEGER\npart,REAL\ncode,TEXT\n" {
		t.Errorf("types %q", got)
	}
	if got := query(t, "-csv", db, "SELECT quote(name) AS name, n, x, whole, part, code FROM t"); got != "name,n,x,whole,part,code\n'1',2,3,4,5.5,006\n'',,0.5,5,6,7\n" {
		t.Errorf("rows %q", got)
	}
	query(t, from, "UPDATE s SET n = 'many' WHERE name = ''")
	wantError(t, runWith(t, "", "import", db, "u", from+"#s"), 1, from+`#s: row 2: column n: "many" is not of type integer`)
	wantError(t, runWith(t, "", "import", from, "u", from+"#s"), 1, "is in the database itself: use CREATE TABLE AS")
}

// A study says the same of the same rows, whatever they are in.
func TestStudyReadsEveryFormat(t *testing.T) {
	csv := twoUsers(t)
	db := tempFile(t, "x.db")
	query(t, "import", db, "t", csv)
	fields := []table.Field{
		{Name: "night", Kind: table.Real}, {Name: "y", Kind: table.Integer}, {Name: "x", Kind: table.Real},
		{Name: "day", Kind: table.Integer}, {Name: "who", Kind: table.Text},
	}
	var lines []string
	for _, row := range csvRows(t, query(t, "-csv", db, "SELECT * FROM t")) {
		lines = append(lines, strings.Join([]string{row["night"], row["y"], row["x"], row["day"], row["who"]}, "|"))
	}
	study := func(path string) string {
		return query(t, "study", "adversary", "-places", path, "-columns", "x,y,day", "-plane", "-user", "who", "-priors", "night", "-epsilon", "1")
	}
	want := study(csv)
	for _, path := range []string{db + "#t", parquetOf(t, fields, lines...)} {
		if got := study(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	again := parquetOf(t, fields, lines[0], lines[0])
	args := []string{"study", "adversary", "-places", again, "-columns", "x,y,day", "-plane", "-epsilon", "1"}
	wantError(t, runWith(t, "", args...), 1, "in.parquet: row 2: the place of row 1 again")
}

// A column may be asked for under several names, and be read once.
func TestReadColumnsTwice(t *testing.T) {
	var got []string
	path := writeFile(t, "a,b\n1,2\n")
	err := readColumns(t.Context(), path, [][]string{{"x", "b"}, {"a"}, {"b"}}, func(where func() string, cells []string) error {
		got = append(got, where(), strings.Join(cells, ","))
		return nil
	})
	if err != nil || strings.Join(got, ": ") != "line 2: 2,1,2" {
		t.Errorf("%v, %q", err, got)
	}
}
