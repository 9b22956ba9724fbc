package sealing

import (
	"context"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// A Sealed describes a new sealed database.
type Sealed struct {
	ID       sealed.DatabaseID
	Facts    []ledger.Fact // that its ledger has to record before any value opens
	Rows     int64
	Values   int64 // sealed; without NULLs
	Accounts int
	Indexes  []string // of the tables that were read; none is copied
}

// collectorName is the name under which the signer of the values is enrolled.
const collectorName = "seal"

// Seal writes the contents to the main database of a connection, which has nothing yet, sealed for
// a key. The database is charged to the ledger with an id. The file is not durable before the
// caller has made it so. Progress, which may be nil, is called with the number of rows written.
func (c *Contents) Seal(ctx context.Context, conn *sqlite.Conn, key sealed.PublicKey, ledgerID string, progress func(rows int64)) (*Sealed, error) {
	// Nobody sees the file before it is complete, so it needs no journal.
	err := conn.Exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
		PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; BEGIN IMMEDIATE`)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, contents: c, progress: progress, done: Sealed{Accounts: len(c.names)}}
	if err := w.begin(key, ledgerID); err != nil {
		return nil, err
	}
	for _, t := range c.tables {
		if err := w.writeTable(ctx, t); err != nil {
			return nil, fmt.Errorf("table %s: %w", show(t.name), err)
		}
		w.done.Indexes = append(w.done.Indexes, t.left...)
	}
	if err := w.writeAccounts(ctx); err != nil {
		return nil, err
	}
	return &w.done, conn.Exec("COMMIT")
}

// A writer writes a sealed database.
type writer struct {
	conn     *sqlite.Conn
	contents *Contents
	sealer   *sealed.Sealer
	value    sealed.Value
	accounts []sealed.Account // of contents.names
	progress func(rows int64)
	done     Sealed
}

// begin writes all but rows and accounts.
func (w *writer) begin(key sealed.PublicKey, ledgerID string) error {
	conn := w.conn
	if err := catalog.Create(conn); err != nil {
		return err
	}
	if err := catalog.AddKey(conn, key); err != nil {
		return err
	}
	if err := conn.Exec(declaration.Schema); err != nil {
		return err
	}
	for _, d := range w.contents.declarations {
		if err := w.insert(d.table, d.columns, func(s *sqlite.Stmt) error { return s.InsertRows(d.cells, d.columns, d.rows) }); err != nil {
			return err
		}
	}
	err := w.insert("geosql_ledger", 1, func(s *sqlite.Stmt) error { return s.InsertRows(sqlite.AppendText(nil, ledgerID), 1, 1) })
	if err != nil {
		return err
	}
	for _, t := range w.contents.tables {
		if err := conn.Exec(t.schema()); err != nil {
			return err
		}
		for _, c := range t.columns {
			if c.role != secret {
				continue
			}
			w.done.Facts = append(w.done.Facts, c.sealed.Fact())
			if err := catalog.AddColumn(conn, c.sealed.Column); err != nil {
				return err
			}
		}
	}
	id, err := catalog.Identify(conn) // of all that is there now
	if err != nil {
		return err
	}
	signer, err := sealed.GenerateKey() // forgotten at the end: nobody can go on with the session
	if err != nil {
		return err
	}
	if w.sealer, err = catalog.NewSession(conn, id, key, signer); err != nil {
		return err
	}
	w.done.ID = id
	w.done.Facts = append(w.done.Facts, catalog.Database(id), catalog.Collector{Name: collectorName, Verify: signer.Public().Verifier()}.Fact())
	w.accounts = newAccounts(len(w.contents.names))
	return nil
}

// newAccounts draws accounts with different numbers and pseudonyms.
func newAccounts(n int) []sealed.Account {
	numbers, pseudonyms := make(map[uint64]bool, n), make(map[string]bool, n)
	accounts := make([]sealed.Account, 0, n)
	for len(accounts) < n {
		if a := sealed.NewAccount(); !numbers[a.Number] && !pseudonyms[a.Pseudonym] {
			numbers[a.Number], pseudonyms[a.Pseudonym] = true, true
			accounts = append(accounts, a)
		}
	}
	return accounts
}

// schema returns the statement that creates the sealed table: names, and affinities for types.
func (t *table) schema() string {
	var columns []string
	for _, c := range t.columns {
		declared := c.affinity
		switch c.role {
		case account:
			declared = "TEXT"
		case secret:
			declared = "BLOB"
		}
		columns = append(columns, sqlite.QuoteName(c.name)+" "+declared)
	}
	return "CREATE TABLE main." + sqlite.QuoteName(t.name) + "(" + strings.Join(columns, ", ") + ")"
}

// insert calls use with a statement that inserts a row into a table.
func (w *writer) insert(table string, columns int, use func(*sqlite.Stmt) error) error {
	s, _, err := w.conn.Prepare("INSERT INTO main." + sqlite.QuoteName(table) + " VALUES (?" + strings.Repeat(", ?", columns-1) + ")")
	if err != nil {
		return err
	}
	defer s.Close()
	return use(s)
}

// batchRows is the number of rows that are sealed, and then inserted, at a time.
const batchRows = 256

// writeTable seals the rows of a table in their order, and inserts them while it seals the next.
// Indexes are made at the end.
func (w *writer) writeTable(ctx context.Context, t *contents) error {
	err := w.insert(t.name, len(t.columns), func(s *sqlite.Stmt) error {
		return w.pipe(ctx, s, len(t.columns), len(t.rows.refs), func(cells []byte, i int) ([]byte, error) { return w.seal(cells, t, i) })
	})
	if err != nil {
		return err
	}
	return w.conn.Exec(strings.Join(t.indexes, ";"))
}

// pipe inserts n rows. Their cells are appended by seal.
func (w *writer) pipe(ctx context.Context, s *sqlite.Stmt, columns, n int, seal func(cells []byte, i int) ([]byte, error)) error {
	type batch struct {
		cells []byte
		rows  int
		err   error
	}
	full, free := make(chan batch, 2), make(chan []byte, 4)
	for range 3 {
		free <- nil
	}
	quit := make(chan struct{})
	defer func() {
		close(quit)
		for range full { // until the other side has ended
		}
	}()
	go func() {
		defer close(full)
		for i := 0; i < n; {
			var b batch
			select {
			case <-quit:
				return
			case b.cells = <-free:
			}
			for ; b.rows < batchRows && i < n && b.err == nil; i++ {
				b.cells, b.err = seal(b.cells, i)
				b.rows++
			}
			full <- b
			if b.err != nil {
				return
			}
		}
	}()
	for b := range full {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case b.err != nil:
			return b.err
		}
		if err := s.InsertRows(b.cells, columns, b.rows); err != nil {
			return err
		}
		free <- b.cells[:0]
		if w.done.Rows += int64(b.rows); w.progress != nil {
			w.progress(w.done.Rows)
		}
	}
	return nil
}

// seal appends the cells of row i of a table.
func (w *writer) seal(cells []byte, t *contents, i int) ([]byte, error) {
	payer, rest := nextAccount(t.rows.at(i))
	for k := range t.columns {
		switch c := &t.columns[k]; c.role {
		case account:
			if payer == noAccount {
				cells = sqlite.AppendNull(cells)
			} else {
				cells = sqlite.AppendText(cells, w.accounts[payer].Pseudonym)
			}
		case public:
			var cell []byte
			cell, rest = nextPublic(rest)
			cells = append(cells, cell...)
		case secret:
			var d sealed.Data
			var present bool
			if d, present, rest = nextSecret(rest); !present {
				cells = sqlite.AppendNull(cells)
				continue
			}
			if err := w.sealer.Seal(&w.value, c.sealed.Number, sealed.Contents{Account: w.accounts[payer].Number, Data: d}); err != nil {
				return cells, err
			}
			w.done.Values++
			cells = sqlite.AppendBlob(cells, w.value[:])
		}
	}
	return cells, nil
}

// writeAccounts tells the owner the names of the accounts, in random order.
func (w *writer) writeAccounts(ctx context.Context) error {
	order := make([]int, len(w.accounts))
	for i := range order {
		order[i] = i
	}
	sealed.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	rows := w.done.Rows // accounts are none
	defer func() { w.done.Rows = rows }()
	return w.insert("geosql_sealed_account", 2, func(s *sqlite.Stmt) error {
		return w.pipe(ctx, s, 2, len(order), func(cells []byte, i int) ([]byte, error) {
			a := w.accounts[order[i]]
			entry, err := w.sealer.SealAccount(a.Number, w.contents.names[order[i]])
			return sqlite.AppendBlob(sqlite.AppendText(cells, a.Pseudonym), entry), err
		})
	})
}
