package file

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// batchSize is how many entries one run of an SQL statement writes, and handed how many one
// goroutine makes before it hands them to the one that writes them.
const (
	batchSize = 16
	handed    = 32 * batchSize
)

// Post implements [engine.Transaction].
func (t *transaction) Post(from *engine.Origin, postings []engine.Posting) error {
	t.posted += len(postings)
	return t.addEntries(from, postings, true)
}

// A parcel has rows that are handed over, as sqlite.InsertRows takes them.
type parcel struct{ entries, balances []byte }

// balanceCells is how many parameters putBalancesSQL has for a balance.
const balanceCells = 7

// appendBalance appends the parameters of putBalancesSQL for a balance.
func appendBalance(cells []byte, from *engine.Origin, p *engine.Posting) []byte {
	cells = sqlite.AppendText(cells, p.Account)
	cells = sqlite.AppendText(cells, string(from.Unit))
	cells = sqlite.AppendInt(cells, int64(p.After.Spent))
	cells = sqlite.AppendInt(cells, int64(p.After.Reserved))
	cells = appendWindow(cells, p.After.Window)
	return sqlite.AppendInt(cells, p.After.LastCharge)
}

// appendWindow appends the start and the amount of a window. Its start is NULL where there is none.
func appendWindow(cells []byte, w ledger.WindowUse) []byte {
	if w.Start == 0 {
		cells = sqlite.AppendNull(cells)
	} else {
		cells = sqlite.AppendInt(cells, w.Start)
	}
	return sqlite.AppendInt(cells, int64(w.Spent))
}

// addEntries writes the entries of postings, and the balances, unless they have none, while the processor's cache has their pages. One
// goroutine hashes entries that fill batches while another writes those before them.
func (t *transaction) addEntries(from *engine.Origin, postings []engine.Posting, balances bool) error {
	if err := t.readHead(); err != nil {
		return err
	}
	n := len(postings) / batchSize * batchSize
	if n > 0 {
		if err := t.addBatches(from, postings[:n], balances); err != nil {
			return err
		}
	}
	for i := n; i < len(postings); i++ {
		p := &postings[i]
		c := engine.Change{Origin: from, Account: p.Account, Spent: p.Spent, Evaluations: p.Evaluations}
		if err := t.addEntry(&c, p.Reserved, p.After.Window); err != nil {
			return err
		}
		if !balances {
			continue
		}
		t.db.cells = appendBalance(t.db.cells[:0], from, p)
		if err := t.db.putBalance.InsertRows(t.db.cells, balanceCells, 1); err != nil {
			return err
		}
	}
	return nil
}

// addBatches is addEntries for postings that fill batches.
func (t *transaction) addBatches(from *engine.Origin, postings []engine.Posting, balances bool) error {
	entry, err := t.db.compiled(addEntriesSQL())
	if err != nil {
		return err
	}
	balance, err := t.db.compiled(putBalancesSQL(batchSize))
	if err != nil {
		return err
	}
	made, free := make(chan parcel), make(chan parcel, len(t.db.parcels))
	for _, p := range t.db.parcels {
		free <- p
	}
	go func() {
		defer close(made)
		for i := 0; i < len(postings); i += handed {
			p, end := <-free, min(i+handed, len(postings))
			p.entries, p.balances = t.appendEntries(p.entries[:0], from, postings[i:end]), p.balances[:0]
			for k := i; k < end && balances; k++ {
				p.balances = appendBalance(p.balances, from, &postings[k])
			}
			made <- p
		}
	}()
	left := len(postings)
	for p := range made { // also after an error, until the other goroutine has ended
		n := min(handed, left)
		if err == nil {
			err = entry.InsertRows(p.entries, sharedCells+batchSize*entryCells, n/batchSize)
		}
		if err == nil && balances {
			err = balance.InsertRows(p.balances, batchSize*balanceCells, n/batchSize)
		}
		left -= n
		free <- p
	}
	for i := range t.db.parcels {
		t.db.parcels[i] = <-free
	}
	return err
}

// appendEntries makes postings, which fill batches, the next entries of the chain and appends the parameters of
// addEntriesSQL.
func (t *transaction) appendEntries(cells []byte, from *engine.Origin, postings []engine.Posting) []byte {
	change := engine.Change{Origin: from}
	for i := range postings {
		p := &postings[i]
		change.Account, change.Spent, change.Evaluations = p.Account, p.Spent, p.Evaluations
		e := t.next(&change, p.Reserved, p.After.Window)
		if i%batchSize == 0 {
			cells = sqlite.AppendText(cells, e.Function)
			cells = sqlite.AppendText(cells, string(e.Unit))
			cells = sqlite.AppendInt(cells, e.Statement)
			cells = sqlite.AppendInt(cells, e.Time)
		}
		cells = sqlite.AppendText(cells, e.Account)
		cells = sqlite.AppendInt(cells, int64(e.Spent))
		cells = sqlite.AppendInt(cells, int64(e.Reserved))
		cells = sqlite.AppendInt(cells, e.Evaluations)
		cells = appendWindow(cells, e.Window)
		cells = sqlite.AppendBlob(cells, t.head.Hash[:])
	}
	return cells
}

// sharedCells is how many parameters of addEntriesSQL all entries share, and entryCells how many
// each has of its own.
const sharedCells, entryCells = 4, 7

// addEntriesSQL returns the SQL that writes a batch of entries in one run. ?1
// is their function, ?2 their unit, ?3 their statement, ?4 their time. SQLite gives a NULL ID the
// value after the last one, which is that of the next entry, and need not search for it. The columns are
// in the order of the table, so that SQLite need not move their values. After an error nothing is kept of the whole
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
		fmt.Fprintf(&b, "(NULL, ?3, ?4, ?1, ?%d, ?2, ?%d, ?%d, ?%d, ?%d, ?%d, NULL, NULL, ?%d)",
			own+1, own+2, own+3, own+4, own+5, own+6, own+7)
	}
	return b.String()
}

// putBalancesSQL returns the SQL that writes n balances in one run, with the columns in the order of the table.
func putBalancesSQL(n int) string {
	rows := strings.Repeat(", (?, ?, ?, ?, ?, ?, ?)", n)
	return `
INSERT OR FAIL INTO balance(account, unit, spent, reserved, window_start, window_spent, last_charge) VALUES ` + rows[len(", "):] + `
ON CONFLICT DO UPDATE SET spent = excluded.spent, reserved = excluded.reserved, window_start = excluded.window_start,
  window_spent = excluded.window_spent, last_charge = excluded.last_charge`
}
