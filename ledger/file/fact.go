package file

import (
	"context"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// factSchema creates the table of facts in a ledger that had none. The version of the file stays:
// a program that does not know the table does nothing that depends on facts.
const factSchema = `
CREATE TABLE IF NOT EXISTS fact(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL,
  recorded INTEGER NOT NULL,
  UNIQUE (kind, text)) STRICT`

// Record implements [ledger.Ledger].
func (l *Ledger) Record(facts ...ledger.Fact) error {
	if err := ledger.CheckFacts(facts); err != nil {
		return err
	}
	return l.transact(func(t *transaction) error {
		t.written++
		if err := t.db.conn.Exec(factSchema); err != nil {
			return err
		}
		for _, f := range facts {
			err := t.exec("INSERT OR IGNORE INTO fact(kind, text, recorded) VALUES (?1, ?2, ?3)", f.Kind, f.Text, t.now)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Facts implements [ledger.Ledger]. It waits for no transaction, since a program that acts on facts asks
// for new ones all the time.
func (l *Ledger) Facts(_ context.Context, after int64) (facts []ledger.Fact, err error) {
	if l.path == "" {
		err = l.readStored(func(db *store) error {
			facts, err = db.facts(after)
			return err
		})
		return facts, err
	}
	err = l.watch(func(w *watcher) error {
		facts, err = w.facts(after)
		return err
	})
	return facts, engine.Wrap(err)
}

// facts returns the facts with a higher ID than after.
func (db *store) facts(after int64) (facts []ledger.Fact, err error) {
	s, err := db.compiled("SELECT 1 FROM sqlite_schema WHERE name = 'fact'")
	if err != nil {
		return nil, err
	}
	some, err := s.Step()
	s.Reset()
	if err != nil || !some {
		return nil, err
	}
	if s, err = db.compiled("SELECT id, kind, text FROM fact WHERE id > ?1 ORDER BY id"); err != nil {
		return nil, err
	}
	defer s.Reset()
	s.BindInts(1, after)
	for {
		more, err := s.Step()
		if err != nil || !more {
			return facts, err
		}
		var v [3]sqlite.Value
		s.Row(0, v[:])
		facts = append(facts, ledger.Fact{ID: v[0].Int(), Kind: v[1].Text(), Text: v[2].Text()})
	}
}
