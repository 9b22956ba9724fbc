package file

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// store is a connection to the ledger's file with its compiled statements. It is used under
// Ledger.writer.
type store struct {
	conn    *sqlite.Conn
	id      string // of the ledger
	test    bool   // it was opened for tests
	version int64
	noted   int64 // when the program was noted, 0 before

	opened ledger.Head // when the connection was opened

	begin, commit, rollback *sqlite.Stmt
	identity, fileVersion   *sqlite.Stmt
	changes                 *sqlite.Stmt
	last                    *sqlite.Stmt
	getStanding             *sqlite.Stmt
	addEntry, putBalance    *sqlite.Stmt
	getLimits, putLimit     *sqlite.Stmt
	getTrace, putTrace      *sqlite.Stmt
	takeTrace, freeTrace    *sqlite.Stmt
	putRun                  *sqlite.Stmt
	getLease, takeLease     *sqlite.Stmt

	others map[string]*sqlite.Stmt // by their SQL; compiled when they were needed first

	scratch []byte    // for hashing
	cells   []byte    // for writing: one call to C binds and runs
	parcels [2]parcel // for many rows
}

// busyTimeout is how many milliseconds a transaction waits for another process's.
const busyTimeout = 5000

// errReadOnly is the error of a file that may not be written. It comes before anything is
// read: SQLite would keep such a connection read-only when the file may be written again, and
// would leave a log that may not be written.
var errReadOnly = errors.New("the file may not be written")

// openStore opens the ledger at a path.
func openStore(path string, create bool, o options) (*store, error) {
	db, err := connect(path, create)
	if err != nil {
		return nil, err
	}
	db.test = o.test
	if err = errReadOnly; db.conn.Writable() {
		err = db.setUp(create)
	}
	if err != nil {
		db.close()
		return nil, err
	}
	return db, nil
}

// statements returns the statements to compile.
func (db *store) statements() map[**sqlite.Stmt]string {
	return map[**sqlite.Stmt]string{
		&db.begin:       `BEGIN IMMEDIATE`,
		&db.commit:      `COMMIT`,
		&db.rollback:    `ROLLBACK`,
		&db.identity:    sameLedgerSQL,
		&db.fileVersion: `PRAGMA user_version`,
		&db.changes:     `PRAGMA data_version`,
		&db.last:        lastSQL,
		&db.getStanding: getStandingSQL,
		&db.addEntry:    addEntrySQL,
		&db.putBalance:  putBalancesSQL(1),
		&db.getLimits:   getLimitsSQL,
		&db.putLimit:    putLimitSQL,
		&db.getTrace:    getTraceSQL,
		&db.putTrace:    putTraceSQL,
		&db.takeTrace:   takeTraceSQL,
		&db.freeTrace:   freeTraceSQL,
		&db.putRun:      putRunSQL,
		&db.getLease:    getLeaseSQL,
		&db.takeLease:   takeLeaseSQL,
	}
}

// connect opens a file that may not be a ledger.
func connect(path string, create bool) (*store, error) {
	flags := sqlite.ReadWrite
	if create {
		flags |= sqlite.Create
	}
	conn, err := sqlite.Open(path, flags)
	if err != nil {
		return nil, err
	}
	conn.BusyTimeout(busyTimeout)
	return &store{conn: conn}, nil
}

// prepare compiles the statements that are not compiled yet. The tables have to be there.
func (db *store) prepare() (err error) {
	for s, sql := range db.statements() {
		if *s != nil {
			continue
		}
		if *s, _, err = db.conn.Prepare(sql); err != nil {
			return err
		}
	}
	return nil
}

// compiled returns the statement of SQL that not every ledger runs, or can run: its tables may not
// be there yet. The caller resets it.
func (db *store) compiled(sql string) (*sqlite.Stmt, error) {
	if s := db.others[sql]; s != nil {
		return s, nil
	}
	s, _, err := db.conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	if db.others == nil {
		db.others = map[string]*sqlite.Stmt{}
	}
	db.others[sql] = s
	return s, nil
}

// close closes the statements, then the connection: SQLite keeps a connection open as long as
// one of its statements lives.
func (db *store) close() error {
	for s := range db.statements() {
		if *s != nil {
			(*s).Close()
		}
	}
	for _, s := range db.others {
		s.Close()
	}
	return db.conn.Close()
}

const (
	identitySQL = `SELECT value FROM meta WHERE key = 'id'`

	sameLedgerSQL = `SELECT value, EXISTS (SELECT 1 FROM meta WHERE key IN ('copied', 'moved')) FROM meta WHERE key = 'id'`

	lastSQL = `SELECT id, hash FROM entry ORDER BY id DESC LIMIT 1`

	getStandingSQL = `
SELECT l.epsilon, l.window_seconds, l.changed,
       b.spent, b.reserved, b.last_charge, b.window_start, b.window_spent
FROM (SELECT 1)
  LEFT JOIN budget AS l ON l.unit = ?2 AND l.account =
    coalesce((SELECT account FROM budget WHERE account = ?1 AND unit = ?2), '*')
  LEFT JOIN balance AS b ON b.account = ?1 AND b.unit = ?2`

	addEntrySQL = `
INSERT INTO entry(id, statement, time, spent, reserved, evaluations,
                  window_start, window_spent, epsilon_limit, window_seconds,
                  function, account, unit, hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), ?8, nullif(?9, -1), nullif(?10, 0), ?11, ?12, ?13, ?14)`

	putLimitSQL = `
INSERT INTO budget(account, unit, epsilon, window_seconds, changed, entry) VALUES (?1, ?2, ?3, nullif(?4, 0), ?5, ?6)
ON CONFLICT DO UPDATE SET epsilon = excluded.epsilon, window_seconds = excluded.window_seconds,
  changed = excluded.changed, entry = excluded.entry`

	getTraceSQL = `SELECT account, unit, state, points, user, held, lost FROM leased_trace WHERE trace = ?1`

	putTraceSQL = `
REPLACE INTO leased_trace(trace, account, unit, state, user, points, held, lost, changed)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)`

	takeTraceSQL = `
INSERT INTO leased_trace(trace, account, unit, state, points, user, held, lost, changed)
VALUES (?1, ?2, ?3, x'', 0, ?4, ?5, 0, ?6)
ON CONFLICT DO UPDATE SET user = excluded.user, held = excluded.held, changed = excluded.changed`

	freeTraceSQL = `UPDATE leased_trace SET points = ?2, user = NULL, held = 0, lost = lost + ?3 WHERE trace = ?1`

	getLeaseSQL = `SELECT user, lost FROM lease WHERE account = ?1 AND unit = ?2`

	takeLeaseSQL = `
INSERT INTO lease(account, unit, user, most, lost) VALUES (?1, ?2, ?3, ?4, 0)
ON CONFLICT DO UPDATE SET user = excluded.user, most = max(most, excluded.most) WHERE user IS NULL OR user = excluded.user
RETURNING 1`

	putRunSQL = `INSERT INTO run(trace, first, points) VALUES (?1, ?2, ?3)`

	entrySQL = `
SELECT id, statement, time, spent, reserved, evaluations,
       window_start, window_spent, epsilon_limit, window_seconds,
       function, account, unit, hash
FROM entry`
)

// sameLedger checks that the file still holds the ledger that was opened, and reports whether it
// is marked, as a copy or as one that has moved. A copy or a backup may have put another one into it.
func (db *store) sameLedger() (marked bool, err error) {
	s := db.identity
	defer s.Reset()
	row, err := s.Step()
	if err != nil {
		return false, err
	}
	if row {
		var v [2]sqlite.Value
		s.Row(0, v[:])
		if v[0].Type() == sqlite.Text && string(v[0].Bytes()) == db.id {
			return v[1].Int() != 0, db.sameVersion()
		}
	}
	return false, errors.New("another ledger was put into the file while in use")
}

// sameVersion checks that no program of another version has converted the ledger.
func (db *store) sameVersion() error {
	s := db.fileVersion
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		return err
	}
	v := s.Column(0)
	if v.Int() != version {
		return fmt.Errorf("another geosql has converted the ledger while in use (ledger version %d, this is %d)", v.Int(), version)
	}
	return nil
}

// dataVersion returns a number that is another one once other connections have committed.
func (db *store) dataVersion() (int64, error) {
	s := db.changes
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		return 0, err
	}
	v := s.Column(0)
	return v.Int(), nil
}

// head returns the last entry.
func (db *store) head() (ledger.Head, error) {
	s := db.last
	defer s.Reset()
	row, err := s.Step()
	if err != nil {
		return ledger.Head{}, err
	}
	if !row {
		return ledger.Genesis(db.id), nil
	}
	id, hash := s.Column(0), s.Column(1)
	return headOf(&id, &hash)
}

// headOf reads a head from its two columns.
func headOf(id, hash *sqlite.Value) (ledger.Head, error) {
	h := ledger.Head{ID: id.Int()}
	if hash.Type() != sqlite.Blob || len(hash.Bytes()) != len(h.Hash) {
		return h, fmt.Errorf("the ledger is damaged: entry %d has no hash", h.ID)
	}
	copy(h.Hash[:], hash.Bytes())
	return h, nil
}

// insert writes an entry. Its hash is in head.
func (db *store) insert(e *ledger.Entry, head *ledger.Head) error {
	cells := db.cells[:0]
	for _, v := range [...]int64{
		e.ID, e.Statement, e.Time, int64(e.Spent), int64(e.Reserved), e.Evaluations,
		e.Window.Start, int64(e.Window.Spent), int64(e.Limit), e.LimitWindow,
	} {
		cells = sqlite.AppendInt(cells, v)
	}
	for _, s := range [...]string{e.Function, e.Account, string(e.Unit)} {
		cells = sqlite.AppendText(cells, s)
	}
	db.cells = sqlite.AppendBlob(cells, head.Hash[:])
	return db.addEntry.InsertRows(db.cells, 14, 1)
}

// scanEntry reads a row of entrySQL without its hash.
func scanEntry(s *sqlite.Stmt) ledger.Entry {
	var v [13]sqlite.Value
	s.Row(0, v[:])
	e := ledger.Entry{
		ID: v[0].Int(), Statement: v[1].Int(), Time: v[2].Int(),
		Spent: budget.Amount(v[3].Int()), Reserved: budget.Amount(v[4].Int()), Evaluations: v[5].Int(),
		Window:      ledger.WindowUse{Start: intOr0(&v[6]), Spent: budget.Amount(v[7].Int())},
		Limit:       ledger.NoLimit,
		LimitWindow: intOr0(&v[9]),
		Function:    v[10].Text(), Account: v[11].Text(), Unit: budget.Unit(v[12].Text()),
	}
	if v[8].Type() == sqlite.Integer {
		e.Limit = budget.Amount(v[8].Int())
	}
	return e
}

// scanHead reads the ID and the hash of a row of entrySQL.
func scanHead(s *sqlite.Stmt) (ledger.Head, error) {
	id, hash := s.Column(0), s.Column(13)
	return headOf(&id, &hash)
}

// query runs an SQL statement with texts for its parameters, and calls each for every row.
func (db *store) query(sql string, each func(*sqlite.Stmt) error, params ...string) error {
	s, _, err := db.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, p := range params {
		s.BindText(i+1, p)
	}
	for {
		row, err := s.Step()
		if err == nil && row {
			err = each(s)
		}
		if err != nil || !row {
			return err
		}
	}
}
