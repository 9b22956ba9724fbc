package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
)

const (
	historySQL = `
SELECT id, time, function, account, unit, epsilon, evaluations, NULL AS epsilon_limit, NULL AS window_seconds
FROM ledger_charges WHERE account = ?1 OR ?1 IS NULL
UNION ALL
SELECT id, time, 'budget_limit', account, unit, NULL, NULL, epsilon_limit, window_seconds
FROM ledger_limits WHERE account = ?1 OR ?1 IS NULL
ORDER BY id`

	archiveSQL = `SELECT ledger_archive(?1, ?2) AS archived`
)

var budgetCommand = &cli.Command{
	Name: "budget", Operands: "DB|LEDGERFILE|URL", Min: 1, Max: 1,
	Summary: "show spent budgets; verify or archive the ledger",
	Details: `Also prints the head of the ledger on standard error. The head stands for the whole history:
keep a copy elsewhere. --verify reads the whole ledger. It fails if a charge or a limit was
changed, removed or moved, and, given an earlier head, if an older file was put back. It also
says which versions of geosql have written to the ledger, since when and, to the hour, until when.
--near SHARE shows who has used at least that share of a limit, the fullest first, 100 on a page.
LEDGERFILE is the ledger of any number of databases or releases, and so is a postgres:// URL.
--archive FILE with --before TIME moves old charges to FILE; balances and evidence stay.`,
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

// budgetFlags holds the flags of the command budget. A flag that is not given is nil or false.
type budgetFlags struct {
	output                         session.Flags
	account, head, archive, before *string
	near                           float64 // NaN if it is not given
	page                           int
	history, verify                bool
}

func (f *budgetFlags) register(fs *flag.FlagSet) {
	f.output.Register(fs)
	cli.Switch(fs, "history", "show every charge and every limit that was set", func() { f.history = true })
	cli.Switch(fs, "verify", "check that nobody has changed the ledger by other means", func() { f.verify = true })
	cli.OptionalVar(fs, &f.account, "account", "show only the balances or the history of account `A`")
	f.near = math.NaN()
	cli.NumberVar(fs, &f.near, "near", "show the accounts that have used at least this `SHARE` of a limit, such as 0.9")
	fs.IntVar(&f.page, "page", 1, "with --near, show page `N`")
	cli.OptionalVar(fs, &f.head, "head", "with --verify, check that the history up to the earlier `HEAD` is still there")
	cli.OptionalVar(fs, &f.archive, "archive", "move old charges to `FILE`; with --verify, read them there too")
	cli.OptionalVar(fs, &f.before, "before", "archive the charges made before `TIME`")
}

// check refuses combinations of flags that mean nothing.
func (f *budgetFlags) check() error {
	switch {
	case f.near < 0 || f.near > 1:
		return cli.UsageError("-near takes a share of a limit from 0 to 1")
	case f.page < 1, f.page > 1 && math.IsNaN(f.near):
		return cli.UsageError("-page works with -near only, and the first is 1")
	case !math.IsNaN(f.near) && (f.verify || f.history || f.before != nil || f.account != nil):
		return cli.UsageError("-near goes with no other action and no -account")
	case f.head != nil && !f.verify:
		return cli.UsageError("-head works with -verify only")
	case f.archive != nil && !f.verify && f.before == nil:
		return cli.UsageError("-archive needs -before TIME or -verify")
	case f.before != nil && f.archive == nil:
		return cli.UsageError("-before works with -archive FILE only")
	case f.verify && (f.before != nil || f.history || f.account != nil), f.before != nil && (f.history || f.account != nil):
		return cli.UsageError("do one thing at a time: -verify, -archive with -before, or show balances or -history, also of one -account")
	}
	return nil
}

// administer shows, verifies or archives the ledger of a database, as the flags say.
func administer(ctx context.Context, f budgetFlags, db string) error {
	s, err := session.OpenBudgets(db, f.output)
	if err != nil {
		return err
	}
	if f.verify {
		err = f.verifyLedger(ctx, s, db)
	} else {
		err = f.show(ctx, s)
	}
	if err == nil {
		err = cmp.Or(s.Out.Flush(), printHead(s.Conn))
	}
	if err == nil {
		err = sayCopied(db, f.output.Ledger)
	}
	return s.Close(err)
}

// sayCopied says on standard error that the ledger of a database is a backup, or that it was
// restored from one.
func sayCopied(path string, f store.LedgerFlags) error {
	b, err := store.Find(path, f)
	if err != nil {
		return err
	}
	if b.OnServer() { // geosql makes no backups there
		return nil
	}
	l, err := b.OpenFile()
	if l == nil || err != nil {
		return err
	}
	defer l.Close()
	to, at, err := l.Retired()
	if err != nil {
		return err
	}
	if to != "" {
		cli.Say("this ledger was moved to %s at %s: nothing can be charged to it here", to, at.Format(time.RFC3339))
		return nil
	}
	origin, err := l.Origin()
	if err != nil {
		return err
	}
	restored, err := l.Restorations()
	if err != nil {
		return err
	}
	for _, r := range restored {
		cli.Say("restored at %s from a backup of %s: charges in between are unknown to this ledger",
			r.Restored.Format(time.RFC3339), r.Copied.Format(time.RFC3339))
	}
	if origin != nil {
		cli.Say("this is a backup of %s: nothing can be charged before 'geosql restore'", origin.Time.Format(time.RFC3339))
	}
	return nil
}

// show runs the statement that the flags ask for.
func (f *budgetFlags) show(ctx context.Context, s *session.Session) error {
	switch {
	case f.archive != nil:
		return s.RunWith(ctx, archiveSQL, f.archive, f.before)
	case f.history:
		return s.RunWith(ctx, historySQL, f.account)
	case !math.IsNaN(f.near):
		return s.ShowNear(ctx, f.near, f.page)
	}
	return s.ShowBalances(ctx, f.account)
}

// A verifiedRow is the row of a ledger that is in order.
type verifiedRow struct {
	Entries  int64  `json:"entries"`
	Balances int64  `json:"balances"`
	Limits   int64  `json:"limits"`
	Head     string `json:"head"`
}

// verifyLedger verifies the ledger that a session has, and shows how far it is.
func (f *budgetFlags) verifyLedger(ctx context.Context, s *session.Session, db string) error {
	var archive string
	var earlier *ledger.Head
	if f.archive != nil {
		archive = *f.archive
	}
	if f.head != nil {
		head, err := ledger.ParseHead(*f.head)
		if err != nil {
			return fmt.Errorf("budget: -head %q: %w", *f.head, err)
		}
		earlier = &head
	}
	b, err := store.Find(db, f.output.Ledger)
	if err != nil {
		return err
	}
	l, err := b.Open()
	switch {
	case err != nil:
		return err
	case l == nil:
		return fmt.Errorf("budget: %s has no ledger: nobody has set a limit", db)
	}
	line, begun := cli.NewTerminalLine(), time.Now()
	steps, doing := line.Steps(), "verifying "+engines.Label(b.Ledger)
	steps(doing, 0)
	v, err := l.Verify(archive, earlier, func(share float64) error {
		steps(doing, share)
		return context.Cause(ctx)
	})
	line.Clear()
	if err = cmp.Or(err, l.Close()); err != nil {
		return err
	}
	if err := session.ShowRows(ctx, s, []verifiedRow{{v.Entries, v.Balances, v.Limits, v.Head.String()}}); err != nil {
		return err
	}
	if err := s.Out.Flush(); err != nil {
		return err
	}
	size := ""
	if !b.OnServer() {
		size = cli.Size(b.Ledger, archive) + ", "
	}
	cli.Say("verified in %s%s", size, cli.Pace(v.Entries, "entries", time.Since(begun)))
	for _, p := range v.Programs {
		cli.Say("written to by geosql %s, from %s to %s", p.Build, p.First.Format(time.RFC3339), p.Last.Format(time.RFC3339))
	}
	return nil
}

// printHead prints the head of the ledger on standard error, for a later -verify.
func printHead(conn *sqlite.Conn) error {
	return store.First(conn, "SELECT ledger_head()", func(head sqlite.Value) {
		if head.Type() == sqlite.Text {
			cli.Say("ledger head %s", head.Text())
		}
	})
}
