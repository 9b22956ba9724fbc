package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
)

// Release is what the ledger knows of a data set that is being released: which one,
// how, how many accounts are charged for it, and what was published in the end. It is
// used by one goroutine at a time, while the ledger is open.
//
// Every account is charged once, for all that the data set has of it, in ascending order
// of the accounts and before anything is drawn. A process that is killed has charged a
// number of them, and the next one charges those behind and draws everything again. So one
// charge pays for several draws, of which no more than one may ever be seen: whoever draws
// keeps what he has drawn to himself until [Release.Seal] has said that this is it.
type Release struct {
	ledger *Ledger
	id     string
	run    *run

	charged   int64
	last      string // account that this process has charged
	published *Published
}

// ReleasePlan is what must not change between two attempts at a release.
type ReleasePlan struct {
	Digest   string // of the data set
	Settings string // that the draws depend on
	Output   string // where it is to be published
}

// Published is what was published of a release.
type Published struct {
	Output string    // where
	SHA256 string    // of its bytes, in hexadecimal
	Time   time.Time // when it was sealed
}

// releaseFunction is the function of the entries of releases.
const releaseFunction = "release"

// releaseSchema is for a ledger that had no release yet. The version of the file stays:
// nothing that another program writes depends on the table, and one that does not know
// it cannot release.
const releaseSchema = `
CREATE TABLE IF NOT EXISTS release(
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL, settings TEXT NOT NULL, output TEXT NOT NULL,
  charged INTEGER NOT NULL,
  sha256 TEXT, sealed INTEGER,
  changed INTEGER NOT NULL) WITHOUT ROWID, STRICT`

// OpenRelease begins a release, or goes on with the one that has the id, whose plan
// must be the same. A release that was published is opened too; it cannot be charged.
func (l *Ledger) OpenRelease(id string, plan ReleasePlan) (*Release, error) {
	if id == "" {
		return nil, errors.New("ledger: a release has no id")
	}
	r := &Release{ledger: l, id: id, run: new(run)}
	err := l.transact(func(t *transaction) error {
		if err := t.db.conn.Exec(releaseSchema); err != nil {
			return err
		}
		found, err := t.db.release(id)
		if err != nil {
			return err
		}
		if found == nil {
			return t.addRelease(id, plan)
		}
		if err := found.plan.CheckUnchanged(id, plan); err != nil {
			return err
		}
		r.charged, r.published = found.charged, found.published
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// differs says what in an id's plan is not the one that is wanted now.
func (p ReleasePlan) CheckUnchanged(id string, wanted ReleasePlan) error {
	what := ""
	switch {
	case p.Settings != wanted.Settings:
		what = fmt.Sprintf("has other settings (%s, not %s)", p.Settings, wanted.Settings)
	case p.Digest != wanted.Digest:
		what = "has another input"
	case p.Output != wanted.Output:
		what = "goes to " + p.Output
	default:
		return nil
	}
	return &ReleaseError{id, what + "; another release needs another id"}
}

// Charged is how many accounts are charged, from the first one on.
func (r *Release) Charged() int64 { return r.charged }

// Published is what was published, nil where nothing was yet.
func (r *Release) Published() *Published { return r.published }

// Charge charges the accounts behind those that are charged, and notes how many these are,
// in one transaction. Items are in ascending order of their accounts, each of which has one.
// What [Ledger.Reserve] set aside stays aside. When Charge returns nil it is on disk. A
// refusal is a [*RefusalError]; then nothing was charged.
func (r *Release) Charge(unit budget.Unit, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := CheckOrdered(r.last, unit, items); err != nil {
		return err
	}
	charged := r.charged + int64(len(items))
	err := r.ledger.transact(func(t *transaction) error {
		if err := r.stands(t); err != nil {
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

// CanPay returns nil if all accounts, each in one item and in ascending order, could be
// charged now, out of their limits alone, else the [*RefusalError] of the first that could not,
// or an error of the items.
func (l *Ledger) CanPay(unit budget.Unit, items iter.Seq2[Item, error]) error {
	var unread error
	err := l.read(func(db *store) error {
		return db.within("BEGIN", func() error {
			balances, err := db.orderedBalances(unit, l.clock())
			if err != nil {
				return err
			}
			defer balances.close()
			for item, err := range items {
				if unread = err; err != nil {
					return nil
				}
				if _, err := db.checkCanPay(balances, item); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return cmp.Or(err, unread)
}

// Seal ends the release: it is what has this hash, to be published where the plan says.
// Nothing can be charged or sealed under its id any more.
func (r *Release) Seal(sha256 string) error {
	return r.ledger.transact(func(t *transaction) error {
		if err := r.stands(t); err != nil {
			return err
		}
		return t.exec("UPDATE release SET sealed = ?2, sha256 = ?3 WHERE id = ?1", r.id, t.now, sha256)
	})
}

// Other is the id of another release that is sealed with this hash and goes to the same
// output, "" if there is none.
func (r *Release) Other(sha256 string) (id string, err error) {
	const sql = `SELECT o.id FROM release AS r JOIN release AS o ON o.output = r.output AND o.id <> r.id
		WHERE r.id = ?1 AND o.sha256 = ?2`
	err = r.ledger.read(func(db *store) error {
		return db.query(sql, func(s *sqlite.Stmt) error {
			c := s.Column(0)
			id = c.Text()
			return nil
		}, r.id, sha256)
	})
	return id, err
}

// stands makes sure that nobody else has gone on with the release.
func (r *Release) stands(t *transaction) error {
	found, err := t.db.release(r.id)
	switch {
	case err != nil:
		return err
	case found == nil || found.charged != r.charged || found.published != nil:
		return &ReleaseError{r.id, "was continued by another process"}
	}
	return nil
}

// releaseRow is a row of table release.
type releaseRow struct {
	plan      ReleasePlan
	charged   int64
	published *Published
}

// release is the row of a release, nil where there is none.
func (db *store) release(id string) (found *releaseRow, err error) {
	const sql = "SELECT digest, settings, output, charged, sha256, sealed FROM release WHERE id = ?1"
	err = db.query(sql, func(s *sqlite.Stmt) error {
		var v [6]sqlite.Value
		s.Row(0, v[:])
		found = &releaseRow{
			plan:    ReleasePlan{Digest: v[0].Text(), Settings: v[1].Text(), Output: v[2].Text()},
			charged: v[3].Int(),
		}
		if v[5].Type() == sqlite.Integer {
			found.published = &Published{found.plan.Output, v[4].Text(), time.UnixMicro(v[5].Int()).UTC()}
		}
		return nil
	}, id)
	return found, err
}

func (t *transaction) addRelease(id string, p ReleasePlan) error {
	return t.exec("INSERT INTO release(id, digest, settings, output, charged, changed) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
		id, p.Digest, p.Settings, p.Output, t.now)
}

// change runs a statement that writes; its parameters are texts and integers.
func (t *transaction) exec(sql string, params ...any) error {
	s, _, err := t.db.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, p := range params {
		switch p := p.(type) {
		case string:
			s.BindText(i+1, p)
		case int64:
			s.BindInts(i+1, p)
		}
	}
	t.written++
	return s.Run()
}
