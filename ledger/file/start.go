package file

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

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
	var old *engine.Totals
	var events []event
	err := earlier.read(func(db *store) error {
		return db.inTransaction("BEGIN", func() (err error) { // all of one moment
			if marked, err := db.sameLedger(); marked || err != nil {
				return cmp.Or(err, db.errMarked(earlier.path))
			}
			if old, err = db.totals(); err != nil {
				return err
			}
			events, err = db.events(math.MaxInt64)
			return err
		})
	})
	if err != nil {
		return err
	}
	return l.transact(func(t *transaction) error { return t.startFrom(old, events) })
}

func (t *transaction) startFrom(old *engine.Totals, events []event) error {
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
	for _, k := range sortedKeys(old.Limits) {
		to := old.Limits[k]
		err := t.SetLimit(&engine.Change{
			Origin:  r.Origin(to.Changed, engine.LimitFunction, k.Unit),
			Account: k.Account,
			Limit:   &engine.Limit{Epsilon: to.Epsilon, Seconds: to.Seconds},
		})
		if err != nil {
			return err
		}
	}
	for _, k := range sortedKeys(old.Balances) {
		if err := t.startBalance(r, k, old.Balances[k]); err != nil {
			return err
		}
	}
	return nil
}

// startBalance writes the entry and the balance of an account that has spent something.
func (t *transaction) startBalance(r *engine.Run, k engine.Key, b engine.BalanceRow) error {
	spent := b.Spent + b.Reserved
	if spent == 0 {
		return nil
	}
	c := &engine.Change{
		Origin:      r.Origin(cmp.Or(b.LastCharge, t.now), startFunction, k.Unit),
		Account:     k.Account,
		Spent:       spent,
		Evaluations: 1,
	}
	if err := t.addEntry(c, 0, b.Window); err != nil {
		return err
	}
	put := t.db.putBalance
	put.BindText(1, k.Account)
	put.BindText(2, string(k.Unit))
	put.BindInts(3, int64(spent), 0, c.Time, b.Window.Start, int64(b.Window.Spent))
	return put.Run()
}

// sortedKeys returns the keys of limits or balances in the order of units and accounts.
func sortedKeys[V engine.LimitRow | engine.BalanceRow](m map[engine.Key]V) []engine.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b engine.Key) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Account, b.Account))
	})
}
