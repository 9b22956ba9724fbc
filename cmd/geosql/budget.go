package main

import (
	"cmp"
	"context"
	"flag"

	"github.com/geosql/geosql/internal/cli"
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

var budgetCommand = &cli.Command{
	Name: "budget", Operands: "DB", Min: 1, Max: 1,
	Summary: "what every account has spent and what remains; the ledger, verified or archived",
	Details: `On standard error stands the head of the ledger, which stands for its whole history: note it
elsewhere. --verify reads the whole ledger and fails where a charge or a limit was changed,
removed or moved, or, with an earlier head, an older file was put back. --archive FILE with
--before TIME moves old charges to FILE; balances and the evidence stay.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f budgetFlags
		f.register(fs)
		return func(ctx context.Context, operands []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return administer(ctx, f, operands[0])
		}
	},
}

// budgetFlags are those of the command budget; nil and false are not given.
type budgetFlags struct {
	output                         outputFlags
	account, head, archive, before *string
	history, verify                bool
}

func (f *budgetFlags) register(fs *flag.FlagSet) {
	f.output.register(fs)
	cli.Switch(fs, "history", "every charge, and every limit that was set", func() { f.history = true })
	cli.Switch(fs, "verify", "look for what was changed behind the ledger's back", func() { f.verify = true })
	optionalVar(fs, &f.account, "account", "balances or the history of account `A` alone")
	optionalVar(fs, &f.head, "head", "verify that the history of the earlier `HEAD` is there")
	optionalVar(fs, &f.archive, "archive", "move old charges to `FILE`; with --verify, read it too")
	optionalVar(fs, &f.before, "before", "the charges to archive are older than `TIME`")
}

// check refuses flags that say nothing.
func (f *budgetFlags) check() error {
	switch {
	case f.head != nil && !f.verify:
		return cli.UsageError("-head is for -verify")
	case f.archive != nil && !f.verify && f.before == nil:
		return cli.UsageError("-archive needs -before TIME, or -verify")
	case f.before != nil && f.archive == nil:
		return cli.UsageError("-before is for -archive FILE")
	case f.verify && (f.before != nil || f.history || f.account != nil), f.before != nil && (f.history || f.account != nil):
		return cli.UsageError("one thing at a time: -verify, -archive with -before, or balances or -history with -account")
	}
	return nil
}

// administer does what the flags say with the ledger of a database.
func administer(ctx context.Context, f budgetFlags, db string) error {
	s, err := openExisting(db, f.output)
	if err != nil {
		return err
	}
	sql, params := f.query()
	err = s.runWith(ctx, sql, params...)
	if err == nil {
		err = cmp.Or(s.out.Flush(), s.printHead())
	}
	return s.close(err)
}

// query returns the statement that does what the flags say.
func (f *budgetFlags) query() (sql string, params []*string) {
	switch {
	case f.verify:
		return verifySQL, []*string{f.head, f.archive}
	case f.archive != nil:
		return archiveSQL, []*string{f.archive, f.before}
	case f.history:
		return historySQL, []*string{f.account}
	}
	return balanceSQL, []*string{f.account}
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
		cli.Say("ledger head %s", head.Text())
	}
	return nil
}
