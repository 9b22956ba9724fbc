package file

import (
	"iter"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// releaseSchema creates the table of releases in a ledger that had none. The version of the file
// stays: nothing that another program writes depends on the table, and a program that does not
// know it cannot release.
const releaseSchema = `
CREATE TABLE IF NOT EXISTS release(
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL, settings TEXT NOT NULL, output TEXT NOT NULL,
  charged INTEGER NOT NULL,
  sha256 TEXT, sealed INTEGER,
  changed INTEGER NOT NULL) WITHOUT ROWID, STRICT`

// hasTable reports whether a table exists that not every ledger has.
func (db *store) hasTable(name string) (exists bool, err error) {
	err = db.query("SELECT 1 FROM sqlite_schema WHERE name = ?1", func(*sqlite.Stmt) error {
		exists = true
		return nil
	}, name)
	return exists, err
}

// Release implements [engine.Reader].
func (r *reader) Release(id string) (found *engine.ReleaseRow, err error) {
	const sql = "SELECT digest, settings, output, charged, sha256, sealed FROM release WHERE id = ?1"
	some, err := r.db.hasTable("release")
	if err != nil || !some {
		return nil, err
	}
	err = r.db.query(sql, func(s *sqlite.Stmt) error {
		var v [6]sqlite.Value
		s.Row(0, v[:])
		found = &engine.ReleaseRow{
			Plan:    ledger.ReleasePlan{Digest: v[0].Text(), Settings: v[1].Text(), Output: v[2].Text()},
			Charged: v[3].Int(),
		}
		if v[5].Type() == sqlite.Integer {
			found.Published = &ledger.Published{Output: found.Plan.Output, SHA256: v[4].Text(), Time: time.UnixMicro(v[5].Int()).UTC()}
		}
		return nil
	}, id)
	return found, err
}

// Releases implements [engine.Reader].
func (r *reader) Releases(each func(*engine.NamedRelease)) error {
	for x, err := range releases(r.db) {
		if err != nil {
			return err
		}
		each(x)
	}
	return nil
}

// releases returns the rows of all releases, by ID.
func releases(db *store) iter.Seq2[*engine.NamedRelease, error] {
	return rowsOf(db, "release", "SELECT id, digest, settings, output, charged, sha256, sealed, changed FROM release ORDER BY id",
		func(s *sqlite.Stmt, r *engine.NamedRelease) {
			var v [8]sqlite.Value
			s.Row(0, v[:])
			*r = engine.NamedRelease{ID: v[0].Text(), Changed: v[7].Int(), ReleaseRow: engine.ReleaseRow{
				Plan:    ledger.ReleasePlan{Digest: v[1].Text(), Settings: v[2].Text(), Output: v[3].Text()},
				Charged: v[4].Int()}}
			if v[6].Type() == sqlite.Integer {
				r.Published = &ledger.Published{Output: r.Plan.Output, SHA256: v[5].Text(), Time: time.UnixMicro(v[6].Int()).UTC()}
			}
		})
}

// AddRelease implements [engine.Transaction].
func (t *transaction) AddRelease(id string, p ledger.ReleasePlan) error {
	if err := t.db.conn.Exec(releaseSchema); err != nil {
		return err
	}
	return t.exec("INSERT INTO release(id, digest, settings, output, charged, changed) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
		id, p.Digest, p.Settings, p.Output, t.now)
}

// SetCharged implements [engine.Transaction].
func (t *transaction) SetCharged(id string, charged int64) error {
	return t.exec("UPDATE release SET charged = ?2, changed = ?3 WHERE id = ?1", id, charged, t.now)
}

// SealRelease implements [engine.Transaction].
func (t *transaction) SealRelease(id, sha256 string) error {
	return t.exec("UPDATE release SET sealed = ?2, sha256 = ?3 WHERE id = ?1", id, t.now, sha256)
}
