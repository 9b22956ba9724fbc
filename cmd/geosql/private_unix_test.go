//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// openly makes the processes that the test starts inherit an umask that keeps nobody out.
func openly(t *testing.T) {
	t.Helper()
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
}

// Whatever the umask, new files are for their owner alone: also files made by SQL, the outputs
// and rejects of releases in every format, and files that an earlier attempt has left.
func TestPrivateWhateverTheUmask(t *testing.T) {
	t.Parallel()
	openly(t)
	dir := t.TempDir()
	in := func(name string) string { return dir + "/made/" + name }
	if err := os.Mkdir(filepath.Join(dir, "made"), 0o777); err != nil {
		t.Fatal(err)
	}
	clitest.Query(t, in("x.db"), `SELECT budget_limit('*', 'm', 1), geo_domain('d', 48.8, 2.2, 49, 2.5, 10);
		ATTACH '`+in("attached.db")+`' AS a; CREATE TABLE a.t(x); VACUUM INTO '`+in("vacuumed.db")+`'`)
	for _, left := range []string{"archive", "left-ledger", "o.csv.unfinished", "o.csv.report.html.unfinished", "o.csv.metadata.json.unfinished", "o.csv.rejects.unfinished"} {
		if err := os.WriteFile(in(left), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	budgetOf(t, in("x.db"), "--archive", in("archive"), "--before", "2100-01-01")
	clitest.Query(t, in("y.db"), "--ledger", in("left-ledger"), `SELECT budget_limit('*', 'm', 1)`)
	clitest.Query(t, "backup", in("x.db"), in("copy.db"))

	csv := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(csv, []byte("who,lat,lon\na,48.85,2.35\nb,148.85,2.35\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{".csv", ".csv.gz", ".parquet", ".geoparquet", ".geojson", ".gpkg"} {
		out := in("o" + format)
		r := clitest.Run(t, "", "release", "--in", csv, "--out", out, "--rejects", out+".rejects", "--account", "who", "--lat", "lat", "--lon", "lon",
			"--epsilon", "0.01", "--domain", "48.8,2.2,49,2.5,10", "--limit", "1", "--ledger", in("o-ledger"), "--id", format)
		if r.Status != 0 {
			t.Fatalf("%+v", r)
		}
	}
	haveMode(t, in(""), 0o600, "x.db", "x.db-ledger", "attached.db", "vacuumed.db", "archive", "y.db", "left-ledger", "copy.db", "copy.db-ledger",
		"o.csv", "o.csv.rejects", "o.csv.report.html", "o.csv.metadata.json", "o.gpkg", "o.gpkg.rejects", "o-ledger")
}
