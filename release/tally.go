package release

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
)

// A tally counts locations by account.
type tally struct {
	names  intern.Table
	counts []int64 // by the number of the account's name
}

func (t *tally) reset() {
	t.names.Reset()
	t.counts = t.counts[:0]
}

func (t *tally) add(account []byte, locations int64) {
	i := t.names.Number(account)
	if i == len(t.counts) {
		t.counts = append(t.counts, 0)
	}
	t.counts[i] += locations
}

// check makes sure that no account would be charged more than there can be.
func (t *tally) check(cost budget.Amount) error {
	for i, n := range t.counts {
		if _, ok := cost.Times(n); !ok {
			return fmt.Errorf("account %s has %d locations, which cost more than any budget holds", quote(t.names.Name(i)), n)
		}
	}
	return nil
}

// item is the charge for all locations of an account.
func (t *tally) item(i int, account string, cost budget.Amount) ledger.Item {
	epsilon, _ := cost.Times(t.counts[i]) // which check has made sure of
	return ledger.Item{Account: account, Epsilon: epsilon, Evaluations: t.counts[i]}
}

// each are the charges for everything in the tally, in any order.
func (t *tally) each(cost budget.Amount) iter.Seq[ledger.Item] {
	return func(yield func(ledger.Item) bool) {
		for i := range t.names.Len() {
			if !yield(t.item(i, string(t.names.Name(i)), cost)) {
				return
			}
		}
	}
}

// items are the charges for everything in the tally, in the order of the accounts.
func (t *tally) items(cost budget.Amount) []ledger.Item {
	items := make([]ledger.Item, t.names.Len())
	for i, account := range t.accounts() {
		items[i] = t.item(i, account, cost)
	}
	slices.SortFunc(items, func(a, b ledger.Item) int { return cmp.Compare(a.Account, b.Account) })
	return items
}

// accounts are the names, in the order of their numbers, in one piece of memory.
func (t *tally) accounts() []string {
	var text strings.Builder
	for i := range t.names.Len() {
		text.Write(t.names.Name(i))
	}
	all := make([]string, t.names.Len())
	start := 0
	for i := range all {
		end := start + len(t.names.Name(i))
		all[i] = text.String()[start:end]
		start = end
	}
	return all
}

// A census is the tally of a whole data set, up to a number of accounts.
type census struct {
	tally
	most     int   // that are told apart
	distinct int64 // accounts
	more     bool  // than distinct
}

func (c *census) merge(t *tally) {
	if c.more {
		return
	}
	for i := range t.counts {
		c.add(t.names.Name(i), t.counts[i])
	}
	c.distinct = int64(min(c.names.Len(), c.most))
	c.more = c.names.Len() > c.most
}
