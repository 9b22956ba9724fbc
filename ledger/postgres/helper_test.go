package postgres

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
)

const unit = "person"

// ledgerUnit returns a unit of its own for a test.
func ledgerUnit(name string) budget.Unit { return budget.Unit("unit of " + name) }

// open opens a ledger, which the test closes at its end.
func open(t testing.TB, url string) *Ledger {
	t.Helper()
	l, err := Open(url, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// fresh opens a new ledger.
func fresh(t testing.TB) *Ledger {
	t.Helper()
	return open(t, pgtest.Start(t).Database(t))
}

var others atomic.Int64

// another opens the ledger of a URL once more, as another process would.
func another(t testing.TB, url string) *Ledger {
	t.Helper()
	return open(t, fmt.Sprintf("%s&application_name=other%d", url, others.Add(1)))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tenth is a tenth of the limit of most tests.
const (
	one   = budget.One
	tenth = budget.One / 10
)

// refused reports whether an error is a refusal, and ends the test after any other error.
func refused(t testing.TB, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if _, ok := errors.AsType[*ledger.RefusalError](err); !ok {
		t.Fatal(err)
	}
	return true
}

func items(eps budget.Amount, accounts ...string) []ledger.Item {
	var all []ledger.Item
	for _, a := range accounts {
		all = append(all, ledger.Item{Account: a, Epsilon: eps, Evaluations: 1})
	}
	return all
}
