package file

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Charges of many accounts in ascending order, out of their limits alone. The balances are read
// in one walk through the table, entries are written in batches, and one SQL statement adds them
// to the balances.

// ChargeAscending implements [engine.Transaction].
func (t *transaction) ChargeAscending(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) error {
	if err := t.readHead(); err != nil {
		return err
	}
	first := t.head.ID + 1
	if err := t.addItems(from, items, windows); err != nil {
		return err
	}
	if len(items) >= batchSize {
		return t.exec(addBalancesSQL, first)
	}
	for i, item := range items {
		w := windows[i]
		err := t.exec(addBalanceSQL, item.Account, string(from.Unit), int64(item.Epsilon), from.Time, w.Start, int64(w.Spent))
		if err != nil {
			return err
		}
	}
	return nil
}

// addBalancesSQL adds the entries from an ID on to the balances. They charge limits alone.
// addBalanceSQL adds what one of them says.
const (
	addBalancesSQL = `
INSERT INTO balance(account, unit, spent, reserved, last_charge, window_start, window_spent)
SELECT account, unit, spent, 0, time, window_start, window_spent FROM entry WHERE id >= ?1` + addedSQL

	addBalanceSQL = `
INSERT INTO balance(account, unit, spent, reserved, last_charge, window_start, window_spent)
VALUES (?1, ?2, ?3, 0, ?4, nullif(?5, 0), ?6)` + addedSQL

	addedSQL = `
ON CONFLICT DO UPDATE SET spent = spent + excluded.spent, last_charge = max(last_charge, excluded.last_charge),
  window_start = excluded.window_start, window_spent = excluded.window_spent`
)

// batchSize is how many entries one SQL statement writes.
const batchSize = 16

// addItems writes an entry for each item. Windows are those after the charge.
func (t *transaction) addItems(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) error {
	if len(items) >= batchSize {
		n, err := t.addBatches(from, items, windows)
		if err != nil {
			return err
		}
		items, windows = items[n:], windows[n:]
	}
	for i, item := range items {
		if err := t.addEntry(engine.ChargeOf(item, from), 0, windows[i]); err != nil {
			return err
		}
	}
	return nil
}

// addBatches writes the entries of as many items as fill batches, and returns how many items
// these are.
func (t *transaction) addBatches(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) (n int, err error) {
	s, _, err := t.db.conn.Prepare(addEntriesSQL())
	if err != nil {
		return 0, err
	}
	defer s.Close()
	s.BindText(1, from.Function)
	s.BindText(2, string(from.Unit))
	var numbers [3 + 4*batchSize]int64
	for ; n+batchSize <= len(items); n += batchSize {
		v := numbers[:3]
		for k, item := range items[n : n+batchSize] {
			e, err := t.nextEntry(engine.ChargeOf(item, from), 0, windows[n+k])
			if err != nil {
				return n, err
			}
			if k == 0 {
				v[0], v[1], v[2] = e.ID, e.Statement, e.Time
			}
			v = append(v, int64(e.Spent), e.Evaluations, e.Window.Start, int64(e.Window.Spent))
			s.BindText(3+len(numbers)+k, e.Account)
			s.BindBlob(3+len(numbers)+batchSize+k, t.head.Hash[:])
		}
		s.BindInts(3, v...)
		if err := s.Run(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// addEntriesSQL returns the SQL that writes a batch of entries that charge limits in one run. ?1
// is their function, ?2 their unit, ?3 the ID of the first, ?4 their statement, ?5 their time.
// Behind these come four numbers of each entry, then the accounts, then the hashes.
func addEntriesSQL() string {
	var b strings.Builder
	b.WriteString(`
INSERT INTO entry(id, statement, time, spent, reserved, evaluations,
                  window_start, window_spent, function, account, unit, hash) VALUES `)
	for k := range batchSize {
		if k > 0 {
			b.WriteString(", ")
		}
		n := 6 + 4*k
		fmt.Fprintf(&b, "(?3 + %d, ?4, ?5, ?%d, 0, ?%d, nullif(?%d, 0), ?%d, ?1, ?%d, ?2, ?%d)",
			k, n, n+1, n+2, n+3, 6+4*batchSize+k, 6+5*batchSize+k)
	}
	return b.String()
}
