package ledgertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

const (
	one   = budget.One
	tenth = one / 10
)

// failer is the common interface of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func check(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t failer, err error) *ledger.RefusalError {
	t.Helper()
	r, ok := errors.AsType[*ledger.RefusalError](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return r
}

// unlessRefused returns an error that is no refusal.
func unlessRefused(err error) error {
	if isA[*ledger.RefusalError](err) {
		return nil
	}
	return err
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// saying demands an error of one line that has the text want.
func saying(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}

func charge(l ledger.Ledger, account string, eps budget.Amount) error {
	return l.Charge("f", "m", []ledger.Item{{Account: account, Epsilon: eps, Evaluations: 1}})
}

// items returns an item of two evaluations for each account.
func items(eps budget.Amount, accounts ...string) (all []ledger.Item) {
	for _, a := range accounts {
		all = append(all, ledger.Item{Account: a, Epsilon: eps, Evaluations: 2})
	}
	return all
}

func balance(t failer, l ledger.Ledger, account string) ledger.Balance {
	t.Helper()
	b, err := l.Balance(account, "m")
	check(t, err)
	return b
}

// wantBalance demands that an account has spent and reserved so much.
func wantBalance(t testing.TB, l ledger.Ledger, account string, spent, reserved budget.Amount) {
	t.Helper()
	if b := balance(t, l, account); b.Spent != spent || b.Reserved != reserved {
		t.Errorf("%+v, want %d and %d", b, int64(spent), int64(reserved))
	}
}

// Balances returns the balances of all accounts.
func Balances(t failer, l ledger.Balances) (all []ledger.Balance) {
	t.Helper()
	for b, err := range ledger.AllBalances(l) {
		check(t, err)
		all = append(all, b)
	}
	return all
}

func charges(t failer, l ledger.Ledger) []ledger.Charge {
	t.Helper()
	var all []ledger.Charge
	for c, err := range l.Charges() {
		check(t, err)
		all = append(all, c)
	}
	return all
}

func verify(l ledger.Ledger, archive string, earlier *ledger.Head) error {
	_, err := l.Verify(archive, earlier, nil)
	return err
}

func head(t failer, l ledger.Ledger) ledger.Head {
	t.Helper()
	h, err := l.Head()
	check(t, err)
	return h
}

// key names a balance.
type key struct {
	account string
	unit    budget.Unit
}

// row is the stored row of an account and a unit.
type row struct{ spent, reserved budget.Amount }

func (r row) total() budget.Amount { return r.spent + r.reserved }
