package file

import (
	"strconv"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
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

// Facts implements [ledger.Ledger].
func (l *Ledger) Facts(after int64) (facts []ledger.Fact, err error) {
	err = l.readStored(func(db *store) error {
		some, err := db.hasTable("fact")
		if err != nil || !some {
			return err
		}
		return db.query("SELECT id, kind, text FROM fact WHERE id > CAST(?1 AS INTEGER) ORDER BY id", func(s *sqlite.Stmt) error {
			id, kind, text := s.Column(0), s.Column(1), s.Column(2)
			facts = append(facts, ledger.Fact{ID: id.Int(), Kind: kind.Text(), Text: text.Text()})
			return nil
		}, strconv.FormatInt(after, 10))
	})
	return facts, err
}
