package file

import (
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// answerSchema creates the tables of answers and role budgets in a ledger that had none. An answer is
// about all members of its question but those in left_out. The version of the file stays: a program
// that does not know the tables asks no questions, and takes the entries of role budgets for events.
const answerSchema = `
CREATE TABLE IF NOT EXISTS answer(
  id INTEGER PRIMARY KEY,
  question BLOB NOT NULL, left_out BLOB NOT NULL,
  answer BLOB NOT NULL,
  given INTEGER NOT NULL,
  UNIQUE (question, left_out)) STRICT;
CREATE TABLE IF NOT EXISTS seen(
  answer INTEGER NOT NULL, role TEXT NOT NULL,
  PRIMARY KEY (answer, role)) WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS purse(
  role TEXT NOT NULL, account TEXT NOT NULL, unit TEXT NOT NULL,
  spent INTEGER NOT NULL CHECK (spent >= 0),
  PRIMARY KEY (role, unit, account)) WITHOUT ROWID, STRICT`

// findAnswers finds out whether the tables of answers and role budgets are there.
func (r *reader) findAnswers() error {
	if r.hasAnswers {
		return nil
	}
	s, err := r.db.compiled("SELECT 1 FROM sqlite_schema WHERE name = 'purse'")
	if err != nil {
		return err
	}
	r.hasAnswers, err = s.Step()
	s.Reset()
	return err
}

// makeAnswers makes the tables of answers and role budgets if they are not there.
func (t *transaction) makeAnswers() error {
	if err := t.findAnswers(); err != nil || t.hasAnswers {
		return err
	}
	t.hasAnswers = true
	t.written++
	return t.db.conn.Exec(answerSchema)
}

// Given implements [engine.Reader]. A copy of a ledger gives no answers.
func (r *reader) Given(question []byte, role string) (given []ledger.Given, err error) {
	if !r.placeKnown {
		if err := r.checkPlace(); err != nil {
			return nil, err
		}
	}
	if r.marked {
		return nil, r.errMarked()
	}
	if err := r.findAnswers(); err != nil || !r.hasAnswers {
		return nil, err
	}
	s, err := r.db.compiled(`
		SELECT id, left_out, EXISTS (SELECT 1 FROM seen WHERE answer = id AND role = ?2) FROM answer WHERE question = ?1`)
	if err != nil {
		return nil, err
	}
	defer s.Reset()
	s.BindBlob(1, question)
	s.BindText(2, role)
	for {
		row, err := s.Step()
		if err != nil || !row {
			return given, err
		}
		number, out, seen := s.Column(0), s.Column(1), s.Column(2)
		given = append(given, ledger.Given{
			ID:      number.Int(),
			LeftOut: append(ledger.LeftOut(nil), out.Bytes()...),
			Seen:    role == "" || seen.Int() != 0,
		})
	}
}

// Answer implements [engine.Reader].
func (r *reader) Answer(id int64) (answer []byte, at time.Time, err error) {
	s, err := r.db.compiled("SELECT answer, given FROM answer WHERE id = ?1")
	if err != nil {
		return nil, at, err
	}
	defer s.Reset()
	s.BindInts(1, id)
	if _, err := s.Step(); err != nil {
		return nil, at, err
	}
	var v [2]sqlite.Value
	s.Row(0, v[:])
	return append([]byte(nil), v[0].Bytes()...), time.UnixMicro(v[1].Int()).UTC(), nil
}

// AddAnswer implements [engine.Transaction].
func (t *transaction) AddAnswer(question []byte, out ledger.LeftOut, answer []byte, role string) error {
	if err := t.makeAnswers(); err != nil {
		return err
	}
	err := t.exec("INSERT INTO answer(question, left_out, answer, given) VALUES (?1, ?2, ?3, ?4)", question, []byte(out), answer, t.now)
	if err != nil || role == "" {
		return err
	}
	return t.exec("INSERT INTO seen(answer, role) VALUES (last_insert_rowid(), ?1)", role)
}

// AddSeen implements [engine.Transaction].
func (t *transaction) AddSeen(answer int64, role string) error {
	return t.exec("INSERT INTO seen(answer, role) VALUES (?1, ?2)", answer, role)
}
