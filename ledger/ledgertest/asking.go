package ledgertest

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// An Asking is a question in the unit m about accounts that owe 4 each. Its answers say which draw
// they are.
type Asking struct {
	ledger.Question
	Draws   int      // how often it was drawn
	Without []string // accounts that the last draw left out
}

// Ask returns a question about accounts with its name as the key.
func Ask(name string, accounts ...string) *Asking {
	q := &Asking{Question: ledger.Question{Function: "dx_sum", Unit: "m"}}
	copy(q.Key[:], name)
	for _, account := range accounts {
		q.Members = append(q.Members, ledger.Member{Account: account, Epsilon: 4, Due: 4, RoleDue: 4, Evaluations: 1})
	}
	q.Draw = func(leftOut []string) ([]byte, error) {
		q.Draws++
		q.Without = leftOut
		return fmt.Appendf(nil, "%s %d", name, q.Draws), nil
	}
	return q
}

// As makes it a question of a role.
func (q *Asking) As(role string, limit budget.Amount) *Asking {
	q.Role, q.RoleLimit = role, limit
	return q
}

// LeavingOut makes it one that leaves out who cannot pay.
func (q *Asking) LeavingOut() *Asking {
	q.LeaveOut = true
	return q
}

// Owing makes a member's account and role budget owe other amounts for the answer.
func (q *Asking) Owing(i int, due, roleDue budget.Amount) *Asking {
	q.Members[i].Due, q.Members[i].RoleDue = due, roleDue
	return q
}

// Answer asks for a quote, then for the answer, and demands that they agree.
func (q *Asking) Answer(t rapid.TB, l ledger.Ledger) (ledger.Answered, error) {
	t.Helper()
	end := head(t, l)
	question := q.Question
	question.Draw = nil
	quote, refusal := l.Quote(context.Background(), question)
	if head(t, l) != end {
		t.Fatalf("a quote has changed the chain")
	}
	a, err := l.Answer(context.Background(), q.Question)
	if !reflect.DeepEqual(refusal, err) {
		t.Fatalf("refused with %v, quoted %v", err, refusal)
	}
	if quote.Time.After(a.Time) || a.Remembered && !quote.Time.Equal(a.Time) {
		t.Fatalf("answered at %v, quoted %v", a.Time, quote.Time)
	}
	same := a
	if same.Time = quote.Time; !a.Seen {
		same.Answer = nil
	}
	if !reflect.DeepEqual(quote, same) {
		t.Fatalf("answered %+v, quoted %+v", a, quote)
	}
	return a, err
}

// Gets demands an answer that is charged to so many accounts, and to so many role budgets, of a ledger
// that verifies.
func (q *Asking) Gets(t testing.TB, l ledger.Ledger, answer string, charged, roleBudgets int) ledger.Answered {
	t.Helper()
	before := q.Draws
	a, err := q.Answer(t, l)
	check(t, err)
	toll := func(n int) ledger.Toll {
		if n == 0 {
			return ledger.Toll{}
		}
		return ledger.Toll{Accounts: n, Most: 4}
	}
	if string(a.Answer) != answer || a.Charged != toll(charged) || a.RoleCharged != toll(roleBudgets) || a.Remembered == (q.Draws > before) {
		t.Errorf("%s got %q, %+v, want %q, charged to %d and %d role budgets", q.Key[:4], a.Answer, a, answer, charged, roleBudgets)
	}
	if a.Charged.Accounts > 0 && a.Remembered {
		t.Errorf("charged for a remembered answer: %+v", a)
	}
	check(t, verify(l, "", nil))
	return a
}

// Amounts are the spent amounts of accounts, and of the budgets of a role for them.
type Amounts = map[string][2]budget.Amount

// WantSpent checks the spent amounts of accounts and of the budgets of a role.
func WantSpent(t testing.TB, l ledger.Ledger, role string, want Amounts) {
	t.Helper()
	roleBudgets, err := l.RoleBudgets(role)
	check(t, err)
	of := map[string]budget.Amount{}
	for _, p := range roleBudgets {
		if p.Role != role || p.Unit != "m" {
			t.Errorf("the role budgets of %s have %+v", role, p)
		}
		of[p.Account] = p.Spent
	}
	for account, w := range want {
		if got := balance(t, l, account).Spent; got != w[0] || of[account] != w[1] {
			t.Errorf("%s has spent %d, and %s on it %d, want %d", account, int64(got), role, int64(of[account]), w)
		}
	}
}
