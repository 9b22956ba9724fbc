package file

import (
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// A watcher reads the stored data of this and other processes. It has a connection of its own, so that
// nobody has to wait for a transaction. It is used under its lock.
type watcher struct {
	sync.Mutex
	db       *store // nil until it is needed
	lastSeen int64  // the last entry when it last looked for limits
	closed   bool   // with the ledger, which nobody may open again
}

// watch lets work read the stored data now, without waiting for a transaction. The ledger has a file.
func (l *Ledger) watch(work func(*watcher) error) error {
	l.watcher.Lock()
	defer l.watcher.Unlock()
	if l.watcher.closed {
		return engine.ErrClosed
	}
	if err := l.place.check(); err != nil {
		return err
	}
	if err := l.watcher.open(l.path, l.id); err != nil {
		return err
	}
	if _, err := l.watcher.db.sameLedger(); err != nil {
		return err
	}
	return work(&l.watcher)
}

// open opens the connection to the ledger that has the ID.
func (w *watcher) open(path, id string) error {
	if w.db != nil {
		return nil
	}
	db, err := connect(path, false)
	if err != nil {
		return err
	}
	db.id = id
	err = db.conn.Exec("PRAGMA fullfsync = ON") // for the log that it moves
	if err == nil {
		err = db.prepare()
	}
	if err != nil {
		db.close()
		return err
	}
	w.db = db
	return nil
}

func (w *watcher) close() error {
	w.Lock()
	defer w.Unlock()
	w.closed = true
	if w.db == nil {
		return nil
	}
	return w.db.close()
}

// limitsSince returns the accounts and units with limits set after the entry that has the ID, and the ID of the
// last entry.
func (db *store) limitsSince(id int64) (set []engine.Key, last int64, err error) {
	head, err := db.head()
	if err != nil || head.ID == id {
		return nil, head.ID, err
	}
	s := db.getLimits
	defer s.Reset()
	s.BindInts(1, id, head.ID)
	for {
		row, err := s.Step()
		if err != nil || !row {
			return set, head.ID, err
		}
		account, unit := s.Column(0), s.Column(1)
		set = append(set, engine.Key{Account: account.Text(), Unit: budget.Unit(unit.Text())})
	}
}

const getLimitsSQL = `SELECT account, unit FROM entry WHERE id > ?1 AND id <= ?2 AND epsilon_limit IS NOT NULL`
