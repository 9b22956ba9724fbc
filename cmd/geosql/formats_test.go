package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// formats has a folder for each version of geosql, with files that it has written: see docs/compatibility.md. A folder is
// never changed, or nobody would know whether files of that version are still read.
const formats = "../../testdata/formats"

// Files of all versions are opened, and go on being used. Each check has copies of its own, in the folder where it is.
func TestFormats(t *testing.T) {
	if _, err := os.Stat(filepath.Join(formats, sqlitefn.Version)); err != nil {
		t.Errorf("no files of this version are kept: go test ./cmd/geosql -run WriteFormats -write-formats (%v)", err)
	}
	for name, check := range map[string]func(*testing.T){
		"Interface":      checkInterface,
		"Remembered":     checkRemembered,
		"Database":       checkOldDatabase,
		"Ledger2":        checkLedger2,
		"Archive":        checkOldArchive,
		"Sealed":         checkOldSealed,
		"Batch":          checkOldBatch,
		"Backup":         checkOldBackup,
		"Moved":          checkOldMoved,
		"Release":        checkOldRelease,
		"ReleaseStopped": checkStoppedRelease,
		"ReleaseSealed":  checkSealedRelease,
	} {
		t.Run(name, func(t *testing.T) { ofEachVersion(t, check) })
	}
}

// ofEachVersion runs a check in a folder with copies of the files of each version.
func ofEachVersion(t *testing.T, do func(*testing.T)) {
	t.Helper()
	all, err := filepath.Abs(formats)
	check(t, err)
	versions, err := os.ReadDir(all)
	check(t, err)
	for _, version := range versions {
		t.Run(version.Name(), func(t *testing.T) {
			t.Chdir(unpackFormat(t, filepath.Join(all, version.Name())))
			do(t)
		})
	}
}

// oldDeclarations are the declarations of the old database's owner.
const oldDeclarations = `
SELECT geo_domain('city', 38.70, -9.20, 38.80, -9.09, 10);
SELECT geo_domain('park', 38.74, -9.16, 38.76, -9.13, 1);
SELECT geo_region('park', 'POLYGON((-9.155 38.742, -9.135 38.742, -9.145 38.758, -9.155 38.742))');
SELECT dx_universe('load', 0, 10, 0.5, 'kWh');
SELECT cip_policy('study', '{"kernel": "rbf", "family": "singles", "variance": 250000, "length_scale_max": 300,
  "radius": 25, "lambda": 2, "epsilon": 1, "domain": "park"}');
SELECT trace_policy('walk', 'ana', 'predictive', '{"epsilon": 1, "steps": 30, "domain": "city"}');
SELECT trace_policy('usage', 'bob', 'predictive', '{"epsilon": 10, "alpha": 2, "universe": "load"}');`

// goesOn are statements that charge somebody in the old database.
var goesOn = []string{
	"SELECT geoind_laplace('ana', 38.71, -9.14, 0.125, 'city')",
	"SELECT geoind_laplace('often', 38.75, -9.14, 0.125, 'park')",
	"SELECT geoind_optimal('bob', 38.71, -9.14, 'quarters')",
	"SELECT dx_avg('bob', 4, 0.5, 'load')",
	"SELECT predictive_step('walk', 600, 38.75, -9.145)",
	"SELECT predictive_value('usage', 600, 5)",
	"SELECT pim_step('ride', 360, 38.74, -9.14)",
	"SELECT cip_trace('carla', t, lat, lon, 'study') FROM (SELECT 0 AS t, 38.75 AS lat, -9.145 AS lon UNION ALL SELECT 60, 38.7505, -9.145)",
}

// releaseOf returns the command that makes an old release, or goes on with it. name is that of its output and ledger.
func releaseOf(name string) []string {
	return []string{"release", "--in", "places.csv", "--out", name + ".csv", "--account", "who", "--lat", "lat", "--lon", "lon",
		"--domain", "38.70,-9.20,38.80,-9.09,10", "--epsilon", "0.01", "--limit", "1", "--ledger", name + "-ledger"}
}

// unpackFormat copies the files of a version into a folder of the test's.
func unpackFormat(t *testing.T, from string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	files, err := os.ReadDir(from)
	check(t, err)
	for _, f := range files {
		packed, err := os.ReadFile(filepath.Join(from, f.Name()))
		check(t, err)
		z, err := gzip.NewReader(bytes.NewReader(packed))
		check(t, err)
		content, err := io.ReadAll(z)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(folder, strings.TrimSuffix(f.Name(), ".gz")), content, 0o600))
	}
	return folder
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	check(t, err)
	return string(b)
}

// said runs a command that has to succeed and returns all that it prints.
func said(t *testing.T, args ...string) string {
	t.Helper()
	r := clitest.Run(t, "", args...)
	if r.Status != 0 {
		t.Fatalf("%q: status %d, %s", args, r.Status, r.Err)
	}
	return r.Out + r.Err
}

func wantSaid(t *testing.T, want string, args ...string) {
	t.Helper()
	if got := said(t, args...); !strings.Contains(got, want) {
		t.Errorf("%q: %s\nwant %s", args, got, want)
	}
}

// verified checks that a ledger is as its entries say, up to the head that the old program has printed and beyond.
func verified(t *testing.T, ledger string, more ...string) {
	t.Helper()
	clitest.Run(t, "", "budget", ledger) // settles the reservations that a program left behind
	said(t, append([]string{"budget", ledger, "--verify"}, more...)...)
}

// spentIn returns the spending of all accounts of a database, in all units together: a number that only grows.
func spentIn(t *testing.T, db string) string {
	t.Helper()
	return clitest.Query(t, "-csv", db, "SELECT printf('%012.6f', total(spent)) FROM ledger_balance")
}

// charges runs statements and demands that each charges somebody.
func charges(t *testing.T, db string, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		before := spentIn(t, db)
		out := clitest.Query(t, db, sql)
		if after := spentIn(t, db); after <= before {
			t.Errorf("%s\ncharged nobody, and answered %s", sql, out)
		}
	}
}

// Declarations, stored objects and spending of an old database show as they did then.
func checkRemembered(t *testing.T) {
	got := clitest.Query(t, "-csv", "city.db", contentOf(t, "remembered.sql"))
	if want := contentOf(t, "remembered.csv"); got != want {
		t.Errorf("%s\nit was\n%s", got, want)
	}
}

// An old database is used on, and its declarations hold. The files of a program of the future are refused in one line.
func checkOldDatabase(t *testing.T) {
	verified(t, "city.db-ledger", "--head", strings.TrimSpace(contentOf(t, "head")))
	charges(t, "city.db", goesOn...)
	clitest.Query(t, "city.db", oldDeclarations) // unchanged, which is harmless
	clitest.WantError(t, clitest.Run(t, "", "city.db", "SELECT geo_domain('city', 38.70, -9.20, 38.80, -9.09, 2)"), 1, "city")
	clitest.WantError(t, clitest.Run(t, "", "city.db", "SELECT geoind_laplace('poor', 38.71, -9.14, 1, 'city')"), 1, "account 'poor' has 0.5/m left")
	verified(t, "city.db-ledger", "--head", strings.TrimSpace(contentOf(t, "head")))

	for _, newer := range []struct{ file, change, sql, want string }{
		{"city.db-ledger", "PRAGMA user_version = 99", goesOn[0], "written by a newer geosql (ledger version 99, this is "},
		{"city.db", "UPDATE geosql_markov SET model = x'63' || substr(model, 2)", "SELECT markov_info('taxis')", "taxis"},
		{"city.db", "UPDATE geosql_optimal SET mechanism = x'63' || substr(mechanism, 2)", "SELECT optql_report('quarters')", "quarters"},
		{"city.db", "UPDATE geosql_prior SET prior = x'63' || substr(prior, 2)", "SELECT geoind_remap(38.72, -9.14, 'people', 0.01, 'city')", "people"},
	} {
		change(t, newer.file, newer.change)
		clitest.WantError(t, clitest.Run(t, "", "city.db", newer.sql), 1, newer.want)
		if newer.file == "city.db-ledger" {
			change(t, newer.file, "PRAGMA user_version = 3")
		}
	}
}

// A ledger of version 2, which had no leases, becomes one of this version.
func checkLedger2(t *testing.T) {
	check(t, os.Rename("version2.db-ledger", "city.db-ledger"))
	checkRemembered(t)
	charges(t, "city.db", goesOn...)
	verified(t, "city.db-ledger", "--head", strings.TrimSpace(contentOf(t, "head")))
}

// Entries that were moved into an archive are still part of the chain, and more can follow them.
func checkOldArchive(t *testing.T) {
	check(t, os.Rename("archived.db-ledger", "city.db-ledger"))
	verified(t, "city.db-ledger", "--archive", "archive")
	charges(t, "city.db", goesOn[0])
	said(t, "budget", "city.db-ledger", "--archive", "archive", "--before", "2100-01-01")
	verified(t, "city.db-ledger", "--archive", "archive")
}

// A sealed database opens with its keys, is asked, added to, erased from and sealed anew.
func checkOldSealed(t *testing.T) {
	query := func(key, sql string) string {
		t.Helper()
		return clitest.Query(t, "-csv", "--key", key, "--passphrase-file", "password", "out.db", sql)
	}
	const opened = "SELECT max(abs(dx_sum(kwh, 1000) - %s) < 1, 0) AS near FROM reading"
	sum := func(key, want string) {
		t.Helper()
		if got := query(key, strings.Replace(opened, "%s", want, 1)); got != "near\n1\n" {
			t.Errorf("with %s the sum is not %s: %s", key, want, got)
		}
	}
	sum("owner.key", "12")
	sum("locked.key", "12") // the same key under a passphrase
	if got := query("owner.key", "SELECT geoind_laplace(location, 0.1) LIKE 'POINT(%' AS point FROM place LIMIT 1"); got != "point\n1\n" {
		t.Error(got)
	}
	check(t, os.WriteFile("more.csv", []byte("who,day,kwh\nana,3,5\nbob,3,2\n"), 0o600))
	said(t, "append", "out.db", "reading", "more.csv", "--key", "owner.key.pub", "--sign", "collector.key")
	sum("owner.key", "19")
	said(t, "append", "out.db", "reading", "more.csv", "--key", "owner.key")
	sum("owner.key", "26")
	wantSaid(t, "ana", "role", "out.db", "list")
	said(t, "erase", "out.db", "--account", "ana", "--key", "owner.key")
	sum("owner.key", "9") // bob's 5, 2 and 2
	said(t, "keygen", "new.key")
	said(t, "rekey", "out.db", "--key", "owner.key", "--to", "new.key.pub")
	sum("new.key", "9")
}

// Two batches that a device sealed are added, and only once.
func checkOldBatch(t *testing.T) {
	said(t, "append", "out.db", "reading", "batch.jsonl")
	const rows = "SELECT count(*) AS n, count(kwh) AS known, max(day) AS last, max(abs(dx_sum(kwh, 1000) - 18.5) < 1, 0) AS near FROM reading"
	if got := clitest.Query(t, "-csv", "--key", "owner.key", "out.db", rows); got != "n,known,last,near\n8,7,5,1\n" {
		t.Errorf("with the rows of the device: %s", got)
	}
	clitest.WantError(t, clitest.Run(t, "", "append", "out.db", "reading", "batch.jsonl"), 1, "session")
}

// A backup is restored.
func checkOldBackup(t *testing.T) {
	clitest.WantError(t, clitest.Run(t, "", "backup.db", goesOn[0]), 1, "is a backup of ")
	check(t, os.Remove("city.db-ledger")) // or the backup would know less than it does
	said(t, "restore", "backup.db", "restored.db", "--yes")
	charges(t, "restored.db", goesOn[0])
	verified(t, "restored.db-ledger", "--head", strings.TrimSpace(contentOf(t, "head")))
}

// A ledger that was moved to a server still says where it went, and charges nobody.
func checkOldMoved(t *testing.T) {
	wantSaid(t, "this ledger was moved to postgres://", "budget", "moved.db-ledger")
	check(t, os.Rename("moved.db-ledger", "city.db-ledger"))
	clitest.WantError(t, clitest.Run(t, "", "city.db", goesOn[0]), 1, "was moved to postgres://")
}

// A release that is complete is known as such: nobody is charged again, and nothing is drawn again.
func checkOldRelease(t *testing.T) {
	for _, field := range []string{`"format": "geosql release 1"`, `"sha256": "`, `"rows": 3`, `"epsilon": 0.01`} {
		if !strings.Contains(contentOf(t, "released.csv.metadata.json"), field) {
			t.Errorf("the metadata have no %s", field)
		}
	}
	// The ledger knows the file by where it was, so that elsewhere its name has to be another release's.
	elsewhere := releaseOf("released")
	elsewhere[slices.Index(elsewhere, "released.csv")] = "elsewhere.csv"
	clitest.WantError(t, clitest.Run(t, "", elsewhere...), 1,
		"released.csv; another release needs another id")
	old := contentOf(t, "released.csv")
	releasedFurther(t, "released", "has been complete since ")
	if contentOf(t, "released.csv") != old {
		t.Error("locations were drawn again")
	}
}

// A release that ended once everybody was charged is drawn, and nobody is charged again.
func checkStoppedRelease(t *testing.T) {
	releasedFurther(t, "stopped", "an earlier attempt had already charged the first 2 of these accounts")
}

// A release that was sealed but has no output yet gets the sealed file as its output.
func checkSealedRelease(t *testing.T) {
	old := contentOf(t, "sealed.csv.unfinished")
	releasedFurther(t, "sealed", "its output now has its name")
	if contentOf(t, "sealed.csv") != old {
		t.Error("what was sealed is not what was released")
	}
}

// releasedFurther goes on with an old release where it is now, which has to say so and may charge nobody.
func releasedFurther(t *testing.T, name, want string) {
	t.Helper()
	here, err := filepath.Abs(name + ".csv")
	check(t, err)
	change(t, name+"-ledger", "UPDATE release SET output = '"+strings.ReplaceAll(here, "'", "''")+"'")
	before := said(t, "budget", name+"-ledger")
	wantSaid(t, want, releaseOf(name)...)
	if after := said(t, "budget", name+"-ledger"); after != before {
		t.Errorf("%s\nit was\n%s", after, before)
	}
	if rows := strings.Count(contentOf(t, name+".csv"), "\n"); rows != 4 {
		t.Errorf("%d lines are released, with the header", rows)
	}
	verified(t, name+"-ledger")
}

// change runs SQL on a file that is a database, as no program of geosql's does.
func change(t *testing.T, name, sql string) {
	t.Helper()
	conn, err := sqlite.Open(name, sqlite.ReadWrite)
	check(t, err)
	defer conn.Close()
	check(t, conn.Exec(sql))
}
