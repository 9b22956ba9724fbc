package file

import (
	"errors"
	"time"

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

var errPurse = errors.New("the ledger is damaged: what a role has spent is out of range")

// drawError is the error of a draw. It concerns one caller alone, as a refusal does, because a
// draw comes before anything of its question is written.
type drawError struct{ err error }

func (e *drawError) Error() string { return e.err.Error() }
func (e *drawError) Unwrap() error { return e.err }

// Answer implements [ledger.Ledger].
func (l *Ledger) Answer(q ledger.Question) (ledger.Answered, error) {
	if err := q.Normalize(); err != nil {
		return ledger.Answered{}, err
	}
	var a ledger.Answered
	err := l.transact(func(t *transaction) (err error) {
		a, err = t.answer(&q)
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

// answer gives a remembered answer or draws one. All checks and the draw come before the first
// write.
func (t *transaction) answer(q *ledger.Question) (ledger.Answered, error) {
	if err := t.db.prepareAnswers(); err != nil {
		return ledger.Answered{}, err
	}
	id := q.ID()
	given, err := t.db.given(id[:], q.Role)
	if err != nil {
		return ledger.Answered{}, err
	}
	whole := ledger.Choose(given, nil, nil) // is about everybody
	if whole != nil && whole.Seen {
		return t.recallAnswer(q, whole)
	}
	p, err := t.payersOf(q, whole == nil || q.LeaveOut)
	if err != nil {
		return ledger.Answered{}, err
	}
	if g := ledger.Choose(given, p.accounts, p.purses); g != nil {
		return t.recallAnswer(q, g)
	}
	return t.drawAnswer(q, id[:], p)
}

// prepareAnswers makes the tables of answers and purses if they are not there. That counts as no
// write: by itself it is rolled back.
func (db *store) prepareAnswers() error {
	s, err := db.compiled("SELECT 1 FROM sqlite_schema WHERE name = 'purse'")
	if err != nil {
		return err
	}
	there, err := s.Step()
	s.Reset()
	if err != nil || there {
		return err
	}
	return db.conn.Exec(answerSchema)
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
		if purses, err = t.db.purses(q.Role, q.Unit); err != nil {
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

// recallAnswer gives a remembered answer again. A role that has not seen it pays.
func (t *transaction) recallAnswer(q *ledger.Question, g *ledger.Given) (ledger.Answered, error) {
	a := ledger.Answered{Remembered: true, LeftOut: g.LeftOut.Count()}
	s, err := t.db.compiled("SELECT answer, given FROM answer WHERE id = ?1")
	if err != nil {
		return a, err
	}
	s.BindInts(1, g.ID)
	if _, err := s.Step(); err != nil {
		s.Reset()
		return a, err
	}
	answer, at := s.Column(0), s.Column(1)
	a.Answer = append([]byte(nil), answer.Bytes()...)
	a.Time = time.UnixMicro(at.Int()).UTC()
	s.Reset() // before anything is written
	if g.Seen {
		return a, nil
	}
	a.RoleCharged, err = t.showTo(q, g.ID, g.LeftOut, t.originOf(q))
	return a, err
}

// drawAnswer draws an answer about everybody who can pay, and charges and stores it.
func (t *transaction) drawAnswer(q *ledger.Question, id []byte, p *payers) (ledger.Answered, error) {
	out := p.accounts.With(p.purses)
	dues := q.Dues(out)
	a := ledger.Answered{Time: time.UnixMicro(t.now).UTC(), LeftOut: out.Count(), Charged: ledger.TollOf(dues)}
	drawn, err := q.Draw(q.LeftOut(out))
	if err != nil {
		return a, &drawError{err}
	}
	a.Answer = drawn
	from := t.originOf(q)
	if err := t.chargeAccounts(from, dues, p.windowsOf(q, dues)); err != nil {
		return a, err
	}
	err = t.exec("INSERT INTO answer(question, left_out, answer, given) VALUES (?1, ?2, ?3, ?4)", id, []byte(out), drawn, t.now)
	if err != nil {
		return a, err
	}
	number, err := t.db.readInt("SELECT max(id) FROM answer")
	if err != nil {
		return a, err
	}
	a.RoleCharged, err = t.showTo(q, number, out, from)
	return a, err
}

// originOf returns the origin of what a question changes.
func (t *transaction) originOf(q *ledger.Question) *origin {
	return &origin{new(run), t.now, q.Function, q.Unit}
}

// showTo notes that the role of a question has seen an answer, and charges its purses for the
// accounts that the answer is about. The owner has none.
func (t *transaction) showTo(q *ledger.Question, answer int64, out ledger.LeftOut, from *origin) (ledger.Toll, error) {
	if q.Role == "" {
		return ledger.Toll{}, nil
	}
	dues := q.RoleDues(out)
	if err := t.chargePurses(q.Role, from, dues); err != nil {
		return ledger.Toll{}, err
	}
	return ledger.TollOf(dues), t.exec("INSERT INTO seen(answer, role) VALUES (?1, ?2)", answer, q.Role)
}
