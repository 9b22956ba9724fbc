package file

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Charges of many accounts in ascending order, out of their limits alone. Balances are read
// by walking through them, entries are written some at a time, and one statement adds
// them to the balances.

// chargeOrdered charges items in ascending order of their accounts.
func (t *transaction) chargeOrdered(from *origin, items []ledger.Item) error {
	windows, err := t.affordOrdered(from.unit, items)
	if err != nil {
		return err
	}
	if err := t.readHead(); err != nil {
		return err
	}
	first := t.head.ID + 1
	if err := t.recordItems(from, items, windows); err != nil {
		return err
	}
	return t.exec(addBalancesSQL, first)
}

// addBalancesSQL adds the entries from one on, which charge limits, to the balances.
const addBalancesSQL = `
INSERT INTO balance(account, unit, spent, reserved, last_charge, window_start, window_spent)
SELECT account, unit, spent, 0, time, window_start, window_spent FROM entry WHERE id >= ?1
ON CONFLICT DO UPDATE SET spent = spent + excluded.spent, last_charge = max(last_charge, excluded.last_charge),
  window_start = excluded.window_start, window_spent = excluded.window_spent`

// affordOrdered returns the windows of the items' accounts after the charge, or the refusal
// of the first that cannot pay.
func (t *transaction) affordOrdered(unit budget.Unit, items []ledger.Item) ([]ledger.WindowUse, error) {
	balances, err := t.db.orderedBalances(unit, t.now)
	if err != nil {
		return nil, err
	}
	defer balances.close() // before anything is written: SQLite keeps what is read in its place
	windows := make([]ledger.WindowUse, len(items))
	for i, item := range items {
		b, err := t.db.checkCanPay(balances, item)
		if err != nil {
			return nil, err
		}
		windows[i] = b.WindowAfter(item.Epsilon)
	}
	return windows, nil
}

// checkCanPay returns the standing of an item's account, or the refusal where its limit
// leaves less than the item.
func (db *store) checkCanPay(balances *orderedBalances, item ledger.Item) (ledger.Standing, error) {
	b, err := balances.standing(item.Account)
	if err != nil {
		return b, err
	}
	return b, db.refuse(&b, item.Epsilon, 0)
}

// atOnce is how many entries one statement writes.
const atOnce = 16

// recordItems writes an entry for each item, whose windows are those after it.
func (t *transaction) recordItems(from *origin, items []ledger.Item, windows []ledger.WindowUse) error {
	if len(items) >= atOnce {
		n, err := t.recordTogether(from, items, windows)
		if err != nil {
			return err
		}
		items, windows = items[n:], windows[n:]
	}
	for i, item := range items {
		if err := t.addEntry(chargeFor(item, from), 0, windows[i]); err != nil {
			return err
		}
	}
	return nil
}

// chargeFor returns the change that charges an item to its account's limit.
func chargeFor(item ledger.Item, from *origin) *change {
	return &change{origin: from, account: item.Account, spent: item.Epsilon, evaluations: item.Evaluations}
}

// recordTogether writes the entries of as many items as a statement writes at a time, and
// returns of how many.
func (t *transaction) recordTogether(from *origin, items []ledger.Item, windows []ledger.WindowUse) (n int, err error) {
	s, _, err := t.db.conn.Prepare(addEntriesSQL())
	if err != nil {
		return 0, err
	}
	defer s.Close()
	s.BindText(1, from.function)
	s.BindText(2, string(from.unit))
	var numbers [3 + 4*atOnce]int64
	for ; n+atOnce <= len(items); n += atOnce {
		v := numbers[:3]
		for k, item := range items[n : n+atOnce] {
			e, err := t.nextEntry(chargeFor(item, from), 0, windows[n+k])
			if err != nil {
				return n, err
			}
			if k == 0 {
				v[0], v[1], v[2] = e.ID, e.Statement, e.Time
			}
			v = append(v, int64(e.Spent), e.Evaluations, e.Window.Start, int64(e.Window.Spent))
			s.BindText(3+len(numbers)+k, e.Account)
			s.BindBlob(3+len(numbers)+atOnce+k, t.head.Hash[:])
		}
		s.BindInts(3, v...)
		if err := s.Run(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// addEntriesSQL writes entries that charge limits in one run: ?1 is their function, ?2 their
// unit, ?3 the id of the first, ?4 their statement, ?5 their time. Behind them come four
// numbers of each, then their accounts, then their hashes.
func addEntriesSQL() string {
	var b strings.Builder
	b.WriteString(`
INSERT INTO entry(id, statement, time, spent, reserved, evaluations,
                  window_start, window_spent, function, account, unit, hash) VALUES `)
	for k := range atOnce {
		if k > 0 {
			b.WriteString(", ")
		}
		n := 6 + 4*k
		fmt.Fprintf(&b, "(?3 + %d, ?4, ?5, ?%d, 0, ?%d, nullif(?%d, 0), ?%d, ?1, ?%d, ?2, ?%d)",
			k, n, n+1, n+2, n+3, 6+4*atOnce+k, 6+5*atOnce+k)
	}
	return b.String()
}
