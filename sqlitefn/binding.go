package sqlitefn

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// A database is charged to one ledger, whose id it records. Without that record a ledger
// that has gone missing could not be told from one that never was: the next limit would
// make an empty one, which refunds everything. So nothing is charged before the record
// stands where no ROLLBACK takes it away, and it is read again for every statement: the
// database may have been replaced by another while the connection is open.

// binding is the ledger that a connection's database is charged to.
type binding struct {
	book        ledger.Ledger // nil until it is needed
	recordedID  string        // the id of a ledger that the main database held when it was last read
	uncommitted bool          // it was recorded in a transaction that was still open then
}

// errNoLedger says that no ledger exists yet: nobody has set a limit.
var errNoLedger = errors.New("there is no ledger: nobody has set a limit")

// ledger returns the ledger that belongs to the main database. It is opened at
// its first use and never created here.
func (s *session) ledger() (ledger.Ledger, error) {
	if err := s.readRecordedID(); err != nil {
		return nil, err
	}
	id := s.recordedID
	if s.book != nil {
		if id == "" || id == s.book.ID() {
			return s.book, nil
		}
		_ = s.book.Close() // it is another database's now; what it could not return stays spent
		s.book = nil
	}
	book, err := s.openLedger(id)
	if err != nil {
		return nil, err
	}
	if id != "" && book.ID() != id {
		got, path := book.ID(), book.Path()
		_ = book.Close()
		return nil, fmt.Errorf("ledger %s has id %s, but this database was charged to ledger %s", path, got, id)
	}
	s.book = book
	return book, nil
}

// openLedger opens the ledger that is there: for a database on disk whatever lies at the
// path, for one in memory the one of the id.
func (s *session) openLedger(id string) (ledger.Ledger, error) {
	path, onDisk := s.ledgerPath()
	switch {
	case !onDisk && id == "":
		return nil, errNoLedger
	case !onDisk:
		book, err := file.OpenMemory(id)
		if err != nil {
			err = fmt.Errorf("this database was charged to ledger %s, and a copy of it in memory cannot be charged to that ledger", printable.Text(id))
		}
		return book, err
	}
	book, err := file.Open(path, false, file.WithMode(s.opts.ledgerMode))
	switch {
	case errors.Is(err, fs.ErrNotExist) && id == "":
		return nil, errNoLedger
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("ledger %s is missing: this database was charged to ledger %s, put that file back", path, id)
	}
	return book, err
}

// openOrCreateLedger returns the ledger and makes it where there is none. Its id is recorded
// where the database may be written; before anything is charged it has to be.
func (s *session) openOrCreateLedger() (ledger.Ledger, error) {
	book, err := s.ledger()
	if errors.Is(err, errNoLedger) {
		if path, onDisk := s.ledgerPath(); onDisk {
			book, err = file.Open(path, true, file.WithMode(s.opts.ledgerMode))
		} else {
			book, err = file.OpenMemory("")
		}
	}
	if err != nil {
		return nil, err
	}
	s.book = book
	if err := s.recordLedger(book.ID()); err != nil && !isReadOnly(err) {
		return nil, err
	}
	return book, nil
}

// chargeable returns the ledger for a charge.
func (s *session) chargeableLedger() (ledger.Ledger, error) {
	book, err := s.ledger()
	if err != nil {
		return nil, err
	}
	if err := s.ensureRecorded(book.ID()); err != nil {
		return nil, err
	}
	return book, s.checkAttached(book.ID())
}

const unrecorded = "this database does not hold the id of its ledger yet, "

// settle makes sure that the database holds the ledger's id, committed.
func (s *session) ensureRecorded(id string) error {
	err := s.recordLedger(id)
	switch {
	case isReadOnly(err):
		return errors.New(unrecorded + "and this connection may not write it: " +
			"set a limit, or release something, over one that may")
	case err != nil:
		return fmt.Errorf(unrecorded+"and it cannot be written now: %w", err)
	case s.uncommitted && s.conn.Writing() && !s.isCommitted(id):
		return errors.New(unrecorded + "but in a transaction, which ROLLBACK would undo: " +
			"COMMIT first; if this statement itself writes, run one before it that sets a limit or only selects")
	}
	s.uncommitted = false
	return nil
}

// readRecordedID reads the id of the ledger that the main database is charged to,
// "" before the first limit was set.
func (s *session) readRecordedID() error {
	s.recordedID = ""
	return s.read(`SELECT id FROM main.geosql_ledger`, func(st *sqlite.Stmt) { s.recordedID = columnText(st, 0) })
}

// recordLedger notes the ledger's id in the main database, unless it was read there.
func (s *session) recordLedger(id string) error {
	if s.recordedID == id {
		return nil
	}
	if err := s.write(`INSERT OR IGNORE INTO main.geosql_ledger(id) VALUES(?)`, id); err != nil {
		return err
	}
	s.recordedID, s.uncommitted = id, s.conn.Writing()
	return nil
}

// committed asks another connection, which sees what is committed. A database in memory
// takes its ledger along when it goes, so that nothing can go missing there.
func (s *session) isCommitted(id string) bool {
	path, onDisk := s.conn.File()
	if !onDisk {
		return true
	}
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	if err != nil {
		return false
	}
	defer conn.Close()
	stmt, _, err := conn.Prepare(`SELECT 1 FROM main.geosql_ledger WHERE id = ?`)
	if err != nil {
		return false
	}
	defer stmt.Close()
	stmt.BindText(1, id)
	found, err := stmt.Step()
	return found && err == nil
}

const codeReadOnly = 8

func isReadOnly(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code&0xff == codeReadOnly
}

// checkAttached refuses to charge while a database is attached that was charged to another
// ledger: its rows would be released on this one, past what was spent on that.
func (s *session) checkAttached(id string) error {
	var attached []string
	err := s.query(`PRAGMA database_list`, func(st *sqlite.Stmt) {
		if columnInt(st, 0) > 1 { // 0 is main, 1 temp
			attached = append(attached, columnText(st, 1))
		}
	})
	if err != nil {
		return err
	}
	for _, name := range attached {
		other := id
		err := s.read(`SELECT id FROM `+identifier(name)+`.geosql_ledger`, func(st *sqlite.Stmt) { other = columnText(st, 0) })
		if err != nil {
			return err
		}
		if other != id {
			return fmt.Errorf("the attached database %s was charged to another ledger, %s: open it as the main database to release its rows",
				quoted([]byte(name)), printable.Text(other))
		}
	}
	return nil
}

// ledgerPath is where the ledger's file is or would be, and false for a main
// database without a file, whose ledger lives in memory too.
func (s *session) ledgerPath() (path string, onDisk bool) {
	if s.opts.ledger != "" {
		return s.opts.ledger, true
	}
	file, onDisk := s.conn.File()
	if !onDisk {
		return "", false
	}
	// Two names of one database must lead to one ledger.
	if realFile, err := filepath.EvalSymlinks(file); err == nil {
		file = realFile
	}
	return file + "-ledger", true
}

// spendError makes the error of a function that was to charge an account.
func spendError(err error, account string, price budget.Price) error {
	if errors.Is(err, errNoLedger) {
		return &ledger.RefusalError{Account: account, Unit: price.Unit, Asked: price.Amount}
	}
	return err
}
