package main

import (
	"os"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// The file's types of its columns hold, whatever their cells look like.
func TestImportParquet(t *testing.T) {
	fields := []dataset.Field{{Name: "code", Kind: dataset.Text}, {Name: "n", Kind: dataset.Integer}, {Name: "x", Kind: dataset.Real}}
	file, db := clitest.ParquetFile(t, fields, "1|9223372036854775807|2", "|-|-", "-|-5|1e300"), clitest.TempFile(t, "x.db")
	clitest.Import(t, db, "t", file)
	if got := clitest.Query(t, "-csv", db, typesSQL); got != "name,type\ncode,TEXT\nn,INTEGER\nx,REAL\n" {
		t.Errorf("types %q", got)
	}
	const want = "'1'|9223372036854775807|2.0\n''|NULL|NULL\nNULL|-5|1.0e+300\n"
	if got := clitest.Query(t, "-csv", db, "SELECT quote(code) || '|' || quote(n) || '|' || quote(x) AS q FROM t"); got != "q\n"+want {
		t.Errorf("rows %q", got)
	}
}

// A file without a known ending is CSV.
func TestImportAnyName(t *testing.T) {
	for _, name := range []string{"export", "export.dat"} {
		file, db := clitest.TempFile(t, name), clitest.TempFile(t, "x.db")
		if err := os.WriteFile(file, []byte("a;b\n1;x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		clitest.Import(t, db, "t", file)
		if got := clitest.Query(t, "-csv", db, "SELECT * FROM t"); got != "a,b\n1,x\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A column without a declared type gets the type of its cells.
func TestImportSQLite(t *testing.T) {
	from, db := clitest.TempFile(t, "from.db"), clitest.TempFile(t, "x.db")
	clitest.Query(t, from, `CREATE TABLE s(name TEXT, n BIGINT, x DOUBLE, whole, part DECIMAL, code);
		INSERT INTO s VALUES ('1', 2, 3, 4, 5.5, '006'), ('', NULL, 0.5, 5, 6, '7')`)
	clitest.Import(t, db, "t", from+"#S")
	if got := clitest.Query(t, "-csv", db, typesSQL); got != "name,type\nname,TEXT\nn,INTEGER\nx,REAL\nwhole,INTEGER\npart,REAL\ncode,TEXT\n" {
		t.Errorf("types %q", got)
	}
	if got := clitest.Query(t, "-csv", db, "SELECT quote(name) AS name, n, x, whole, part, code FROM t"); got != "name,n,x,whole,part,code\n'1',2,3,4,5.5,006\n'',,0.5,5,6,7\n" {
		t.Errorf("rows %q", got)
	}
	clitest.Query(t, from, "UPDATE s SET n = 'many' WHERE name = ''")
	clitest.WantError(t, clitest.Run(t, "", "import", db, "u", from+"#s"), 1, from+`#s: row 2: column n: "many" is not of type integer`)
	clitest.WantError(t, clitest.Run(t, "", "import", from, "u", from+"#s"), 1, "is in the database itself: use CREATE TABLE AS")
}
