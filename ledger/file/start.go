package file

import (
	"cmp"
	"errors"
	"math"

	"github.com/geosql/geosql/ledger/internal/engine"
)

// startFunction is the function of the entries with the spending of an earlier ledger.
const startFunction = "ledger_start"

// StartFrom gives a new ledger the limits of an earlier one and the Spent of its accounts: in
// all, and in the windows that have begun. Reservations of the earlier ledger count as spent,
// since somebody may still use them. The earlier ledger stays as it is, and can grant the rest
// too: using both grants that much a second time.
//
// Each limit and each balance becomes an entry, with the time of the limit or of the last charge.
// The events of the earlier ledger go over too: charges unknown to it are unknown to the new one.
// Traces, unfinished releases, and the answers and role budgets of questions do not.
func (l *Ledger) StartFrom(earlier *Ledger) error {
	var written error
	err := earlier.read(func(db *store) error {
		return db.inTransaction("BEGIN", func() error { // all of one moment
			if marked, err := db.sameLedger(); marked || err != nil {
				return cmp.Or(err, db.errMarked(earlier.path))
			}
			old, err := db.contents()
			if err != nil {
				return err
			}
			events, err := db.events(math.MaxInt64)
			if err == nil {
				written = l.transact(func(t *transaction) error { return t.startFrom(old, events) })
			}
			return err
		})
	})
	return cmp.Or(err, written)
}

func (t *transaction) startFrom(old *engine.Contents, events []event) error {
	if err := t.readHead(); err != nil {
		return err
	}
	if t.head.ID != 0 {
		return errors.New("the ledger has entries already: only a new one can start from another")
	}
	r := new(engine.Run)
	for _, e := range events {
		if err := t.addEvent(r, e); err != nil {
			return err
		}
	}
	for to, err := range old.Limits {
		if err == nil {
			err = t.SetLimit(&engine.Change{
				Origin:  r.Origin(to.Changed, engine.LimitFunction, to.Unit),
				Account: to.Account,
				Limit:   &engine.Limit{Epsilon: to.Epsilon, Seconds: to.Seconds},
			})
		}
		if err != nil {
			return err
		}
	}
	for b, err := range old.Balances {
		if err == nil {
			err = t.startBalance(r, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startBalance writes the entry and the balance of an account that has spent something.
func (t *transaction) startBalance(r *engine.Run, b *engine.KeyedBalance) error {
	spent := b.Spent + b.Reserved
	if spent == 0 {
		return nil
	}
	from := r.Origin(cmp.Or(b.LastCharge, t.now), startFunction, b.Unit)
	after := engine.BalanceRow{Spent: spent, LastCharge: from.Time, Window: b.Window}
	return t.addEntries(from, []engine.Posting{{Account: b.Account, Spent: spent, Evaluations: 1, After: after}}, true)
}
