package file

import (
	"sync"

	"github.com/geosql/geosql/internal/turns"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

var _ ledger.Ledger = (*Ledger)(nil)

// Ledger implements [ledger.Ledger]. A process has one Ledger for each file.
// Every [Open] and [OpenMemory] needs one [Ledger.Close].
type Ledger struct {
	*engine.Core

	path  string // real path; "" in memory
	place place  // empty in memory
	id    string
	refs  int // guarded by registry

	clock func() int64 // microseconds since 1970

	jobs    engine.Queue
	watcher watcher

	// writer is held during a transaction.
	writer sync.Mutex
	db     *store       // nil once closed
	turns  *turns.Queue // among processes
}

// ID implements [ledger.Ledger].
func (l *Ledger) ID() string { return l.id }

// Path implements [ledger.Ledger]. It returns "" for a ledger in memory.
func (l *Ledger) Path() string { return l.path }

// addReference keeps the ledger open for one more Close.
func (l *Ledger) addReference() error {
	registry.Lock()
	defer registry.Unlock()
	if l.refs == 0 {
		return engine.ErrClosed
	}
	l.refs++
	return nil
}

// Close implements [ledger.Ledger]. The last Close moves the write-ahead log into the file.
func (l *Ledger) Close() error {
	registry.Lock()
	defer registry.Unlock()
	if l.refs == 0 {
		return engine.ErrClosed
	}
	l.refs--
	if l.refs > 0 {
		return nil
	}
	key := l.key()
	delete(registry.ledgers, key)
	registry.busy[key] = make(chan struct{})
	defer unclaim(key)
	registry.Unlock()
	defer registry.Lock()
	return l.shutdown()
}

// shutdown returns the rest of the pools and closes the file.
func (l *Ledger) shutdown() error {
	err := l.ReturnPools()
	l.writer.Lock()
	defer l.writer.Unlock()
	for _, close := range []func() error{l.watcher.close, l.db.close} {
		if closing := close(); err == nil {
			err = engine.Wrap(closing)
		}
	}
	l.db = nil
	l.turns.Close()
	l.turns = nil
	return err
}

// read lets work read everything that has been charged so far.
func (l *Ledger) read(work func(*store) error) error {
	if err := l.Flush(); err != nil {
		return err
	}
	return l.readStored(work)
}

// readStored lets work read data that does not depend on charges.
func (l *Ledger) readStored(work func(*store) error) error { return engine.Wrap(l.withStore(work)) }

// withStore lets work use the connection when nobody else does.
func (l *Ledger) withStore(work func(*store) error) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.db == nil {
		return engine.ErrClosed
	}
	return work(l.db)
}
