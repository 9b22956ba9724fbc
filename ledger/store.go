package ledger

import (
	"github.com/geosql/geosql/internal/sqlite"
)

// store is the ledger's connection with its compiled statements. It is used
// under Ledger.mu.
type store struct {
	conn *sqlite.Conn
	id   string // the ledger's

	begin, commit, rollback *sqlite.Stmt
	lastID                  *sqlite.Stmt
	standing                *sqlite.Stmt
	addEntry, putBalance    *sqlite.Stmt
	putLimit                *sqlite.Stmt
}

// busyTimeout is for how many milliseconds a transaction waits for another
// process's.
const busyTimeout = 5000

func openStore(path string, create bool) (*store, error) {
	flags := sqlite.ReadWrite
	if create {
		flags |= sqlite.Create
	}
	conn, err := sqlite.Open(path, flags)
	if err != nil {
		return nil, err
	}
	conn.BusyTimeout(busyTimeout)
	db := &store{conn: conn}
	if err := db.prepare(create); err != nil {
		db.close()
		return nil, err
	}
	return db, nil
}

func (db *store) prepare(create bool) (err error) {
	if err := db.found(create); err != nil {
		return err
	}
	for _, s := range []struct {
		stmt **sqlite.Stmt
		sql  string
	}{
		{&db.begin, `BEGIN IMMEDIATE`},
		{&db.commit, `COMMIT`},
		{&db.rollback, `ROLLBACK`},
		{&db.lastID, `SELECT coalesce(max(id), 0) FROM entry`},
		{&db.standing, standingSQL},
		{&db.addEntry, addEntrySQL},
		{&db.putBalance, putBalanceSQL},
		{&db.putLimit, putLimitSQL},
	} {
		if *s.stmt, _, err = db.conn.Prepare(s.sql); err != nil {
			return err
		}
	}
	return nil
}

const (
	standingSQL = `
SELECT coalesce((SELECT epsilon FROM budget WHERE account = ?1 AND unit = ?2),
                (SELECT epsilon FROM budget WHERE account = '*' AND unit = ?2)),
       spent, reserved, last_charge
FROM (SELECT 1) LEFT JOIN balance ON account = ?1 AND unit = ?2`

	addEntrySQL = `
INSERT INTO entry(statement, time, function, unit, account, spent, reserved, evaluations, id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`

	putBalanceSQL = `
INSERT INTO balance(unit, account, spent, reserved, last_charge) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET spent = excluded.spent, reserved = excluded.reserved, last_charge = excluded.last_charge`

	putLimitSQL = `
INSERT INTO budget(account, unit, epsilon, changed) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET epsilon = excluded.epsilon, changed = excluded.changed`
)

// close finalises the statements first: SQLite keeps a connection open as long
// as one of its statements lives.
func (db *store) close() error {
	for _, s := range []*sqlite.Stmt{
		db.begin, db.commit, db.rollback, db.lastID, db.standing, db.addEntry, db.putBalance, db.putLimit,
	} {
		if s != nil {
			s.Close()
		}
	}
	return db.conn.Close()
}
