package file

import (
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// A watcher reads the stored data of this and other processes. It has a connection of its own, so that
// nobody has to wait for a transaction. It is used under its lock.
type watcher struct {
	sync.Mutex
	db       *store // nil until it is needed
	lastSeen int64  // the last entry when it last looked for limits
	checked  bool   // whether the file had the ledger
	version  int64  // of the file then
	lastFact int64  // -1 if the facts were not read since
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
	if err := l.watcher.check(); err != nil {
		return err
	}
	return work(&l.watcher)
}

// check checks that the file still has the ledger, if it has changed. SQLite counts the commits of others, so also of a backup into
// the file; the watcher itself changes nothing.
func (w *watcher) check() error {
	version, err := w.db.dataVersion()
	if err != nil || w.checked && version == w.version {
		return err
	}
	if _, err := w.db.sameLedger(); err != nil {
		return err
	}
	w.checked, w.version, w.lastFact = true, version, -1
	return nil
}

// facts returns the facts with a higher ID than after. There are none if another caller has read the last, and nothing has changed since.
func (w *watcher) facts(after int64) ([]ledger.Fact, error) {
	if w.lastFact >= 0 && after >= w.lastFact {
		return nil, nil
	}
	facts, err := w.db.facts(after)
	if err != nil {
		return nil, err
	}
	w.lastFact = after
	if n := len(facts); n > 0 {
		w.lastFact = facts[n-1].ID
	}
	return facts, nil
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
