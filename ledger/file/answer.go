package file

import (
	"errors"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// answerSchema creates the tables of answers and purses in a ledger that had none. An answer is
// about all members of its question but those in left_out. The version of the file stays: a program
// that does not know the tables asks no questions, and takes the entries of purses for events.
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

var errNoDraw = errors.New("ledger: a question has no way to draw its answer")

var errPurse = errors.New("the ledger is damaged: what a role has spent is out of range")

// drawError is the error of a draw. It concerns one caller alone, as a refusal does, because a
// draw comes before anything of its question is written.
type drawError struct{ err error }

func (e *drawError) Error() string { return e.err.Error() }
func (e *drawError) Unwrap() error { return e.err }

// Answer implements [ledger.Ledger].
func (l *Ledger) Answer(q ledger.Question) (ledger.Answered, error) {
	if q.Draw == nil {
		return ledger.Answered{}, errNoDraw
	}
	if err := q.Normalize(); err != nil {
		return ledger.Answered{}, err
	}
	id := q.ID() // before others wait for it
	var a ledger.Answered
	err := l.transact(func(t *transaction) (err error) {
		a, err = t.answer(&q, id[:])
		return err
	})
	if err == nil {
		return a, nil
	}
	if failed, ok := errors.AsType[*drawError](err); ok {
		err = failed.err
	}
	return ledger.Answered{}, err // and nothing of what was drawn
}

// Quote implements [ledger.Ledger].
func (l *Ledger) Quote(q ledger.Question) (a ledger.Answered, err error) {
	if err := q.Normalize(); err != nil {
		return ledger.Answered{}, err
	}
	id := q.ID()
	err = l.readStored(func(db *store) error {
		return db.inTransaction("BEGIN", func() error {
			t := &transaction{ledger: l, db: db, now: l.clock()}
			a, err = t.quote(&q, id[:])
			return err
		})
	})
	if err != nil {
		return ledger.Answered{}, err
	}
	return a, nil
}

// quote returns what answer would, but for the answer. It writes nothing.
func (t *transaction) quote(q *ledger.Question, id []byte) (ledger.Answered, error) {
	if err := t.checkPlace(); err != nil {
		return ledger.Answered{}, err
	}
	if t.isCopy {
		return ledger.Answered{}, t.errCopy()
	}
	d, err := t.decide(q, id)
	if err != nil {
		return ledger.Answered{}, err
	}
	a := d.answered(t.now)
	if d.given != nil {
		_, a.Time, err = t.db.remembered(d.given.ID)
	}
	return a, err
}

// answer gives a remembered answer or draws one. All checks and the draw come before the first
// write.
func (t *transaction) answer(q *ledger.Question, id []byte) (ledger.Answered, error) {
	d, err := t.decide(q, id)
	if err != nil {
		return ledger.Answered{}, err
	}
	if d.given != nil {
		return t.recallAnswer(q, d)
	}
	return t.drawAnswer(q, id, d)
}

// A decision says how a question is answered.
type decision struct {
	given *ledger.Given // nil if an answer is drawn
	out   ledger.LeftOut

	dues     []ledger.Item      // of accounts
	roleDues []ledger.Item      // of the role's purses
	windows  []ledger.WindowUse // of accounts after they have paid
}

// answered returns all of the answer that the decision tells.
func (d *decision) answered(now int64) ledger.Answered {
	return ledger.Answered{
		Time:        time.UnixMicro(now).UTC(),
		Remembered:  d.given != nil,
		LeftOut:     d.out.Count(),
		Out:         d.out,
		Seen:        d.given != nil && d.given.Seen,
		Charged:     ledger.TollOf(d.dues),
		RoleCharged: ledger.TollOf(d.roleDues),
	}
}

// decide decides how a question is answered, or returns the refusal.
func (t *transaction) decide(q *ledger.Question, id []byte) (*decision, error) {
	if err := t.findAnswers(); err != nil {
		return nil, err
	}
	var given []ledger.Given
	if t.hasAnswers {
		var err error
		if given, err = t.db.given(id, q.Role); err != nil {
			return nil, err
		}
	}
	whole := ledger.Choose(given, nil, nil) // is about everybody
	if whole != nil && whole.Seen {
		return &decision{given: whole}, nil
	}
	p, err := t.payersOf(q, whole == nil || q.LeaveOut)
	if err != nil {
		return nil, err
	}
	d := &decision{given: ledger.Choose(given, p.accounts, p.purses)}
	if d.given != nil {
		d.out = d.given.LeftOut
	} else {
		d.out = p.accounts.With(p.purses)
		d.dues = q.Dues(d.out)
		d.windows = p.windowsOf(q, d.dues)
	}
	if q.Role != "" && (d.given == nil || !d.given.Seen) {
		d.roleDues = q.RoleDues(d.out)
	}
	return d, nil
}

// findAnswers finds out whether the tables of answers and purses are there.
func (t *transaction) findAnswers() error {
	if t.hasAnswers {
		return nil
	}
	s, err := t.db.compiled("SELECT 1 FROM sqlite_schema WHERE name = 'purse'")
	if err != nil {
		return err
	}
	t.hasAnswers, err = s.Step()
	s.Reset()
	return err
}

// makeAnswers makes the tables of answers and purses if they are not there.
func (t *transaction) makeAnswers() error {
	if t.hasAnswers {
		return nil
	}
	t.hasAnswers = true
	t.written++
	return t.db.conn.Exec(answerSchema)
}

// given returns the remembered answers to the question that has the ID.
func (db *store) given(id []byte, role string) (given []ledger.Given, err error) {
	s, err := db.compiled(`
		SELECT id, left_out, EXISTS (SELECT 1 FROM seen WHERE answer = id AND role = ?2) FROM answer WHERE question = ?1`)
	if err != nil {
		return nil, err
	}
	defer s.Reset()
	s.BindBlob(1, id)
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

// payers says who can pay for a question. Accounts and purses that are short are in it only if
// the question leaves them out.
type payers struct {
	accounts, purses ledger.LeftOut
	windows          []ledger.WindowUse // of all members' accounts, after the charge; zero for who pays nothing
}

// payersOf returns who can pay, or the refusal of the first who cannot if nobody is to be left out.
// Without accounts, an earlier answer has charged the accounts and only purses pay.
func (t *transaction) payersOf(q *ledger.Question, accounts bool) (*payers, error) {
	p := &payers{windows: make([]ledger.WindowUse, len(q.Members))}
	standing := func(account string) (ledger.Standing, error) { return t.standing(account, q.Unit) }
	if accounts && len(q.Members) >= batchSize {
		balances, err := t.db.orderedBalances(q.Unit, t.now)
		if err != nil {
			return nil, err
		}
		defer balances.close() // before anything is written: SQLite keeps what is read in its place
		standing = balances.standing
	}
	var purses *purses
	if q.Role != "" {
		var err error
		if purses, err = t.purses(q.Role, q.Unit); err != nil {
			return nil, err
		}
	}
	for i := range q.Members {
		m := &q.Members[i]
		if accounts && m.Due > 0 {
			b, err := standing(m.Account)
			if err != nil {
				return nil, err
			}
			if err := p.checkAccount(t, q, &b, i); err != nil {
				return nil, err
			}
		}
		if purses != nil && m.RoleDue > 0 {
			if err := p.checkPurse(q, purses, i); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// checkAccount checks that the limit of a member's account leaves what is due.
func (p *payers) checkAccount(t *transaction, q *ledger.Question, b *ledger.Standing, i int) error {
	due := q.Members[i].Due
	if !q.LeaveOut {
		if err := t.db.checkAffordable(b, due, 0); err != nil {
			return err
		}
	} else if b.Refuse(due, 0) != nil {
		p.accounts.Add(i)
	}
	p.windows[i] = b.WindowAfter(due)
	return nil
}

// checkPurse checks that the role's purse for a member's account can pay what is due.
func (p *payers) checkPurse(q *ledger.Question, purses *purses, i int) error {
	purse, err := purses.of(q.Members[i].Account)
	if err != nil {
		return err
	}
	switch refusal := purse.Refuse(q.Members[i].RoleDue, q.RoleLimit); {
	case refusal == nil:
	case q.LeaveOut:
		p.purses.Add(i)
	default:
		return refusal
	}
	return nil
}

// windowsOf returns the windows of the accounts of some members, which pay.
func (p *payers) windowsOf(q *ledger.Question, dues []ledger.Item) []ledger.WindowUse {
	windows := make([]ledger.WindowUse, len(dues))
	i := 0
	for k, due := range dues {
		for q.Members[i].Account != due.Account {
			i++
		}
		windows[k] = p.windows[i]
	}
	return windows
}

// remembered returns a remembered answer, and when it was drawn.
func (db *store) remembered(id int64) (answer []byte, at time.Time, err error) {
	s, err := db.compiled("SELECT answer, given FROM answer WHERE id = ?1")
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

// recallAnswer gives a remembered answer again. A role that has not seen it pays.
func (t *transaction) recallAnswer(q *ledger.Question, d *decision) (a ledger.Answered, err error) {
	a = d.answered(t.now)
	if a.Answer, a.Time, err = t.db.remembered(d.given.ID); err != nil || d.given.Seen {
		return a, err
	}
	if err := t.chargePurses(q.Role, t.originOf(q), d.roleDues); err != nil {
		return a, err
	}
	return a, t.exec("INSERT INTO seen(answer, role) VALUES (?1, ?2)", d.given.ID, q.Role)
}

// drawAnswer draws an answer about everybody who can pay, and charges and stores it.
func (t *transaction) drawAnswer(q *ledger.Question, id []byte, d *decision) (ledger.Answered, error) {
	a := d.answered(t.now)
	drawn, err := q.Draw(q.LeftOut(d.out))
	if err != nil {
		return a, &drawError{err}
	}
	a.Answer = drawn
	if err := t.makeAnswers(); err != nil {
		return a, err
	}
	from := t.originOf(q)
	if err := t.chargeAccounts(from, d.dues, d.windows); err != nil {
		return a, err
	}
	if err := t.chargePurses(q.Role, from, d.roleDues); err != nil {
		return a, err
	}
	err = t.exec("INSERT INTO answer(question, left_out, answer, given) VALUES (?1, ?2, ?3, ?4)", id, []byte(d.out), drawn, t.now)
	if err != nil || q.Role == "" {
		return a, err
	}
	return a, t.exec("INSERT INTO seen(answer, role) VALUES (last_insert_rowid(), ?1)", q.Role)
}

// originOf returns the origin of what a question changes.
func (t *transaction) originOf(q *ledger.Question) *origin {
	return &origin{new(run), t.now, q.Function, q.Unit}
}
