package file

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// archiveID is the application id of an archive: "geoA".
const archiveID = 0x67656f41

// Archive implements [ledger.Ledger]. The archive is an SQLite file with the same table entry.
func (l *Ledger) Archive(path string, before time.Time) (moved int64, err error) {
	var last ledger.Head
	err = l.read(func(db *store) error {
		if marked, err := db.sameLedger(); marked || err != nil {
			return cmp.Or(err, db.errMarked(l.path))
		}
		last, err = db.copyEntries(path, l.mode(), before.UnixMicro())
		return err
	})
	if err != nil {
		return 0, err
	}
	err = l.transact(func(t *transaction) error {
		moved, err = t.dropEntries(last)
		return err
	})
	return moved, err
}

// copyEntries copies the entries before a time that the archive does not have. It returns the
// last entry of the archive.
func (db *store) copyEntries(path string, mode fs.FileMode, before int64) (last ledger.Head, err error) {
	arch, err := openArchive(path, db.id, true)
	if err != nil {
		return ledger.Head{}, err
	}
	defer arch.close()
	if err := applyMode(path, mode); err != nil {
		return ledger.Head{}, err
	}
	err = arch.inTransaction("BEGIN IMMEDIATE", func() error {
		if last, err = arch.head(); err != nil {
			return err
		}
		if err := db.checkContinues(last); err != nil {
			return err
		}
		copying := fmt.Sprintf("%s WHERE id > %d AND id < (SELECT coalesce(min(id), 1 << 62) FROM entry WHERE time >= %d) ORDER BY id", entrySQL, last.ID, before)
		return db.query(copying, func(s *sqlite.Stmt) error {
			r := scanEntry(s)
			stored, err := scanHead(s)
			if err != nil {
				return err
			}
			if last = last.Next(&r, &arch.scratch); last != stored {
				return fmt.Errorf("entry %d was changed; nothing was archived", stored.ID)
			}
			return arch.insert(&r, &last)
		})
	})
	return last, err
}

// checkContinues checks that the ledger goes on where an archive ends.
func (db *store) checkContinues(end ledger.Head) error {
	archived, err := db.archived()
	if err != nil {
		return err
	}
	if end.ID < archived.ID {
		return fmt.Errorf("the archive ends with entry %d, but entries up to %d are in another", end.ID, archived.ID)
	}
	there, err := db.headAt(end.ID)
	if err != nil {
		return err
	}
	if there != end {
		return errors.New("the archive is not of this ledger's past")
	}
	return nil
}

// headAt returns the head as it was after the entry that has the ID.
func (db *store) headAt(id int64) (h ledger.Head, err error) {
	if h, err = db.archived(); err != nil || h.ID == id {
		return h, err
	}
	h = ledger.Head{}
	err = db.query(fmt.Sprintf("%s WHERE id = %d", entrySQL, id), func(s *sqlite.Stmt) error {
		h, err = scanHead(s)
		return err
	})
	return h, err
}

// archived returns the last entry that the ledger does not hold any more.
func (db *store) archived() (h ledger.Head, err error) {
	h = ledger.Genesis(db.id)
	err = db.query("SELECT value FROM meta WHERE key = 'archived'", func(s *sqlite.Stmt) error {
		v := s.Column(0)
		h, err = ledger.ParseHead(v.Text())
		return err
	})
	return h, err
}

// dropEntries deletes the entries up to last, and writes the entries that stand for them.
func (t *transaction) dropEntries(last ledger.Head) (dropped int64, err error) {
	archived, err := t.db.archived()
	if err != nil || last.ID <= archived.ID {
		return 0, err
	}
	there, err := t.db.headAt(last.ID)
	if err == nil && there != last {
		err = errors.New("the ledger was changed while it was archived")
	}
	if err != nil {
		return 0, err
	}
	for _, carry := range []func(int64) error{t.carryBalances, t.carryLimits, t.carryRoleBudgets, t.carryEvents} {
		if err := carry(last.ID); err != nil {
			return 0, err
		}
	}
	err = t.db.conn.Exec(fmt.Sprintf(`
		DELETE FROM entry WHERE id <= %d;
		INSERT OR REPLACE INTO meta VALUES ('archived', '%v')`, last.ID, last))
	t.written++
	return last.ID - archived.ID, err
}

// carryBalances writes, for every account, an entry with the sums of the entries up to last.
func (t *transaction) carryBalances(last int64) error {
	r := new(engine.Run)
	var carried []engine.Change
	err := t.db.query(fmt.Sprintf(`
		SELECT account, unit, sum(spent), sum(reserved), sum(evaluations), coalesce(max(iif(spent <> 0, time, NULL)), max(time))
		FROM entry WHERE id <= %d AND epsilon_limit IS NULL AND unit <> '%s' GROUP BY account, unit`, last, engine.EventUnit), func(s *sqlite.Stmt) error {
		var v [6]sqlite.Value
		s.Row(0, v[:])
		carried = append(carried, engine.Change{
			Origin:      r.Origin(v[5].Int(), engine.ArchiveFunction, budget.Unit(v[1].Text())),
			Account:     v[0].Text(),
			Spent:       budget.Amount(v[2].Int()),
			Reserved:    budget.Amount(v[3].Int()),
			Evaluations: v[4].Int(),
		})
		return nil
	})
	for i := 0; i < len(carried) && err == nil; i++ {
		e := &carried[i]
		var b ledger.Standing
		if b, err = t.Standing(engine.Key{Account: e.Account, Unit: e.Unit}); err == nil {
			err = t.addEntry(e, e.Reserved, b.Stored)
		}
	}
	return err
}

// carryRoleBudgets writes, for every role budget, an entry with the sum of the entries up to last.
func (t *transaction) carryRoleBudgets(last int64) error {
	r := new(engine.Run)
	var carried []engine.Change
	err := t.db.query(fmt.Sprintf("SELECT account, sum(spent), max(time) FROM entry WHERE id <= %d AND %s GROUP BY account", last, engine.OfRoleBudget), func(s *sqlite.Stmt) error {
		account, spent, at := s.Column(0), s.Column(1), s.Column(2)
		carried = append(carried, engine.Change{
			Origin:  r.Origin(at.Int(), engine.ArchiveFunction, engine.EventUnit),
			Account: account.Text(),
			Spent:   budget.Amount(spent.Int()),
		})
		return nil
	})
	for i := 0; i < len(carried) && err == nil; i++ {
		err = t.addEntry(&carried[i], 0, ledger.WindowUse{})
	}
	return err
}

// carryLimits writes the entries anew that set limits which still hold.
func (t *transaction) carryLimits(last int64) error {
	r := new(engine.Run)
	var carried []engine.Change
	err := t.db.query(fmt.Sprintf("SELECT account, unit, epsilon, window_seconds, changed FROM budget WHERE entry <= %d", last), func(s *sqlite.Stmt) error {
		var v [5]sqlite.Value
		s.Row(0, v[:])
		carried = append(carried, engine.Change{
			Origin:  r.Origin(v[4].Int(), engine.LimitFunction, budget.Unit(v[1].Text())),
			Account: v[0].Text(),
			Limit:   &engine.Limit{Epsilon: budget.Amount(v[2].Int()), Seconds: intOr0(&v[3])},
		})
		return nil
	})
	for i := 0; i < len(carried) && err == nil; i++ {
		err = t.SetLimit(&carried[i])
	}
	return err
}

// carryEvents writes the entries that record events anew: unknown charges of a restored ledger
// stay unknown.
func (t *transaction) carryEvents(last int64) error {
	carried, err := t.db.events(last)
	r := new(engine.Run)
	for i := 0; i < len(carried) && err == nil; i++ {
		err = t.addEvent(r, carried[i])
	}
	return err
}

// events returns the events that the entries up to last record.
func (db *store) events(last int64) (events []event, err error) {
	err = db.query(fmt.Sprintf("SELECT function, time FROM entry WHERE id <= %d AND %s ORDER BY id", last, engine.OfEvent), func(s *sqlite.Stmt) error {
		function, at := s.Column(0), s.Column(1)
		events = append(events, event{function.Text(), at.Int()})
		return nil
	})
	return events, err
}

// openArchive opens the archive of the ledger that has the ID. The store has the common part of an archive and a
// ledger: table entry and the ID.
func openArchive(path, id string, create bool) (*store, error) {
	db, err := connect(path, create)
	if err != nil {
		return nil, fmt.Errorf("archive %q: %w", path, err)
	}
	db.id = id
	if err := db.setUpArchive(create); err != nil {
		db.close()
		return nil, fmt.Errorf("archive %q: %w", path, err)
	}
	return db, nil
}

// setUpArchive checks that the file is the archive of this ledger and makes its writes durable.
// With create it makes an archive of an empty file.
func (db *store) setUpArchive(create bool) error {
	// With FULL a crash could undo the end of a transaction, the removal of its journal.
	if err := db.conn.Exec("PRAGMA synchronous = EXTRA"); err != nil {
		return err
	}
	begin := "BEGIN"
	if create {
		begin = "BEGIN IMMEDIATE"
	}
	err := db.inTransaction(begin, func() error { return db.checkOrCreateArchive(create) })
	if err != nil {
		return err
	}
	if db.last, _, err = db.conn.Prepare(lastSQL); err != nil {
		return err
	}
	db.addEntry, _, err = db.conn.Prepare(addEntrySQL)
	return err
}

// checkOrCreateArchive checks that the file is the archive of this ledger. With create it makes
// an archive of an empty file.
func (db *store) checkOrCreateArchive(create bool) error {
	application, err := db.readInt("PRAGMA application_id")
	if err != nil {
		return err
	}
	tables, err := db.readInt("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case create && application == 0 && tables == 0:
		return db.conn.Exec(fmt.Sprintf(`%s;
			CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID, STRICT;
			INSERT INTO meta VALUES ('id', '%s');
			PRAGMA application_id = %d`, entrySchema, db.id, archiveID))
	case application != archiveID:
		return errors.New("the file is not an archive of a ledger")
	}
	id, err := db.readText(identitySQL)
	if err == nil && id != db.id {
		err = fmt.Errorf("the archive is that of ledger %s, not of %s", id, db.id)
	}
	return err
}
