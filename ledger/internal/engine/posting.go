package engine

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
)

// Accounts by the million are charged, reserved for and noted in the order of their names, so that a store goes through
// its tables once.

// A Posting is the entry of a change of a balance, and the balance after it.
type Posting struct {
	Account         string
	Spent, Reserved budget.Amount // by how much they really change
	Evaluations     int64
	After           BalanceRow
}

// posting returns the posting of a change, of a balance that was read in the transaction.
func (c *Change) posting(before *ledger.Standing) Posting {
	reserved := before.ReservedChange(c.Spent, c.Reserved, c.Term)
	return Posting{c.Account, c.Spent, reserved, c.Evaluations, BalanceRow{
		Spent:      before.Spent + c.Spent,
		Reserved:   before.Reserved + reserved,
		LastCharge: c.lastCharge(before),
		Window:     before.WindowAfter(c.Spent + reserved),
	}}
}

// Post writes one change of a balance.
func Post(t Transaction, c *Change, before *ledger.Standing) error {
	return t.Post(c.Origin, []Posting{c.posting(before)})
}

// A walk is a way through accounts, which are numbered, in the order of their names.
type walk struct {
	account func(i int) string
	order   []int32
}

// walkThrough returns the walk through n accounts.
func walkThrough(n int, account func(i int) string) walk {
	return walk{account, intern.Order(n, account)}
}

// through returns the walk through the accounts of items.
func through(items []ledger.Item) walk {
	return walkThrough(len(items), func(i int) string { return items[i].Account })
}

// merged checks items and adds up those of the same account. It returns the walk through their accounts, too.
func merged(unit budget.Unit, items []ledger.Item) ([]ledger.Item, walk, error) {
	for i := range items {
		if err := ledger.CheckCharge(items[i].Account, unit, items[i].Epsilon); err != nil {
			return nil, walk{}, err
		}
	}
	w := through(items)
	if _, again := w.split(); len(again) == 0 {
		return items, w, nil
	}
	items, err := ledger.MergeItems(unit, items)
	return items, through(items), err
}

// needs are the needs of the accounts in a unit.
func (w walk) needs(unit budget.Unit) Needs {
	return func(yield func(Key) bool) {
		for _, i := range w.order {
			if !yield(Key{w.account(int(i)), unit}) {
				return
			}
		}
	}
}

// split splits a walk through accounts that may come several times: once has each of them once, and again the others.
func (w walk) split() (once walk, again []int32) {
	once = walk{account: w.account}
	for k, i := range w.order {
		if k > 0 && w.account(int(i)) == w.account(int(w.order[k-1])) {
			if len(again) == 0 {
				once.order = slices.Clone(w.order[:k])
			}
			again = append(again, i)
		} else if len(again) > 0 {
			once.order = append(once.order, i)
		}
	}
	if len(again) == 0 {
		return w, nil
	}
	return once, again
}

// each calls visit for the standing of each account, which is visit's until it returns.
func (w walk) each(r Reader, unit budget.Unit, visit func(i int, s *ledger.Standing) error) error {
	standings, err := r.Ascending(unit, len(w.order))
	if err != nil {
		return err
	}
	defer standings.Close()
	var s ledger.Standing
	for _, i := range w.order {
		if s, err = standings.Standing(w.account(int(i))); err == nil {
			err = visit(int(i), &s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// part is how many standings are read before the changes of their balances are written. Where all are checked first, those
// of up to together accounts are kept meanwhile, and those of more are read again.
const part, together = 1 << 14, 1 << 17

// post writes a change for each account, which change makes from the standing before. Check returns the refusal of an
// account that cannot pay, or is nil: all are checked before anything is written.
func (w walk) post(t Transaction, from *Origin, check func(i int, s *ledger.Standing) error, change func(i int, s *ledger.Standing) Change) error {
	most := part
	switch {
	case check == nil:
	case len(w.order) <= together:
		most = together
	default:
		if err := w.each(t, from.Unit, check); err != nil {
			return err
		}
		check = nil
	}
	postings := make([]Posting, 0, min(most, len(w.order)))
	for order := range slices.Chunk(w.order, most) {
		postings = postings[:0]
		err := walk{w.account, order}.each(t, from.Unit, func(i int, s *ledger.Standing) error {
			if check != nil {
				if err := check(i, s); err != nil {
					return err
				}
			}
			c := change(i, s)
			postings = append(postings, c.posting(s))
			return nil
		})
		if err == nil {
			err = t.Post(from, postings)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
