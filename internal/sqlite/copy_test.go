//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
)

// pagesOfCopy is more pages than are copied at a time, several times over.
const pagesOfCopy = 5 * copyPages

// copied returns a database of many pages in a journal mode, with tables a and b of one
// row each.
func copied(t *testing.T, journal string) (path string, from *Conn) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "from.db")
	from = openAt(t, path, ReadWrite|Create)
	run(t, from, `PRAGMA journal_mode = `+journal, `CREATE TABLE a(n)`, `INSERT INTO a VALUES (0)`,
		`CREATE TABLE fill AS `+numbers(pagesOfCopy)+`SELECT randomblob(4000) AS bytes FROM s`,
		`CREATE TABLE b(n)`, `INSERT INTO b VALUES (0)`)
	return path, from
}

// Writes of another connection while a database is copied are in the copy as a whole
// or not at all. In WAL mode they never are, and the writer never waits. In other modes the copy
// begins anew, and after some times the writer has to wait.
func TestCopyWhileItIsWritten(t *testing.T) {
	for journal, want := range map[string]struct {
		written int // times that the writer got in
		rows    string
	}{
		"wal":    {4, `[[0 0]]`},
		"delete": {copyRestarts, `[[3 3]]`},
	} {
		t.Run(journal, func(t *testing.T) {
			path, from := copied(t, journal)
			writer := openAt(t, path, ReadWrite)
			to := openAt(t, filepath.Join(t.TempDir(), "to.db"), ReadWrite|Create)
			written, calls := 0, 0
			check := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			check(to.CopyFrom(from, func(share float64) error {
				if calls++; share < 0 || share > 1 {
					t.Errorf("share %v", share)
				}
				if calls > 4 {
					return nil
				}
				switch err := writer.Exec(`BEGIN IMMEDIATE; UPDATE a SET n = n + 1; UPDATE b SET n = n + 1; COMMIT`); {
				case err == nil:
					written++
				case writer.AutoCommit():
				default:
					check(writer.Exec("ROLLBACK"))
				}
				return nil
			}))
			if written != want.written {
				t.Errorf("the writer got in %d times, not %d", written, want.written)
			}
			answers(t, to, `SELECT a.n, b.n FROM a, b`, want.rows)
			answers(t, to, `PRAGMA integrity_check`, `[[ok]]`)
			if !from.AutoCommit() {
				t.Error("the source is still in a transaction")
			}
			run(t, writer, `UPDATE a SET n = 9`) // nobody holds a lock
		})
	}
}

// The copy is made from the view of an open transaction, which stays open.
func TestCopyOfAnOpenTransaction(t *testing.T) {
	path, from := copied(t, "wal")
	run(t, from, `BEGIN`, `SELECT * FROM a`)
	run(t, openAt(t, path, ReadWrite), `UPDATE a SET n = 1`)
	to := openAt(t, filepath.Join(t.TempDir(), "to.db"), ReadWrite|Create)
	if err := to.CopyFrom(from, func(float64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	answers(t, to, `SELECT n FROM a`, `[[0]]`)
	if from.AutoCommit() {
		t.Error("the transaction was ended")
	}
}

// An error of the callback ends the copy.
func TestCopyStops(t *testing.T) {
	_, from := copied(t, "delete")
	to := openAt(t, filepath.Join(t.TempDir(), "to.db"), ReadWrite|Create)
	stop := errors.New("stop")
	if err := to.CopyFrom(from, func(float64) error { return stop }); err != stop {
		t.Errorf("got %v", err)
	}
	answers(t, to, `SELECT count(*) FROM sqlite_schema`, `[[0]]`)
}
