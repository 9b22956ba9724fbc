package file

import (
	"cmp"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// transaction holds the write lock of the ledger.
type transaction struct {
	reader
	head      ledger.Head
	headKnown bool // whether head was read

	written  int           // changes
	posted   int           // of them, changes of balances
	numbered []*engine.Run // that got their number here
	undos    []func()      // called if it ends without a commit
}

// transact runs work in a transaction of its own.
func (l *Ledger) transact(work func(*transaction) error) error {
	return engine.Wrap(l.commit(func(t *transaction, err error) error {
		switch {
		case err != nil:
			return err
		case t.marked:
			return t.errMarked()
		}
		return work(t)
	}))
}

// commit runs work in a transaction of its own, or tells it why none has begun, and commits. It
// rolls back if work panics.
func (l *Ledger) commit(work func(*transaction, error) error) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	place := l.turns.Enter(busyTimeout * time.Millisecond)
	defer l.turns.Leave(place)
	t, err := l.begin()
	if err != nil {
		return work(nil, err)
	}
	if err = t.run(work); err == nil && t.big() {
		go l.moveLog()
	}
	return err
}

// begin begins a transaction. It is called under writer.
func (l *Ledger) begin() (*transaction, error) {
	if l.db == nil {
		return nil, engine.ErrClosed
	}
	if err := l.db.begin.Run(); err != nil {
		return nil, err
	}
	t := &transaction{reader: *l.newReader(l.db)}
	if err := t.checkPlace(); err != nil {
		t.rollBack()
		return nil, err
	}
	return t, nil
}

// run runs work and commits.
func (t *transaction) run(work func(*transaction, error) error) error {
	done := false
	defer func() {
		if !done { // also if work panics
			t.rollBack()
		}
	}()
	if err := work(t, nil); err != nil {
		return err
	}
	err := t.commitOrRollBack()
	done = err == nil
	return err
}

// commitOrRollBack commits, if anything was written.
func (t *transaction) commitOrRollBack() error {
	if t.written == 0 {
		return t.db.rollback.Run()
	}
	if err := t.noteProgram(); err != nil {
		return err
	}
	if t.big() {
		return t.db.commitBig()
	}
	return t.db.commit.Run()
}

// noteProgram notes that this program writes to the ledger, if it has not done so for a while.
func (t *transaction) noteProgram() error {
	if before := t.db.noted; before == 0 || t.now-before >= engine.ProgramPause {
		t.db.noted = t.now
		t.Undo(func() { t.db.noted = before })
		return t.db.put("INSERT INTO meta VALUES (?1, ?2 || ' ' || ?2) ON CONFLICT DO UPDATE SET value = substr(value, 1, instr(value, ' ')) || ?2",
			engine.ThisProgram(), t.now)
	}
	return nil
}

// big reports whether a transaction has changed so many balances that the log is moved into the file by
// another connection, while the next transaction runs: a release charges its accounts in one such transaction
// after the other. Any smaller one moves the log itself, so that it stays short while several processes write.
func (t *transaction) big() bool { return t.posted >= 1<<16 }

// commitBig commits, and leaves the log as it is unless it has become very long: 32,768 pages,
// where SQLite moves it from 1,000 on.
func (db *store) commitBig() error {
	if err := db.conn.Exec("PRAGMA wal_autocheckpoint = 32768"); err != nil {
		return err
	}
	err := db.commit.Run()
	return cmp.Or(err, db.conn.Exec("PRAGMA wal_autocheckpoint = 1000"))
}

// moveLog moves the log into the file, as far as nobody reads older states. Should it fail, a
// later commit does it.
func (l *Ledger) moveLog() {
	if l.path == "" {
		return
	}
	_ = l.watch(func(w *watcher) error { return w.db.conn.Exec("PRAGMA wal_checkpoint") })
}

// rollBack undoes the transaction, in memory and on disk.
func (t *transaction) rollBack() {
	for _, r := range t.numbered {
		r.Number = 0
	}
	for _, undo := range t.undos {
		undo()
	}
	if !t.db.conn.AutoCommit() { // some errors have rolled back already
		// Should this fail, no later transaction begins, and nothing is granted.
		_ = t.db.rollback.Run()
	}
}

// Written implements [engine.Transaction].
func (t *transaction) Written() int { return t.written }

// Undo implements [engine.Transaction].
func (t *transaction) Undo(undo func()) { t.undos = append(t.undos, undo) }

// SetLimit implements [engine.Transaction].
func (t *transaction) SetLimit(c *engine.Change) error {
	if err := t.addEntry(c, 0, ledger.WindowUse{}); err != nil {
		return err
	}
	s := t.db.putLimit
	s.BindText(1, c.Account)
	s.BindText(2, string(c.Unit))
	s.BindInts(3, int64(c.Limit.Epsilon), c.Limit.Seconds, c.Time, t.head.ID)
	return s.Run()
}

// addEntry writes a change as the next entry of the chain.
func (t *transaction) addEntry(c *engine.Change, reserved budget.Amount, w ledger.WindowUse) error {
	if err := t.readHead(); err != nil {
		return err
	}
	e := t.next(c, reserved, w)
	return t.db.insert(&e, &t.head)
}

// next makes a change the next entry of the chain. The head is known. The caller has to write the
// entry as it is returned.
func (t *transaction) next(c *engine.Change, reserved budget.Amount, w ledger.WindowUse) ledger.Entry {
	if c.Run.Number == 0 {
		c.Run.Number = t.head.ID + 1
		t.numbered = append(t.numbered, c.Run)
	}
	e := c.Entry(reserved, w)
	t.head = t.head.Next(&e, &t.db.scratch)
	t.written++
	return e
}

// readHead reads the ledger's last entry, unless the transaction knows it.
func (t *transaction) readHead() (err error) {
	if !t.headKnown {
		t.head, err = t.db.head()
		t.headKnown = err == nil
	}
	return err
}

// exec runs an SQL statement that writes.
func (t *transaction) exec(sql string, params ...any) error {
	t.written++
	return t.db.put(sql, params...)
}

// put runs an SQL statement that writes, and keeps it compiled. Its parameters are texts, integers and blobs.
func (db *store) put(sql string, params ...any) error {
	s, err := db.compiled(sql)
	if err != nil {
		return err
	}
	cells := db.cells[:0]
	for _, p := range params {
		switch p := p.(type) {
		case string:
			cells = sqlite.AppendText(cells, p)
		case int64:
			cells = sqlite.AppendInt(cells, p)
		case []byte:
			cells = sqlite.AppendBlob(cells, p)
		}
	}
	db.cells = cells
	return s.InsertRows(cells, len(params), 1)
}
