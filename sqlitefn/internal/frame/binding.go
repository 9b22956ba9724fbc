package frame

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
)

// binding holds the ledger that a connection's database is charged to.
//
// The database records the ledger's id. Without that record, a ledger that has gone missing
// could not be distinguished from one that never existed, and the next limit would create an
// empty one, which refunds everything. So nothing is charged before the record is committed.
// Every statement looks whether it has changed, since the database may have been replaced by
// another one while the connection is open.
type binding struct {
	named       string        // where geosql_ledger says that the ledger is; "" if it says nothing
	ledger      ledger.Ledger // nil until it is needed
	recordedID  string        // the ledger id that was in the main database when it was last read
	recorded    sqlite.Unchanged
	uncommitted bool // whether a transaction was still open when the id was recorded
}

// ErrNoLedger reports that no ledger exists yet, since nobody has set a limit.
var ErrNoLedger = errors.New("there is no ledger: nobody has set a limit")

// IgnoreNoLedger returns nil for ErrNoLedger, since then there is nothing to show, and any
// other error as it is.
func IgnoreNoLedger(err error) error {
	if err == ErrNoLedger {
		return nil
	}
	return err
}

// Ledger returns the ledger of the main database. It opens the ledger at its first use and
// never creates one.
func (s *Session) Ledger() (ledger.Ledger, error) {
	if err := s.readRecordedID(); err != nil {
		return nil, err
	}
	id := s.recordedID
	if id != "" {
		if err := file.CheckID(id, s.Options.Test != nil); err != nil {
			return nil, fmt.Errorf("this database was charged to ledger %s, and %w", printable.Text(id), err)
		}
	}
	if s.ledger != nil {
		if id == "" || id == s.ledger.ID() {
			return s.ledger, nil
		}
		_ = s.ledger.Close() // it belongs to a database that was replaced; a part that it could not return stays spent
		s.ledger = nil
	}
	l, err := s.openLedger(id)
	if err != nil {
		return nil, err
	}
	if id != "" && l.ID() != id {
		got, place := l.ID(), s.ledgerLabel()
		if path := l.Path(); path != "" {
			place = "ledger " + path
		}
		_ = l.Close()
		return nil, fmt.Errorf("%s has id %s, but this database was charged to ledger %s", place, got, id)
	}
	s.ledger = l
	return l, nil
}

// openLedger opens an existing ledger: the one with the id for a database in memory, unless an option
// names one, and else the one that is where the database's is.
func (s *Session) openLedger(id string) (ledger.Ledger, error) {
	if of := s.testLedger(); of != "" {
		return file.OpenMemory(of)
	}
	where, stored := s.ledgerPlace()
	switch {
	case !stored && id == "":
		return nil, ErrNoLedger
	case !stored:
		l, err := file.OpenMemory(id)
		if err != nil {
			err = fmt.Errorf("this database was charged to ledger %s, and a copy of it in memory cannot be charged to that ledger", printable.Text(id))
		}
		return l, err
	}
	l, err := s.openStored(where, false)
	switch {
	case errors.Is(err, fs.ErrNotExist) && id == "":
		return nil, ErrNoLedger
	case errors.Is(err, fs.ErrNotExist) && engines.IsURL(where):
		return nil, fmt.Errorf("there is no ledger at %s: this database was charged to ledger %s, name the server that has it", engines.Label(where), id)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("ledger %s is missing: this database was charged to ledger %s, put that file back, or say with geosql_ledger() or --ledger where it is", where, id)
	}
	return l, err
}

// LedgerToLimit returns the ledger, and creates it if there is none. It records the
// ledger's id if the database may be written; a charge insists on the record.
func (s *Session) LedgerToLimit() (ledger.Ledger, error) {
	l, err := s.Ledger()
	if errors.Is(err, ErrNoLedger) {
		if where, stored := s.ledgerPlace(); stored {
			l, err = s.openStored(where, true)
		} else {
			l, err = file.OpenMemory("", s.fileOptions()...)
		}
	}
	if err != nil {
		return nil, err
	}
	s.ledger = l
	if err := s.recordLedger(l.ID()); err != nil && !isReadOnly(err) {
		return nil, err
	}
	return l, nil
}

// openStored opens the ledger at a place, as package engines has it.
func (s *Session) openStored(where string, create bool) (ledger.Ledger, error) {
	if s.Options.Test == nil {
		return engines.Open(where, create, s.Options.LedgerMode)
	}
	if engines.IsURL(where) {
		return nil, fmt.Errorf("a test charges no ledger on a server, such as %s", engines.Label(where))
	}
	l, err := file.Open(where, create, s.fileOptions()...)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// fileOptions returns the options of ledgers that are not on a server.
func (s *Session) fileOptions() []file.Option {
	options := []file.Option{file.WithMode(s.Options.LedgerMode)}
	if s.Options.Test != nil {
		options = append(options, file.ForTests())
	}
	return options
}

// testLedger returns the ID of the ledger in memory that a test has made for its sessions, or "".
func (s *Session) testLedger() string {
	if s.Options.Test == nil {
		return ""
	}
	return s.Options.Test.Ledger()
}

// LedgerToCharge returns the ledger for a charge, or an error if nothing may be charged now.
func (s *Session) LedgerToCharge() (ledger.Ledger, error) {
	l, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	if err := s.ensureRecorded(l.ID()); err != nil {
		return nil, err
	}
	return l, s.checkAttached(l.ID())
}

const unrecorded = "this database does not hold the id of its ledger yet, "

// ensureRecorded makes sure that the ledger's id is in the database and committed.
func (s *Session) ensureRecorded(id string) error {
	err := s.recordLedger(id)
	switch {
	case isReadOnly(err):
		return errors.New(unrecorded + "and this connection may not write it: " +
			"set a limit, or release something, over one that may")
	case err != nil:
		return fmt.Errorf(unrecorded+"and it cannot be written now: %w", err)
	case s.uncommitted && s.Conn.Writing() && !s.isCommitted(id):
		return errors.New(unrecorded + "but in a transaction, which ROLLBACK would undo: " +
			"COMMIT first; if this statement itself writes, run one before it that sets a limit or only selects")
	}
	s.uncommitted = false
	return nil
}

// readRecordedID reads the id of the ledger that the main database is charged to. It is ""
// before the first limit is set.
func (s *Session) readRecordedID() error {
	return s.recorded.Since(s.Conn, func() error {
		s.recordedID = ""
		return s.Read(`SELECT id FROM main.geosql_ledger`, func(st *sqlite.Stmt) { s.recordedID = ColumnText(st, 0) })
	})
}

// recordLedger writes the ledger's id to the main database, unless it is there already.
func (s *Session) recordLedger(id string) error {
	if s.recordedID == id {
		return nil
	}
	if err := s.Write(`INSERT OR IGNORE INTO main.geosql_ledger(id) VALUES(?)`, id); err != nil {
		return err
	}
	s.recordedID, s.uncommitted = id, s.Conn.Writing()
	return nil
}

// isCommitted reports whether another connection, which sees only committed data, finds
// the ledger's id. For a database in memory it always does: its ledger disappears with it,
// so it cannot go missing.
func (s *Session) isCommitted(id string) bool {
	path, onDisk := s.Conn.File()
	if !onDisk {
		return true
	}
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	if err != nil {
		return false
	}
	defer conn.Close()
	found := false
	err = declaration.Each(conn, `SELECT 1 FROM main.geosql_ledger WHERE id = ?`, func([]sqlite.Value) error {
		found = true
		return nil
	}, id)
	return found && err == nil
}

const codeReadOnly = 8

// isReadOnly reports whether an error says that the database may not be written.
func isReadOnly(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code&0xff == codeReadOnly
}

// checkAttached returns an error if a database is attached that was charged to another
// ledger. Releases of its rows would be charged here, without regard to the charges there.
func (s *Session) checkAttached(id string) error {
	databases, err := s.Databases()
	if err != nil {
		return err
	}
	for _, d := range databases {
		if d.Number <= 1 { // main and temp
			continue
		}
		other := id
		err := s.ReadTable(d, "geosql_ledger", "id", func(st *sqlite.Stmt) { other = ColumnText(st, 0) })
		if err != nil {
			return err
		}
		if other != id {
			return fmt.Errorf("the attached database %s was charged to another ledger, %s: open it as the main database to release its rows",
				Quoted(d.Name), printable.Text(other))
		}
	}
	return nil
}

// ledgerPlace returns where the ledger is or would be, as package engines has it. It reports false for
// a main database in memory, which has its ledger in memory too.
func (s *Session) ledgerPlace() (where string, stored bool) {
	if s.testLedger() != "" {
		return "", false
	}
	if s.named != "" {
		return s.named, true
	}
	if s.Options.Ledger != "" {
		return s.Options.Ledger, true
	}
	file, onDisk := s.Conn.File()
	if !onDisk {
		return "", false
	}
	return LedgerPath(file), true
}

// MayNameLedger returns an error if it is too late to say that the ledger is there.
func (s *Session) MayNameLedger(where string) error {
	if now, _ := s.ledgerPlace(); where != now {
		switch {
		case s.ledger != nil || s.testLedger() != "":
			return fmt.Errorf("comes too late: this connection uses %s already; say where the ledger is before anything asks for it", s.ledgerLabel())
		case s.Options.Ledger != "":
			return fmt.Errorf("is not %s, which the program that opened this connection has named", s.ledgerLabel())
		}
	}
	return nil
}

// NameLedger says where the ledger is, and returns it, or nil if there is none yet.
func (s *Session) NameLedger(where string) (ledger.Ledger, error) {
	earlier := s.named
	s.named = where
	l, err := s.Ledger()
	switch {
	case errors.Is(err, ErrNoLedger):
		return nil, nil
	case err != nil:
		s.named = earlier
	}
	return l, err
}

// ledgerLabel returns the ledger's name in errors.
func (s *Session) ledgerLabel() string {
	where, stored := s.ledgerPlace()
	if !stored {
		return "a ledger in memory"
	}
	return "ledger " + engines.Label(where)
}

// LedgerPath returns where the ledger of a database in a file is or would be, unless WithLedger
// names another.
func LedgerPath(database string) string {
	// Two names of one database must lead to one ledger.
	if real, err := filepath.EvalSymlinks(database); err == nil {
		database = real
	}
	return database + "-ledger"
}

// SpendError returns the error for a charge that failed: a refusal if there is no ledger.
func SpendError(err error, account string, price budget.Price) error {
	if errors.Is(err, ErrNoLedger) {
		return &ledger.RefusalError{Account: account, Unit: price.Unit, Asked: price.Amount}
	}
	return err
}
