package file

import (
	"cmp"
	"errors"
	"iter"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// release implements [ledger.Release].
type release struct {
	ledger *Ledger
	id     string
	plan   ledger.ReleasePlan
	run    *run

	charged   int64
	last      string // the last account that this process has charged
	published *ledger.Published
}

// releaseFunction is the function of the entries of releases.
const releaseFunction = "release"

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

// FindRelease implements [ledger.Ledger].
func (l *Ledger) FindRelease(id string, plan ledger.ReleasePlan) (ledger.Release, error) {
	r, err := l.newRelease(id, plan)
	if err != nil {
		return nil, err
	}
	err = l.read(func(db *store) error {
		some, err := db.hasTable("release")
		if some && err == nil {
			_, err = r.restore(db)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// newRelease returns a release of which nothing is charged.
func (l *Ledger) newRelease(id string, plan ledger.ReleasePlan) (*release, error) {
	if id == "" {
		return nil, errors.New("ledger: a release has no id")
	}
	return &release{ledger: l, id: id, plan: plan, run: new(run)}, nil
}

// restore reads how far the release is, if it has begun.
func (r *release) restore(db *store) (begun bool, err error) {
	found, err := db.release(r.id)
	if err != nil || found == nil {
		return false, err
	}
	if err := found.plan.CheckUnchanged(r.id, r.plan); err != nil {
		return true, err
	}
	r.charged, r.published = found.charged, found.published
	return true, nil
}

// OpenRelease implements [ledger.Ledger].
func (l *Ledger) OpenRelease(id string, plan ledger.ReleasePlan) (ledger.Release, error) {
	r, err := l.newRelease(id, plan)
	if err != nil {
		return nil, err
	}
	err = l.transact(func(t *transaction) error {
		if err := t.db.conn.Exec(releaseSchema); err != nil {
			return err
		}
		begun, err := r.restore(t.db)
		if err == nil && !begun {
			err = t.addRelease(id, plan)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Charged implements [ledger.Release].
func (r *release) Charged() int64 { return r.charged }

// Published implements [ledger.Release].
func (r *release) Published() *ledger.Published { return r.published }

// Charge implements [ledger.Release].
func (r *release) Charge(unit budget.Unit, items []ledger.Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := ledger.CheckOrdered(r.last, unit, items); err != nil {
		return err
	}
	charged := r.charged + int64(len(items))
	err := r.ledger.transact(func(t *transaction) error {
		if err := r.checkCurrent(t); err != nil {
			return err
		}
		from := &origin{r.run, t.now, releaseFunction, unit}
		if err := t.chargeOrdered(from, items); err != nil {
			return err
		}
		return t.exec("UPDATE release SET charged = ?2, changed = ?3 WHERE id = ?1", r.id, charged, t.now)
	})
	if err == nil {
		r.charged, r.last = charged, items[len(items)-1].Account
	}
	return err
}

// CannotPay implements [ledger.Ledger].
func (l *Ledger) CannotPay(unit budget.Unit, items iter.Seq2[ledger.Item, error], first *budget.Amount, each func(ledger.Item, ledger.Standing)) error {
	var unread error
	err := l.read(func(db *store) error {
		return db.inTransaction("BEGIN", func() error {
			balances, err := db.orderedBalances(unit, l.clock())
			if err != nil {
				return err
			}
			defer balances.close()
			if rest := &balances.unknown; first != nil && !rest.Limited {
				rest.Limit, rest.Limited = *first, true
			}
			for item, err := range items {
				if unread = err; err != nil {
					return nil
				}
				b, err := balances.standing(item.Account)
				if err != nil {
					return err
				}
				if b.Refuse(item.Epsilon, 0) != nil {
					each(item, b)
				}
			}
			return nil
		})
	})
	return cmp.Or(err, unread)
}

// Seal implements [ledger.Release].
func (r *release) Seal(sha256 string) error {
	return r.ledger.transact(func(t *transaction) error {
		if err := r.checkCurrent(t); err != nil {
			return err
		}
		return t.exec("UPDATE release SET sealed = ?2, sha256 = ?3 WHERE id = ?1", r.id, t.now, sha256)
	})
}

// Other implements [ledger.Release].
func (r *release) Other(sha256 string) (id string, err error) {
	const sql = "SELECT id FROM release WHERE id <> ?1 AND output = ?2 AND sha256 = ?3"
	err = r.ledger.read(func(db *store) error {
		some, err := db.hasTable("release")
		if err != nil || !some {
			return err
		}
		return db.query(sql, func(s *sqlite.Stmt) error {
			c := s.Column(0)
			id = c.Text()
			return nil
		}, r.id, r.plan.Output, sha256)
	})
	return id, err
}

// checkCurrent checks that no other process has continued the release.
func (r *release) checkCurrent(t *transaction) error {
	found, err := t.db.release(r.id)
	switch {
	case err != nil:
		return err
	case found == nil || found.charged != r.charged || found.published != nil:
		return &ledger.ReleaseError{ID: r.id, Reason: "was continued by another process"}
	}
	return nil
}

// releaseRow is a row of table release.
type releaseRow struct {
	plan      ledger.ReleasePlan
	charged   int64
	published *ledger.Published
}

// hasTable reports whether a table exists that not every ledger has.
func (db *store) hasTable(name string) (exists bool, err error) {
	err = db.query("SELECT 1 FROM sqlite_schema WHERE name = ?1", func(*sqlite.Stmt) error {
		exists = true
		return nil
	}, name)
	return exists, err
}

// release returns the row of a release, or nil if there is none.
func (db *store) release(id string) (found *releaseRow, err error) {
	const sql = "SELECT digest, settings, output, charged, sha256, sealed FROM release WHERE id = ?1"
	err = db.query(sql, func(s *sqlite.Stmt) error {
		var v [6]sqlite.Value
		s.Row(0, v[:])
		found = &releaseRow{
			plan:    ledger.ReleasePlan{Digest: v[0].Text(), Settings: v[1].Text(), Output: v[2].Text()},
			charged: v[3].Int(),
		}
		if v[5].Type() == sqlite.Integer {
			found.published = &ledger.Published{Output: found.plan.Output, SHA256: v[4].Text(), Time: time.UnixMicro(v[5].Int()).UTC()}
		}
		return nil
	}, id)
	return found, err
}

// addRelease adds the row of a release that begins.
func (t *transaction) addRelease(id string, p ledger.ReleasePlan) error {
	return t.exec("INSERT INTO release(id, digest, settings, output, charged, changed) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
		id, p.Digest, p.Settings, p.Output, t.now)
}

// exec runs an SQL statement that writes, and keeps it compiled. Its parameters are texts, integers and blobs.
func (t *transaction) exec(sql string, params ...any) error {
	s, err := t.db.compiled(sql)
	if err != nil {
		return err
	}
	cells := t.db.cells[:0]
	for _, p := range params {
		switch p := p.(type) {
		case string:
			cells = sqlite.AppendText(cells, p)
		case int64:
			cells = sqlite.AppendInt(cells, p)
		case []byte:
			cells = sqlite.AppendBlob(cells, p)
		}
	}
	t.db.cells = cells
	t.written++
	return s.InsertRows(cells, len(params), 1)
}
