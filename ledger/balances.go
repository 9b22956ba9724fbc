package ledger

import (
	"iter"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/rules"
)

// The rules of a single account are in package rules, which a device has without the rest of the ledger.
type (
	Balance      = rules.Balance
	RefusalError = rules.RefusalError
	Standing     = rules.Standing
	Term         = rules.Term
	WindowUse    = rules.WindowUse
)

const (
	Everyone  = rules.Everyone  // the account that stands for every account that has no limit of its own
	MaxWindow = rules.MaxWindow // the longest window, in seconds
)

// mostCompared is the number of balances from which on Least takes longer than most statements.
const mostCompared = 5000

// Least returns an amount that each account has left in a unit, also one that the ledger does not know yet: the largest such amount, or 0 if
// there are too many balances to compare.
func Least(l Balances, unit budget.Unit) (budget.Amount, error) {
	stored, err := l.Stored(mostCompared)
	if err != nil || stored == mostCompared {
		return 0, err
	}
	rest, err := l.Balance(Everyone, unit)
	least := rest.Remaining()
	if err != nil || least == 0 {
		return 0, err
	}
	for b, err := range AllBalances(l) {
		if err != nil {
			return 0, err
		}
		if b.Unit == unit {
			least = min(least, b.Remaining())
		}
	}
	return least, nil
}

// A Pager reads the balances of all accounts in pages.
type Pager interface {
	// BalancesAfter returns a page of the balances of all accounts that have a limit or an entry, and of the limits of Everyone,
	// in the order of accounts and units, by bytes: it begins after an account and a unit, and is empty at the end.
	BalancesAfter(account string, unit budget.Unit) ([]Balance, error)
}

// AllBalances yields the balances of all accounts, a page at a time. The loop may use the ledger: pages that are read later have its
// charges, and those of others.
func AllBalances(l Pager) iter.Seq2[Balance, error] {
	return func(yield func(Balance, error) bool) {
		var last Balance
		for {
			page, err := l.BalancesAfter(last.Account, last.Unit)
			if err != nil {
				yield(Balance{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, last = range page {
				if !yield(last, nil) {
					return
				}
			}
		}
	}
}
