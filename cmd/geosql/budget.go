package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/geosql/geosql/internal/sqlite"
)

const (
	balanceSQL = `SELECT * FROM ledger_balance WHERE account = ?1 OR ?1 IS NULL ORDER BY account, unit`

	historySQL = `
SELECT id, time, function, account, unit, epsilon, evaluations, NULL AS epsilon_limit, NULL AS window_seconds
FROM ledger_charges WHERE account = ?1 OR ?1 IS NULL
UNION ALL
SELECT id, time, 'budget_limit', account, unit, NULL, NULL, epsilon_limit, window_seconds
FROM ledger_limits WHERE account = ?1 OR ?1 IS NULL
ORDER BY id`

	verifySQL = `SELECT * FROM ledger_verify(?1, ?2)`

	archiveSQL = `SELECT ledger_archive(?1, ?2) AS archived`
)

// budgetCommand shows and administers the ledger.
func budgetCommand(ctx context.Context, inv *invocation) error {
	s, err := inv.openExisting()
	if err != nil {
		return err
	}
	sql, params := inv.budget.query()
	err = s.runWith(ctx, sql, params...)
	if err == nil {
		err = cmp.Or(s.out.Flush(), s.printHead())
	}
	return s.close(err)
}

// openExisting opens a database and never creates one: a mistyped name must not
// read as a database where nothing was spent.
func (inv *invocation) openExisting() (*session, error) {
	path := inv.args[0]
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database", path)
	}
	return openSession(path, sqlite.ReadWrite, inv.ledger, inv.mode)
}

// query is the statement that does what the flags say.
func (b *budgetFlags) query() (sql string, params []*string) {
	switch {
	case b.verify:
		return verifySQL, []*string{b.head, b.archive}
	case b.archive != nil:
		return archiveSQL, []*string{b.archive, b.before}
	case b.history:
		return historySQL, []*string{b.account}
	}
	return balanceSQL, []*string{b.account}
}

// printHead prints the head of the ledger, for a later -verify, beside the rows.
func (s *session) printHead() error {
	stmt, _, err := s.conn.Prepare("SELECT ledger_head()")
	if err != nil {
		return err
	}
	defer stmt.Close()
	if _, err := stmt.Step(); err != nil {
		return err
	}
	if head := stmt.Column(0); head.Type() == sqlite.Text {
		say("ledger head %s", head.Text())
	}
	return nil
}
