package file

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
)

// ApplicationID is the application_id of a ledger, "geoL": PRAGMA application_id returns it
// for a file that is one.
const ApplicationID = 0x67656f4c

// CopyID is the application_id of a copy of a ledger that nobody has adopted, "geoB". Programs
// that do not know it do not take the file for a ledger.
const CopyID = 0x67656f42

// version is that of the ledgers that this program writes, oldest the first that it reads.
const (
	version = 3
	oldest  = 2
)

// schema creates the tables of a ledger. Amounts are integers of 1e-12, times are integers of
// microseconds since 1970. A balance is the sum of its account's entries, and its window is
// that of the last of them. A limit is set by its entry.
//
// A later version must change the schema so that the statements of this one fail. A program
// that still has the file open when a newer one converts it must not go on charging as before.
const schema = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE balance(
  account TEXT NOT NULL, unit TEXT NOT NULL,
  spent INTEGER NOT NULL CHECK (spent >= 0),
  reserved INTEGER NOT NULL CHECK (reserved >= 0),
  window_start INTEGER, window_spent INTEGER NOT NULL DEFAULT 0,
  last_charge INTEGER NOT NULL,
  PRIMARY KEY (account, unit)) WITHOUT ROWID, STRICT;
INSERT INTO meta VALUES ('id', lower(hex(randomblob(16)))), ('created', unixepoch() * 1000000);
CREATE TABLE leased_trace(
  trace TEXT PRIMARY KEY, account TEXT NOT NULL, unit TEXT NOT NULL,
  state BLOB NOT NULL, points INTEGER NOT NULL,
  user BLOB, held INTEGER NOT NULL, lost INTEGER NOT NULL,
  changed INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE run(
  trace TEXT NOT NULL, first INTEGER NOT NULL,
  points BLOB NOT NULL,
  PRIMARY KEY (trace, first)) WITHOUT ROWID, STRICT;
CREATE TABLE budget(
  account TEXT NOT NULL, unit TEXT NOT NULL,
  epsilon INTEGER NOT NULL CHECK (epsilon >= 0),
  window_seconds INTEGER,
  changed INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  PRIMARY KEY (account, unit)) WITHOUT ROWID, STRICT;` + leaseSchema + entrySchema

// leaseSchema creates the table of leases, which came with version 3: see engine.LeaseRow. Most is the largest amount that a
// trace of the account may have spent on points that are not saved.
const leaseSchema = `
CREATE TABLE lease(
  account TEXT NOT NULL, unit TEXT NOT NULL,
  user BLOB, most INTEGER NOT NULL, lost INTEGER NOT NULL,
  PRIMARY KEY (account, unit)) WITHOUT ROWID, STRICT;`

// toVersion3 adds leases. The traces have another name from then on, so that a program that knows no
// leases takes no steps.
const toVersion3 = leaseSchema + `
ALTER TABLE trace RENAME TO leased_trace;
PRAGMA user_version = 3`

// entrySchema is also that of an archive.
const entrySchema = `
CREATE TABLE entry(
  id INTEGER PRIMARY KEY,
  statement INTEGER NOT NULL,
  time INTEGER NOT NULL,
  function TEXT NOT NULL,
  account TEXT NOT NULL, unit TEXT NOT NULL,
  spent INTEGER NOT NULL, reserved INTEGER NOT NULL,
  evaluations INTEGER NOT NULL,
  window_start INTEGER, window_spent INTEGER NOT NULL,
  epsilon_limit INTEGER, window_seconds INTEGER,
  hash BLOB NOT NULL) STRICT`

var errEmpty = fmt.Errorf("the file is empty: %w", fs.ErrNotExist)

// setUp checks that the file is a ledger, brings it to this version and makes its charges durable. With
// create it makes a ledger of an empty file. It writes nothing before it knows that the file
// is a ledger or empty, because the file may be somebody else's.
func (db *store) setUp(create bool) error {
	err := db.inTransaction("BEGIN", db.readIdentity)
	empty := errors.Is(err, errEmpty)
	if err != nil && !(empty && create) {
		return err
	}
	if err := db.makeDurable(); err != nil {
		return err
	}
	if empty {
		if err := db.inTransaction("BEGIN IMMEDIATE", db.createTables); err != nil {
			return err
		}
	}
	if db.version < version {
		if err := db.inTransaction("BEGIN IMMEDIATE", db.migrate); err != nil {
			return err
		}
	}
	if err := db.prepare(); err != nil {
		return err
	}
	db.opened, err = db.head() // the first to read in WAL mode makes the log and its index
	return err
}

// createTables makes a ledger of an empty file.
func (db *store) createTables() error {
	err := db.readIdentity() // again: another process may have been first
	if !errors.Is(err, errEmpty) {
		return err
	}
	prefix := ""
	if db.test {
		prefix = testPrefix
	}
	err = db.conn.Exec(fmt.Sprintf("%s; UPDATE meta SET value = '%s' || value WHERE key = 'id'; PRAGMA application_id = %d; PRAGMA user_version = %d",
		schema, prefix, ApplicationID, version))
	if err != nil {
		return err
	}
	return db.readIdentity()
}

// migrate brings the ledger to this version.
func (db *store) migrate() error {
	err := db.readIdentity() // again: another process may have been first
	if err != nil || db.version == version {
		return err
	}
	if err := db.conn.Exec(toVersion3); err != nil {
		return err
	}
	return db.readIdentity()
}

// inTransaction runs work in a transaction that an SQL statement begins.
func (db *store) inTransaction(begin string, work func() error) error {
	if err := db.conn.Exec(begin); err != nil {
		return err
	}
	err := work()
	if err == nil {
		err = db.conn.Exec("COMMIT")
	}
	if err != nil && !db.conn.AutoCommit() {
		_ = db.conn.Exec("ROLLBACK") // the first error says more
	}
	return err
}

// readIdentity reads the ledger's ID. It returns errEmpty for an empty file.
func (db *store) readIdentity() error {
	encoding, err := db.readText("PRAGMA encoding")
	if err != nil {
		return err
	}
	if encoding != "UTF-8" { // accounts would be in another order than Go's
		return fmt.Errorf("the file has texts in %s, a ledger has UTF-8", encoding)
	}
	application, err := db.readInt("PRAGMA application_id")
	if err != nil {
		return err
	}
	if application != ApplicationID && application != CopyID && application != RetiredID {
		tables, err := db.readInt("SELECT count(*) FROM sqlite_schema")
		switch {
		case err != nil:
			return err
		case application == 0 && tables == 0:
			return errEmpty
		}
		return errors.New("the file is another application's database, not a ledger")
	}
	v, err := db.readInt("PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case v > version:
		return fmt.Errorf("written by a newer geosql (ledger version %d, this is %d)", v, version)
	case v < oldest:
		return fmt.Errorf("the ledger has the unknown version %d", v)
	}
	db.version = v
	if db.id, err = db.readText(identitySQL); err != nil {
		return err
	}
	return CheckID(db.id, db.test)
}

// testPrefix begins the IDs of ledgers of tests. Databases, copies and archives hold it too.
const testPrefix = "test-"

// CheckID returns an error if the ID is that of a test's ledger and is not used by a test, or the other way round.
func CheckID(id string, test bool) error {
	switch made := strings.HasPrefix(id, testPrefix); {
	case made && !test:
		return errors.New("a test made that ledger: its answers could be predicted, and only a test may use it")
	case test && !made:
		return errors.New("no test made that ledger: answers of a test can be predicted, so it uses only ledgers that tests made")
	}
	return nil
}

// makeDurable makes COMMIT wait until the disk has the committed data. It reads the settings
// back, because SQLite ignores a journal mode that a file system or its own build does not
// support.
func (db *store) makeDurable() error {
	if _, onDisk := db.conn.File(); !onDisk {
		return nil
	}
	if err := db.setWALMode(); err != nil {
		return err
	}
	// fullfsync is for macOS, where fsync alone leaves data in the drive's cache.
	// The size limit shrinks the log again after a large reservation.
	err := db.conn.Exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA journal_size_limit = 4194304; PRAGMA cache_size = -16384")
	if err != nil {
		return err
	}
	const full = 2
	level, err := db.readInt("PRAGMA synchronous")
	if err != nil {
		return err
	}
	if level != full {
		return fmt.Errorf("cannot make charges durable: synchronous is %d", level)
	}
	return nil
}

// setWALMode switches the file to WAL mode. It waits for others who do so at the same moment,
// because SQLite does not.
func (db *store) setWALMode() error {
	const pause = 5 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		mode, err := db.readText("PRAGMA journal_mode = WAL")
		var locked *sqlite.Error
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("cannot make charges durable: journal mode is %s", mode)
		case !errors.As(err, &locked) || !locked.Busy() || waited >= busyTimeout*time.Millisecond:
			return err
		}
		time.Sleep(pause)
	}
}

// readInt reads the integer that a query answers.
func (db *store) readInt(sql string) (n int64, err error) {
	err = db.read(sql, sqlite.Integer, func(v sqlite.Value) { n = v.Int() })
	return n, err
}

// readText reads the text that a query answers.
func (db *store) readText(sql string) (text string, err error) {
	err = db.read(sql, sqlite.Text, func(v sqlite.Value) { text = v.Text() })
	return text, err
}

// read reads the one value that a query answers.
func (db *store) read(sql string, want sqlite.Type, use func(sqlite.Value)) error {
	s, _, err := db.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	row, err := s.Step()
	if err != nil {
		return err
	}
	if row {
		if v := s.Column(0); v.Type() == want {
			use(v)
			return s.Run() // a change by a PRAGMA is committed, or fails, at its end
		}
	}
	return errors.New("the ledger is damaged")
}
