package file

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Copies.
//
// A copy of a ledger does not know later charges to the ledger. Charges to
// accounts in the copy grant that part of their budgets a second time. So a copy that Copy
// makes is marked, in table meta and by its application id, and every transaction on it fails
// until its owner adopts it. The mark is looked for in each transaction, and not only when the
// file is opened: it may come with a copy that is written over a ledger in use. A marked copy
// can be read.
//
// An adopted copy has the ledger's id, for the databases that hold that id, and two entries that
// say since when it may know too little. Files that are copied by other means have no mark and
// cannot be told from the ledger itself: only a head that was noted elsewhere shows that.

// Functions of the entries that record the events of a copy.
const (
	copyFunction  = "ledger_backup"
	adoptFunction = "ledger_restore"
)

// event is an event of the ledger itself, and its time, in microseconds since 1970.
type event struct {
	function string
	time     int64
}

// addEvent writes the entry of an event. It has an evaluation, so that it is among the charges,
// and changes no balance.
func (t *transaction) addEvent(r *engine.Run, e event) error {
	return t.addEntry(&engine.Change{
		Origin:      r.Origin(e.time, e.function, engine.EventUnit),
		Account:     ledger.Everyone,
		Evaluations: 1,
	}, 0, ledger.WindowUse{})
}

// Origin describes the ledger that a copy was made of.
type Origin struct {
	Time time.Time // a moment before the copied state
	Path string    // where the ledger was
}

// Origin returns the origin of a ledger that is marked as a copy, and nil for any other.
func (l *Ledger) Origin() (o *Origin, err error) {
	err = l.read(func(db *store) error {
		o, err = db.origin()
		return err
	})
	return o, err
}

// origin reads the mark.
func (db *store) origin() (o *Origin, err error) {
	const sql = `SELECT c.value, f.value FROM meta AS c JOIN meta AS f ON f.key = 'copied_from' WHERE c.key = 'copied'`
	err = db.query(sql, func(s *sqlite.Stmt) error {
		at, from := s.Column(0), s.Column(1)
		o = &Origin{time.UnixMicro(at.Int()).UTC(), from.Text()}
		return nil
	})
	return o, err
}

// errMarked returns the error of a transaction on a copy that nobody has adopted, or on a ledger that
// has moved.
func (r *reader) errMarked() error { return r.db.errMarked(r.ledger.path) }

func (db *store) errMarked(path string) error {
	if to, _, err := db.retired(); err == nil && to != "" {
		return errRetired(path, to)
	}
	when := ""
	if o, err := db.origin(); err == nil && o != nil {
		when = " of " + o.Time.Format(time.RFC3339)
	}
	path = printable.Text(path)
	return fmt.Errorf("%s is a backup%s, which lacks all later charges: run 'geosql restore %s' before you use it", path, when, path)
}

// Copy copies the ledger to a new file, marked as a copy, which only its owner can read. It calls
// each with the share that is done, and ends with the error that each returns. Others can go on
// charging: the copy has every charge that was granted before the call, and reservations
// in it stay. After an error, files that begin with path may be left.
func (l *Ledger) Copy(path string, each func(share float64) error) error {
	if l.path == "" {
		return errors.New("ledger: a ledger in memory cannot be copied")
	}
	if err := l.addReference(); err != nil {
		return err
	}
	return cmp.Or(engine.Wrap(l.copyTo(path, each)), l.Close())
}

func (l *Ledger) copyTo(path string, each func(share float64) error) error {
	now := l.clock() // before anything is read: missing charges are later than this
	from, err := connect(l.path, false)
	if err != nil {
		return err
	}
	defer from.close()
	from.id = l.id
	if err := from.prepare(); err != nil {
		return err
	}
	to, err := createCopy(path)
	if err != nil {
		return err
	}
	defer to.close()
	err = from.inTransaction("BEGIN", func() error {
		if _, err := from.sameLedger(); err != nil { // the first to read, which fixes the state to copy
			return err
		}
		if err := l.place.check(); err != nil {
			return err
		}
		return to.conn.CopyFrom(from.conn, each)
	})
	if err != nil {
		return err
	}
	return to.mark(Origin{time.UnixMicro(now), l.path})
}

// createCopy creates the file of a copy.
func createCopy(path string) (*store, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateMode)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	db, err := connect(path, false)
	if err != nil {
		return nil, err
	}
	if err := db.conn.Exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON"); err != nil {
		db.close()
		return nil, err
	}
	return db, nil
}

// mark marks the file as a copy, all in one file. A copy of a copy keeps its mark, which has the
// earlier time.
func (db *store) mark(o Origin) error {
	if err := db.conn.Exec("PRAGMA journal_mode = DELETE"); err != nil {
		return err
	}
	return db.inTransaction("BEGIN IMMEDIATE", func() error {
		s, _, err := db.conn.Prepare("INSERT OR IGNORE INTO meta VALUES ('copied', ?1), ('copied_from', ?2)")
		if err != nil {
			return err
		}
		defer s.Close()
		s.BindInts(1, o.Time.UnixMicro())
		s.BindText(2, o.Path)
		return cmp.Or(s.Run(), db.conn.Exec(fmt.Sprintf("PRAGMA application_id = %d", CopyID)))
	})
}

// Adopt makes a ledger of a marked copy, for an owner who knows that charges are lost, and records that in
// two entries. With block, every limit becomes 0 first.
//
// Releases of data sets that were not finished when the copy was made are forgotten: the
// original may have finished them since, and their charges pay for one draw only. Remembered answers
// stay, with the role budgets: they were paid for before the copy was made. Later answers of the
// original are drawn and charged again when they are asked for.
func (l *Ledger) Adopt(block bool) error {
	return engine.Wrap(l.commit(func(t *transaction, err error) error {
		if err != nil {
			return err
		}
		return t.adopt(block)
	}))
}

func (t *transaction) adopt(block bool) error {
	o, err := t.db.origin()
	switch {
	case err != nil:
		return err
	case o == nil:
		return errors.New("the ledger is no copy, or was adopted before")
	}
	r := new(engine.Run)
	for _, e := range []event{{copyFunction, o.Time.UnixMicro()}, {adoptFunction, t.now}} {
		if err := t.addEvent(r, e); err != nil {
			return err
		}
	}
	if block {
		if err := t.blockAll(r); err != nil {
			return err
		}
	}
	t.written++
	return t.db.conn.Exec(fmt.Sprintf(`%s;
		DELETE FROM release WHERE sealed IS NULL;
		DELETE FROM meta WHERE key IN ('copied', 'copied_from');
		PRAGMA application_id = %d`, releaseSchema, ApplicationID))
}

// Restoration tells when a copied ledger was put into use, and when the copy was made. Charges
// in between are unknown to it.
type Restoration struct{ Copied, Restored time.Time }

// Restorations returns the restorations of the ledger, in their order.
func (l *Ledger) Restorations() (all []Restoration, err error) {
	err = l.read(func(db *store) error {
		var copied time.Time
		return db.query("SELECT function, time FROM entry WHERE "+engine.OfEvent+" ORDER BY id", func(s *sqlite.Stmt) error {
			function, at := s.Column(0), s.Column(1)
			when := time.UnixMicro(at.Int()).UTC()
			switch function.Text() {
			case copyFunction:
				copied = when
			case adoptFunction:
				all = append(all, Restoration{copied, when})
			}
			return nil
		})
	})
	return all, err
}

// blockAll sets every limit to 0.
func (t *transaction) blockAll(r *engine.Run) error {
	var all []engine.Change
	err := t.db.query("SELECT account, unit FROM budget WHERE epsilon > 0", func(s *sqlite.Stmt) error {
		account, unit := s.Column(0), s.Column(1)
		all = append(all, engine.Change{
			Origin:  r.Origin(t.now, engine.LimitFunction, budget.Unit(unit.Text())),
			Account: account.Text(),
			Limit:   &engine.Limit{},
		})
		return nil
	})
	for i := 0; i < len(all) && err == nil; i++ {
		err = t.SetLimit(&all[i])
	}
	return err
}

// Follows returns nil if the ledger has grown out of the state of a head, and else an error that
// says why not. It looks only at the entry of that head, if the ledger still holds it: Verify
// looks at all.
func (l *Ledger) Follows(h ledger.Head) error {
	return l.read(func(db *store) error {
		last, err := db.head()
		if err != nil {
			return err
		}
		archived, err := db.archived()
		switch {
		case err != nil:
			return err
		case last.ID < h.ID:
			return fmt.Errorf("it ends with entry %d, before entry %d", last.ID, h.ID)
		case h.ID < archived.ID:
			return nil
		}
		there, err := db.headAt(h.ID)
		if err == nil && there != h {
			err = fmt.Errorf("it has another entry %d", h.ID)
		}
		return err
	})
}
