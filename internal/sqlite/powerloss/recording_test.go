//go:build unix && !geosql_loadable

package powerloss

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func record(t *testing.T, dir string) *Recording {
	t.Helper()
	r, err := Record(dir)
	check(t, err)
	t.Cleanup(func() { r.Stop() })
	return r
}

func open(t *testing.T, path string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// folder is the content of a folder but the index of a log.
func folder(t *testing.T, dir string) Image {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	image := Image{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "-shm") {
			image[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
			check(t, err)
		}
	}
	return image
}

// nowOn is the disk after all that was recorded.
func (t *Trace) nowOn(use func(*Disk)) {
	for n, d := range t.Points() {
		if n == t.Len() {
			use(d)
		}
	}
}

// A recording misses nothing: played again it gives the files that are there.
func TestRecordingIsComplete(t *testing.T) {
	for _, mode := range []string{"DELETE", "TRUNCATE", "PERSIST", "WAL"} {
		dir := t.TempDir()
		c := open(t, filepath.Join(dir, "before"))
		check(t, c.Exec(`CREATE TABLE t(x); INSERT INTO t VALUES (1)`))
		check(t, c.Close())
		r := record(t, dir)
		compare := func(when string) {
			t.Helper()
			(&Trace{r.done}).nowOn(func(d *Disk) { same(t, mode+", "+when, d.WithEverything(), folder(t, dir)) })
		}
		compare("at first")
		for _, name := range []string{"before", "new"} {
			c := open(t, filepath.Join(dir, name))
			check(t, c.Exec(`PRAGMA journal_mode = `+mode+`; PRAGMA mmap_size = 1000000; PRAGMA wal_autocheckpoint = 5`))
			check(t, c.Exec(`CREATE TABLE IF NOT EXISTS t(x)`))
			for range 20 {
				check(t, c.Exec(`INSERT INTO t VALUES (randomblob(3000))`))
			}
			check(t, c.Exec(`BEGIN; DELETE FROM t`))
			compare("in a transaction")
			check(t, c.Exec(`COMMIT; VACUUM`))
			compare("in use")
			check(t, c.Close())
			compare("closed")
		}
		r.Stop()
	}
}

// A transaction is on the disk when SQLite has said so, or not, as synchronous tells.
func TestCommitsAreSynced(t *testing.T) {
	for _, test := range []struct {
		mode, synchronous string
		durable           bool
	}{
		{"WAL", "FULL", true}, {"WAL", "NORMAL", false}, {"WAL", "OFF", false},
		{"DELETE", "EXTRA", true}, {"DELETE", "FULL", false}, {"TRUNCATE", "FULL", true},
	} {
		dir := t.TempDir()
		r := record(t, dir)
		c := open(t, filepath.Join(dir, "db"))
		check(t, c.Exec(`PRAGMA journal_mode = `+test.mode+`; PRAGMA synchronous = `+test.synchronous+`;
			CREATE TABLE t(x); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)`))
		(&Trace{r.done}).nowOn(func(d *Disk) {
			left := t.TempDir()
			check(t, d.WithNothing().Write(left))
			if rows := count(t, filepath.Join(left, "db")); (rows == 2) != test.durable {
				t.Errorf("%v: %d rows", test, rows)
			}
		})
		check(t, c.Close())
		r.Stop()
	}
}

// count counts the rows of a table, 0 where it is missing.
func count(t *testing.T, path string) int64 {
	t.Helper()
	c := open(t, path)
	defer c.Close()
	s, _, err := c.Prepare(`SELECT count(*) FROM t`)
	if err != nil {
		return 0
	}
	defer s.Close()
	if _, err := s.Step(); err != nil {
		return 0
	}
	v := s.Column(0)
	return v.Int()
}

func TestChangesFail(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	c := open(t, filepath.Join(dir, "db"))
	check(t, c.Exec(`CREATE TABLE t(x)`))
	for code, want := range map[int]string{Full: "database or disk is full", IOError: "disk I/O error"} {
		r.Fail(2, code, true)
		for range 2 {
			if err := c.Exec(`INSERT INTO t VALUES (1)`); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if !r.Heal() {
			t.Error("nothing has failed")
		}
		check(t, c.Exec(`INSERT INTO t VALUES (1)`))
	}
	r.Fail(1000, Full, true)
	check(t, c.Exec(`INSERT INTO t VALUES (1)`))
	if r.Heal() {
		t.Error("something has failed")
	}
	(&Trace{r.done}).nowOn(func(d *Disk) { same(t, "after failures", d.WithEverything(), folder(t, dir)) })
}

// Files that are elsewhere, or opened when nothing is recorded, are left alone.
func TestOthersAreNotRecorded(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	if _, err := Record(dir); err == nil {
		t.Error("recorded twice at a time")
	}
	elsewhere := open(t, filepath.Join(t.TempDir(), "db"))
	check(t, elsewhere.Exec(`CREATE TABLE t(x)`))
	memory := open(t, ":memory:")
	check(t, memory.Exec(`CREATE TABLE t(x)`))
	here := open(t, filepath.Join(dir, "db"))
	check(t, here.Exec(`CREATE TABLE t(x)`))
	before := r.Stop().Len()
	if before == 0 {
		t.Error("nothing was recorded")
	}
	again := record(t, t.TempDir())
	check(t, here.Exec(`INSERT INTO t VALUES (1)`))
	check(t, here.Close())
	if n := again.Stop().Len(); n != 0 {
		t.Errorf("%d operations of another folder", n)
	}
	if r.Stop().Len() != before {
		t.Error("recorded after the end")
	}
}
