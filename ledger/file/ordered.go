package file

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Charges of many accounts in ascending order, out of their limits alone. The balances are read
// in one walk through the table. Entries are written in batches, and one SQL statement adds many of
// them to the balances.

// ChargeAscending implements [engine.Transaction].
func (t *transaction) ChargeAscending(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) error {
	t.charged += len(items)
	return t.addItems(from, items, windows, func(first int64) error { return t.db.put(addBalancesSQL, first) })
}

// addBalancesSQL adds the entries from an ID on to the balances. They charge limits alone. The columns
// are in the order of the table, so that SQLite need not move their values.
const addBalancesSQL = `
INSERT INTO balance(account, unit, spent, reserved, window_start, window_spent, last_charge)
SELECT account, unit, spent, 0, window_start, window_spent, time FROM entry WHERE id >= ?1
ON CONFLICT DO UPDATE SET spent = spent + excluded.spent, last_charge = max(last_charge, excluded.last_charge),
  window_start = excluded.window_start, window_spent = excluded.window_spent`

// batchSize is how many entries one run of an SQL statement writes, and handed how many one
// goroutine makes before it hands them to the one that writes them.
const (
	batchSize = 16
	handed    = 32 * batchSize
)

// addItems writes an entry for each item. Windows are those after the charge. It calls added with the ID
// of the first of some entries as soon as these are written, while the processor's cache has them.
func (t *transaction) addItems(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse, added func(first int64) error) error {
	if err := t.readHead(); err != nil {
		return err
	}
	n := len(items) / batchSize * batchSize
	if n > 0 {
		if err := t.addBatches(from, items[:n], windows[:n], added); err != nil {
			return err
		}
	}
	if n == len(items) {
		return nil
	}
	first := t.head.ID + 1
	for i, item := range items[n:] {
		if err := t.addEntry(engine.ChargeOf(item, from), 0, windows[n+i]); err != nil {
			return err
		}
	}
	return added(first)
}

// addBatches writes the entries of items that fill batches. One goroutine hashes entries while
// another writes those before them.
func (t *transaction) addBatches(from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse, added func(first int64) error) error {
	s, err := t.db.compiled(addEntriesSQL())
	if err != nil {
		return err
	}
	made, free := make(chan []byte), make(chan []byte, 2)
	free <- nil
	free <- nil
	first, left := t.head.ID+1, len(items) // of those to write
	go func() {
		defer close(made)
		for len(items) > 0 {
			n := min(handed, len(items))
			made <- t.appendEntries((<-free)[:0], from, items[:n], windows[:n])
			items, windows = items[n:], windows[n:]
		}
	}()
	for cells := range made { // also after an error, until the other goroutine has ended
		if err == nil {
			n := min(handed, left)
			err = s.InsertRows(cells, sharedCells+batchSize*entryCells, n/batchSize)
			if err == nil {
				err = added(first)
			}
			first, left = first+int64(n), left-n
		}
		free <- cells
	}
	return err
}

// appendEntries makes items, which fill batches, the next entries of the chain and appends the columns that
// addEntriesSQL writes.
func (t *transaction) appendEntries(cells []byte, from *engine.Origin, items []ledger.Item, windows []ledger.WindowUse) []byte {
	change := engine.Change{Origin: from}
	for i, item := range items {
		change.Account, change.Spent, change.Evaluations = item.Account, item.Epsilon, item.Evaluations
		e := t.next(&change, 0, windows[i])
		if i%batchSize == 0 {
			cells = sqlite.AppendText(cells, e.Function)
			cells = sqlite.AppendText(cells, string(e.Unit))
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
const sharedCells, entryCells = 4, 6

// addEntriesSQL returns the SQL that writes a batch of entries that charge limits in one run. ?1
// is their function, ?2 their unit, ?3 their statement, ?4 their time. SQLite gives a NULL ID the
// value after the last one, which is that of the next entry, and need not search for it. The columns are
// in the order of the table, as those of addBalancesSQL. After an error nothing is kept of the whole
// transaction, so OR FAIL has SQLite keep no copies of pages to undo one run.
func addEntriesSQL() string {
	var b strings.Builder
	b.WriteString(`
INSERT OR FAIL INTO entry(id, statement, time, function, account, unit, spent, reserved, evaluations,
                  window_start, window_spent, epsilon_limit, window_seconds, hash) VALUES `)
	for k := range batchSize {
		if k > 0 {
			b.WriteString(", ")
		}
		own := sharedCells + k*entryCells
		fmt.Fprintf(&b, "(NULL, ?3, ?4, ?1, ?%d, ?2, ?%d, 0, ?%d, ?%d, ?%d, NULL, NULL, ?%d)",
			own+1, own+2, own+3, own+4, own+5, own+6)
	}
	return b.String()
}
