package file

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/turns"
	"github.com/geosql/geosql/ledger"
)

var errClosed = errors.New("ledger: closed")

var _ ledger.Ledger = (*Ledger)(nil)

// Ledger is the process's one object for a ledger. It is safe for concurrent
// use. Every [Open] and [OpenMemory] needs one [Ledger.Close].
type Ledger struct {
	path  string // real path; "" in memory
	place place  // empty in memory
	id    string
	refs  int // guarded by registry

	clock func() int64 // microseconds since 1970

	// writer is held during a transaction.
	writer sync.Mutex
	db     *store       // nil once closed
	turns  *turns.Queue // among processes

	lookout  lookout
	revision atomic.Int64 // changes when limits are found to be set

	// mu guards what waits in memory. It is never held while the disk is waited
	// for; it is taken after writer.
	mu      sync.Mutex
	waiting *group // that callers join; nil where nobody waits
	notes   []*change
	spare   []change // allocated together, for notes
	pools   map[budget.Unit]map[string]*pool
}

// ID is the random 128-bit name, in hexadecimal, that the ledger was given when
// it was created.
func (l *Ledger) ID() string { return l.id }

// Path is the real path of the ledger's file, "" for a ledger in memory.
func (l *Ledger) Path() string { return l.path }

// addReference keeps the ledger open for one more Close.
func (l *Ledger) addReference() error {
	registry.Lock()
	defer registry.Unlock()
	if l.refs == 0 {
		return errClosed
	}
	l.refs++
	return nil
}

// Close drops one reference. The last one, counting statements that have not
// ended, returns what is left of [Ledger.Reserve] and closes the file, which
// moves the write-ahead log into it. The ledger is closed also when that fails;
// what could not be returned stays reserved.
func (l *Ledger) Close() error {
	registry.Lock()
	defer registry.Unlock()
	if l.refs == 0 {
		return errClosed
	}
	l.refs--
	if l.refs > 0 {
		return nil
	}
	key := l.key()
	delete(registry.ledgers, key)
	registry.busy[key] = make(chan struct{})
	defer giveUp(key)
	registry.Unlock()
	defer registry.Lock()
	return l.shutdown()
}

func (l *Ledger) shutdown() error {
	l.mu.Lock()
	l.dissolvePools()
	l.mu.Unlock()
	err := l.flush()
	l.writer.Lock()
	defer l.writer.Unlock()
	for _, close := range []func() error{l.lookout.close, l.db.close} {
		if closing := close(); err == nil {
			err = wrap(closing)
		}
	}
	l.db = nil
	l.turns.Close()
	l.turns = nil
	return err
}

// read reads everything that has been charged so far.
func (l *Ledger) read(work func(*store) error) error {
	if err := l.flush(); err != nil {
		return err
	}
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.db == nil {
		return errClosed
	}
	return wrap(work(l.db))
}
