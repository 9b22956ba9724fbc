package file

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
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

// batchSize is how many entries one run of an SQL statement writes, and handed how many one
// goroutine makes before it hands them to the one that writes them.
const (
	batchSize = 16
	handed    = 32 * batchSize
)

// addItems writes an entry for each item. Windows are those after the charge.
func (t *transaction) addItems(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) error {
	n := len(items) / batchSize * batchSize
	if n > 0 {
		if err := t.addBatches(from, items[:n], windows[:n]); err != nil {
			return err
		}
	}
	for i, item := range items[n:] {
		if err := t.addEntry(engine.ChargeOf(item, from), 0, windows[n+i]); err != nil {
			return err
		}
	}
	return nil
}

// addBatches writes the entries of items that fill batches. One goroutine hashes them while
// another writes: each takes about a third of the time of the other.
func (t *transaction) addBatches(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) error {
	s, err := t.db.compiled(addEntriesSQL())
	if err == nil {
		err = t.readHead()
	}
	if err != nil {
		return err
	}
	made, free := make(chan []byte), make(chan []byte, 2)
	free <- nil
	free <- nil
	go func() {
		defer close(made)
		for len(items) > 0 {
			n := min(handed, len(items))
			made <- t.appendEntries((<-free)[:0], from, items[:n], windows[:n])
			items, windows = items[n:], windows[n:]
		}
	}()
	left := len(items) / batchSize
	for cells := range made { // also after an error, until the other goroutine has ended
		if err == nil {
			n := min(handed/batchSize, left)
			err = s.InsertRows(cells, sharedCells+batchSize*entryCells, n)
			left -= n
		}
		free <- cells
	}
	return err
}

// appendEntries makes items, which fill batches, the next entries of the chain and appends what
// addEntriesSQL writes of them.
func (t *transaction) appendEntries(cells []byte, from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) []byte {
	change := engine.Change{Origin: from}
	for i, item := range items {
		change.Account, change.Spent, change.Evaluations = item.Account, item.Epsilon, item.Evaluations
		e := t.next(&change, 0, windows[i])
		if i%batchSize == 0 {
			cells = sqlite.AppendText(cells, e.Function)
			cells = sqlite.AppendText(cells, string(e.Unit))
			cells = sqlite.AppendInt(cells, e.ID)
			cells = sqlite.AppendInt(cells, e.Statement)
			cells = sqlite.AppendInt(cells, e.Time)
		}
		cells = sqlite.AppendText(cells, e.Account)
		cells = sqlite.AppendInt(cells, int64(e.Spent))
		cells = sqlite.AppendInt(cells, e.Evaluations)
		if e.Window.Start == 0 {
			cells = sqlite.AppendNull(cells)
		} else {
			cells = sqlite.AppendInt(cells, e.Window.Start)
		}
		cells = sqlite.AppendInt(cells, int64(e.Window.Spent))
		cells = sqlite.AppendBlob(cells, t.head.Hash[:])
	}
	return cells
}

// sharedCells is how many parameters of addEntriesSQL all entries share, and entryCells how many
// each has of its own.
const sharedCells, entryCells = 5, 6

// addEntriesSQL returns the SQL that writes a batch of entries that charge limits in one run. ?1
// is their function, ?2 their unit, ?3 the ID of the first, ?4 their statement, ?5 their time.
func addEntriesSQL() string {
	var b strings.Builder
	b.WriteString(`
INSERT INTO entry(id, statement, time, function, unit, reserved,
                  account, spent, evaluations, window_start, window_spent, hash) VALUES `)
	for k := range batchSize {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(?3 + %d, ?4, ?5, ?1, ?2, 0", k)
		for i := range entryCells {
			fmt.Fprintf(&b, ", ?%d", sharedCells+k*entryCells+i+1)
		}
		b.WriteString(")")
	}
	return b.String()
}
