package ledger

import (
	"github.com/geosql/geosql/budget"
)

// pool is what Reserve has set aside for an account and nobody holds. It is on
// disk as reserved, so that using it takes no commit.
type pool struct {
	account string
	left    budget.Amount
}

// reserveFunction is the function of the entries that fill and dissolve pools.
const reserveFunction = "budget_reserve"

// Reserve sets amounts aside for all accounts or for none, in one transaction.
// Afterwards [Ledger.Charge] and the statements of this process take from them
// without a commit per account. What is left returns when the ledger closes.
// A refusal is a [*Refusal]. The evaluations of an item mean nothing here.
func (l *Ledger) Reserve(unit budget.Unit, items []Item) error {
	if err := checkItems(unit, items); err != nil || len(items) == 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := new(run)
	err := l.transact(func(t *transaction) error {
		from := &origin{r, t.now, reserveFunction, unit}
		if err := t.postNotes(l.notes); err != nil {
			return err
		}
		for _, item := range items {
			b, err := t.db.balance(item.Account, unit)
			if err != nil {
				return err
			}
			if !b.Limited || item.Epsilon > b.Remaining() {
				return t.refuse(b, item.Epsilon, b.Remaining())
			}
			err = t.post(&entry{
				origin:   from,
				account:  item.Account,
				reserved: item.Epsilon,
			}, b)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.forgetNotes()
	l.fill(unit, items)
	return nil
}

func (l *Ledger) fill(unit budget.Unit, items []Item) {
	pools := l.pools[unit]
	if pools == nil {
		pools = make(map[string]*pool, len(items))
		l.pools[unit] = pools
	}
	for _, item := range items {
		q := pools[item.Account]
		if q == nil {
			q = &pool{account: item.Account}
			pools[item.Account] = q
		}
		q.left += item.Epsilon
	}
}

// draw takes what the pools have for items, and tells whether that is all.
func (l *Ledger) draw(unit budget.Unit, items []Item) (pooled []budget.Amount, covered bool) {
	pooled, covered = make([]budget.Amount, len(items)), true
	pools := l.pools[unit]
	for i, item := range items {
		if q := pools[item.Account]; q != nil {
			pooled[i] = min(q.left, item.Epsilon)
			q.left -= pooled[i]
		}
		covered = covered && pooled[i] == item.Epsilon
	}
	return pooled, covered
}

// putBack undoes draw.
func (l *Ledger) putBack(unit budget.Unit, items []Item, pooled []budget.Amount) {
	for i, amount := range pooled {
		if amount > 0 {
			l.pools[unit][items[i].Account].left += amount
		}
	}
}

// dissolvePools notes that what is left in the pools is returned.
func (l *Ledger) dissolvePools() {
	r, at := new(run), now()
	for unit, pools := range l.pools {
		from := &origin{r, at, reserveFunction, unit}
		for account, q := range pools {
			if q.left == 0 {
				continue
			}
			l.addNote(entry{
				origin:   from,
				account:  account,
				reserved: -q.left,
			})
			q.left = 0
		}
	}
}
