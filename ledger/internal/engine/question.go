package engine

import (
	"context"
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var errNoDraw = errors.New("ledger: a question has no way to draw its answer")

// drawError is the error of a draw. It concerns one caller alone, as a refusal does, because a
// draw comes before anything of its question is written.
type drawError struct{ err error }

func (e *drawError) Error() string { return e.err.Error() }
func (e *drawError) Unwrap() error { return e.err }

// Answer implements [ledger.Ledger].
func (c *Core) Answer(ctx context.Context, q ledger.Question) (ledger.Answered, error) {
	if q.Draw == nil {
		return ledger.Answered{}, errNoDraw
	}
	if err := q.Normalize(); err != nil {
		return ledger.Answered{}, err
	}
	id := q.ID() // before others wait for it
	var a ledger.Answered
	err := Wrap(c.store.Update(ctx, needsOfQuestion(&q), func(t Transaction) (err error) {
		a, err = answer(t, &q, id[:])
		return err
	}))
	if err == nil {
		return a, nil
	}
	return ledger.Answered{}, undrawn(err) // and nothing that was drawn
}

// undrawn returns the error of a draw as it was.
func undrawn(err error) error {
	if failed, ok := errors.AsType[*drawError](err); ok {
		return failed.err
	}
	return err
}

// needsOfQuestion returns the needs of the accounts and roles that may have to pay for an answer.
func needsOfQuestion(q *ledger.Question) Needs {
	return func(yield func(Key) bool) {
		for i := range q.Members {
			if m := &q.Members[i]; m.Due > 0 && !yield(Key{m.Account, q.Unit}) {
				return
			}
		}
	}
}

// Quote implements [ledger.Ledger].
func (c *Core) Quote(ctx context.Context, q ledger.Question) (a ledger.Answered, err error) {
	if err := q.Normalize(); err != nil {
		return ledger.Answered{}, err
	}
	id := q.ID()
	err = Wrap(c.store.View(ctx, func(r Reader) error {
		_, a, err = quote(r, &q, id[:])
		return err
	}))
	if err != nil {
		return ledger.Answered{}, err
	}
	return a, nil
}

// quote decides how a question is answered, and returns the answer, which has its content only if the role has seen it.
func quote(r Reader, q *ledger.Question, id []byte) (d *decision, a ledger.Answered, err error) {
	if d, err = decide(r, q, id); err != nil {
		return nil, a, err
	}
	a = d.answered(r.Now())
	if d.given == nil {
		return d, a, nil
	}
	content, at, err := r.Answer(d.given.ID)
	if a.Time = at; d.given.Seen {
		a.Answer = content
	}
	return d, a, err
}

// answer gives a remembered answer or draws one. All checks and the draw come before the first
// write.
func answer(t Transaction, q *ledger.Question, id []byte) (ledger.Answered, error) {
	d, err := decide(t, q, id)
	if err != nil {
		return ledger.Answered{}, err
	}
	if d.given != nil {
		return recallAnswer(t, q, d)
	}
	return drawAnswer(t, q, id, d)
}

// A decision says how a question is answered.
type decision struct {
	given *ledger.Given // nil if an answer is drawn
	out   ledger.LeftOut

	dues     []ledger.Item // of accounts
	roleDues []ledger.Item // of the role's budgets
	after    []BalanceRow  // of accounts that have paid
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
func decide(r Reader, q *ledger.Question, id []byte) (*decision, error) {
	given, err := r.Given(id, q.Role)
	if err != nil {
		return nil, err
	}
	whole := ledger.Choose(given, nil, nil) // is about everybody
	if whole != nil && whole.Seen {
		return &decision{given: whole}, nil
	}
	p, err := payersOf(r, q, whole == nil || q.LeaveOut)
	if err != nil {
		return nil, err
	}
	d := &decision{given: ledger.Choose(given, p.accounts, p.roleBudgets)}
	if d.given != nil {
		d.out = d.given.LeftOut
	} else {
		d.out = p.accounts.With(p.roleBudgets)
		d.dues = q.Dues(d.out)
		d.after = p.afterDues(q, d.dues)
	}
	if q.Role != "" && (d.given == nil || !d.given.Seen) {
		d.roleDues = q.RoleDues(d.out)
	}
	return d, nil
}

// payers says who can pay for a question. Accounts and role budgets that are short are in it only if
// the question leaves them out.
type payers struct {
	accounts, roleBudgets ledger.LeftOut
	after                 []BalanceRow // of all members' accounts, after the charge; zero where nothing is due
}

// payersOf returns who can pay, or the refusal of the first who cannot if nobody is to be left out.
// Without accounts, an earlier answer has charged the accounts and only role budgets pay.
func payersOf(r Reader, q *ledger.Question, accounts bool) (*payers, error) {
	p := &payers{after: make([]BalanceRow, len(q.Members))}
	var balances Standings
	if accounts {
		var err error
		if balances, err = r.Ascending(q.Unit, len(q.Members)); err != nil {
			return nil, err
		}
		defer balances.Close() // before anything is written
	}
	var roleBudget func(account string) (ledger.RoleBudget, error)
	if q.Role != "" {
		var err error
		if roleBudget, err = r.RoleBudgets(q.Role, q.Unit); err != nil {
			return nil, err
		}
	}
	for i := range q.Members {
		m := &q.Members[i]
		if accounts && m.Due > 0 {
			b, err := balances.Standing(m.Account)
			if err != nil {
				return nil, err
			}
			if err := p.checkAccount(r, q, &b, i); err != nil {
				return nil, err
			}
		}
		if roleBudget != nil && m.RoleDue > 0 {
			if err := p.checkRoleBudget(q, roleBudget, i); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// checkAccount checks that the limit of a member's account covers the due amount.
func (p *payers) checkAccount(r Reader, q *ledger.Question, b *ledger.Standing, i int) error {
	asked, _ := q.Asked(i)
	if !q.LeaveOut {
		if err := checkAffordable(r, b, asked, 0); err != nil {
			return err
		}
	} else if b.Refuse(asked, 0) != nil {
		p.accounts.Add(i)
	}
	p.after[i] = (&Change{Origin: &Origin{Time: r.Now()}, Spent: q.Members[i].Due}).posting(b).After
	return nil
}

// checkRoleBudget checks that the role's budget for a member's account covers the due amount.
func (p *payers) checkRoleBudget(q *ledger.Question, roleBudgetOf func(account string) (ledger.RoleBudget, error), i int) error {
	roleBudget, err := roleBudgetOf(q.Members[i].Account)
	switch {
	case err != nil:
		return err
	case roleBudget.Spent < 0 || roleBudget.Spent > budget.Max:
		return errors.New("the ledger is damaged: the spending of a role is out of range")
	}
	_, asked := q.Asked(i)
	switch refusal := roleBudget.Refuse(asked, q.RoleLimit); {
	case refusal == nil:
	case q.LeaveOut:
		p.roleBudgets.Add(i)
	default:
		return refusal
	}
	return nil
}

// afterDues returns the balances of the accounts that pay dues.
func (p *payers) afterDues(q *ledger.Question, dues []ledger.Item) []BalanceRow {
	after := make([]BalanceRow, len(dues))
	i := 0
	for k, due := range dues {
		for q.Members[i].Account != due.Account {
			i++
		}
		after[k] = p.after[i]
	}
	return after
}

// recallAnswer gives a remembered answer again. A role that has not seen it pays.
func recallAnswer(t Transaction, q *ledger.Question, d *decision) (a ledger.Answered, err error) {
	a = d.answered(t.Now())
	if a.Answer, a.Time, err = t.Answer(d.given.ID); err != nil || d.given.Seen {
		return a, err
	}
	if err := t.ChargeRoleBudgets(q.Role, originOf(t, q), d.roleDues); err != nil {
		return a, err
	}
	return a, t.AddSeen(d.given.ID, q.Role)
}

// drawAnswer draws an answer about everybody who can pay, and charges and stores it.
func drawAnswer(t Transaction, q *ledger.Question, id []byte, d *decision) (ledger.Answered, error) {
	a := d.answered(t.Now())
	drawn, err := q.Draw(q.LeftOut(d.out))
	if err != nil {
		return a, &drawError{err}
	}
	a.Answer = drawn
	from := originOf(t, q)
	postings := make([]Posting, len(d.dues))
	for i, due := range d.dues {
		postings[i] = Posting{due.Account, due.Epsilon, 0, due.Evaluations, d.after[i]}
	}
	if err := t.Post(from, postings); err != nil {
		return a, err
	}
	if err := t.ChargeRoleBudgets(q.Role, from, d.roleDues); err != nil {
		return a, err
	}
	return a, t.AddAnswer(id, d.out, drawn, q.Role)
}

// originOf returns the origin of a question's changes.
func originOf(t Transaction, q *ledger.Question) *Origin {
	return &Origin{new(Run), t.Now(), q.Function, q.Unit}
}
