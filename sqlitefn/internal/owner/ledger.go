package owner

import (
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argHead    = &frame.Arg{Name: "head", Is: "an earlier answer of ledger_head()", Kind: frame.Text, Optional: true}
	argArchive = &frame.Arg{Name: "archive", Is: "the file that ledger_archive has written, if any", Kind: frame.File, Optional: true}

	argOnly = &frame.Arg{Name: "only", Is: "the account", Kind: frame.Text, Optional: true}

	argArchiveTo = &frame.Arg{Name: "file", Is: "TEXT: an SQLite file, created if it is missing; it can take further entries later", Kind: frame.File}
	argBefore    = &frame.Arg{Name: "before", Is: "seconds or milliseconds since 1970, or ISO 8601 text: older entries are moved", Kind: frame.Time}
)

var ledgerFunctions = []*frame.Function{
	{
		Name: "ledger_balance", Section: frame.ForOwner, Flags: frame.OwnerOnly, Reads: true,
		Args:    []*frame.Arg{argOnly},
		Columns: balanceColumns,
		Does:    "Lists the balances: one row per account and unit that has a limit or was charged. With an account it reads no other.",
		Notes: "spent and reserved count from the beginning; spent does not include reservations. epsilon_limit is NULL without a limit. " +
			"Rows are read a page at a time, in the order of accounts and units: where others charge meanwhile, two rows may be of different moments. " +
			"If the limit has a window, remaining and window_spent (which includes reservations) are those of the current window, which ends at reopens; reopens is NULL before the window's first charge.",
		Examples: []string{"SELECT account, unit, epsilon_limit, spent FROM ledger_balance LIMIT 3", "SELECT unit, remaining FROM ledger_balance('ana')"},
		Table:    newBalanceCursor,
	},
	{
		Name: "ledger_charges", Section: frame.ForOwner, Flags: frame.OwnerOnly, Reads: true,
		Columns: chargeColumns,
		Does:    "Lists the charges: one row per statement, function, account and unit.",
		Notes: "A ledger that was restored from a backup has a row of ledger_backup and one of ledger_restore, of account '*' and without a unit: " +
			"charges between their times are unknown to it.",
		Examples: []string{"SELECT function, account, unit, epsilon, evaluations FROM ledger_charges LIMIT 3"},
		Table:    newChargeCursor,
	},
	{
		Name: "ledger_limits", Section: frame.ForOwner, Flags: frame.OwnerOnly, Reads: true,
		Columns:  limitColumns,
		Does:     "Lists the limits that were set, one row for each time.",
		Notes:    "The ids and those of ledger_charges are in one common order.",
		Examples: []string{"SELECT account, unit, epsilon_limit, window_seconds FROM ledger_limits"},
		Table:    newLimitCursor,
	},
	{
		Name: "ledger_head", Section: frame.ForOwner, Returns: "TEXT", Flags: frame.OwnerOnly, Reads: true,
		Does:     "Returns the head of the ledger's chain of entries: the number of the last entry, and a hash of it and all entries before it.",
		Notes:    "Keep it where nobody who can write the ledger's file can change it: with ledger_verify it is evidence that the file was not rewritten or replaced by an older copy since. NULL without a ledger.",
		Examples: []string{"SELECT head = ledger_head() FROM ledger_verify"},
		Scalar:   ledgerHead,
	},
	{
		Name: "ledger_verify", Section: frame.ForOwner, Returns: "TEXT", Flags: frame.OwnerOnly, Reads: true,
		Args:    []*frame.Arg{argHead, argArchive},
		Columns: verifyColumns,
		Does:    "Reads the whole ledger and checks that no charge and no limit was changed, removed, inserted or moved, and that the balances match the charges; otherwise fails with an error that names the fault.",
		Notes: "With an earlier head it also finds that the file was replaced by an older copy, or that its history was rewritten. " +
			"This is only evidence: the hashes contain no secret, so without a head kept elsewhere, anybody who can write the file can write another history.",
		Examples: []string{"SELECT entries > 0, balances, limits FROM ledger_verify(ledger_head())"},
		Table:    newVerifyCursor,
	},
	{
		Name: "ledger_archive", Section: frame.ForOwner, Returns: "INTEGER", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argArchiveTo, argBefore},
		Does: "Moves old entries of the ledger to an archive and returns how many; balances, limits and the chain stay.",
		Notes: "For each account, one charge of function ledger_archive carries the sum of the moved charges. " +
			"Commits at once. The entries are in the archive's table entry: `geosql FILE 'SELECT * FROM entry'` shows it.",
		Examples: []string{"SELECT ledger_archive('old-charges.db', '2020-01-01')"},
		Scalar:   ledgerArchive,
	},
}

var balanceColumns = []string{"account TEXT", "unit TEXT", "epsilon_limit REAL", "spent REAL",
	"reserved REAL", "remaining REAL", "window_seconds INTEGER", "reopens TEXT", "last_charge TEXT",
	"window_spent REAL"}

func newBalanceCursor(s *frame.Session) frame.Cursor {
	var l ledger.Ledger
	var only bool
	return &frame.RowsCursor[ledger.Balance]{
		Read: func(c frame.Call) (balances []ledger.Balance, err error) {
			if l, err = s.Ledger(); err != nil {
				return nil, frame.IgnoreNoLedger(err)
			}
			if only = c.Given(argOnly); only {
				return l.AccountBalances(c.Text(argOnly))
			}
			return l.BalancesAfter("", "")
		},
		After: func(b ledger.Balance) ([]ledger.Balance, error) {
			if only {
				return nil, nil
			}
			return l.BalancesAfter(b.Account, b.Unit)
		},
		Show: func(c frame.Call, b ledger.Balance) {
			c.ResultString(0, b.Account)
			c.ResultString(1, string(b.Unit))
			c.ResultNull(2)
			if b.Limited {
				c.ResultFloat(2, b.Limit.Float64())
			}
			c.ResultFloat(3, b.Spent.Float64())
			c.ResultFloat(4, b.Reserved.Float64())
			c.ResultFloat(5, b.Remaining().Float64())
			c.ResultNull(6)
			c.ResultTime(7, b.Reopens)
			c.ResultTime(8, b.LastCharge)
			c.ResultNull(9)
			if b.Window > 0 {
				c.ResultInt(6, b.Window)
				c.ResultFloat(9, b.WindowSpent.Float64())
			}
		},
	}
}

var chargeColumns = []string{"id INTEGER", "time TEXT", "function TEXT", "account TEXT",
	"unit TEXT", "epsilon REAL", "evaluations INTEGER"}

func newChargeCursor(s *frame.Session) frame.Cursor {
	return &frame.RowsCursor[ledger.Charge]{
		Read: ledgerRows(s, func(l ledger.Ledger) (rows []ledger.Charge, err error) {
			for ch, err := range l.Charges() {
				if err != nil {
					return nil, err
				}
				rows = append(rows, ch)
			}
			return rows, nil
		}),
		Show: func(c frame.Call, ch ledger.Charge) {
			c.ResultInt(0, ch.ID)
			c.ResultTime(1, ch.Time)
			c.ResultString(2, ch.Function)
			c.ResultString(3, ch.Account)
			c.ResultString(4, string(ch.Unit))
			c.ResultFloat(5, ch.Epsilon.Float64())
			c.ResultInt(6, ch.Evaluations)
		},
	}
}

var limitColumns = []string{"id INTEGER", "time TEXT", "account TEXT", "unit TEXT",
	"epsilon_limit REAL", "window_seconds INTEGER"}

func newLimitCursor(s *frame.Session) frame.Cursor {
	return &frame.RowsCursor[ledger.LimitChange]{
		Read: ledgerRows(s, ledger.Ledger.LimitChanges),
		Show: func(c frame.Call, l ledger.LimitChange) {
			c.ResultInt(0, l.ID)
			c.ResultTime(1, l.Time)
			c.ResultString(2, l.Account)
			c.ResultString(3, string(l.Unit))
			c.ResultFloat(4, l.Limit.Float64())
			c.ResultNull(5)
			if l.Window > 0 {
				c.ResultInt(5, l.Window)
			}
		},
	}
}

// ledgerRows returns a function that reads rows of the ledger, none if there is no ledger.
func ledgerRows[T any](s *frame.Session, read func(ledger.Ledger) ([]T, error)) func(frame.Call) ([]T, error) {
	return func(frame.Call) ([]T, error) {
		l, err := s.Ledger()
		if err != nil {
			return nil, frame.IgnoreNoLedger(err)
		}
		return read(l)
	}
}

// ledgerHead answers the head of the ledger's chain, or NULL without a ledger.
func ledgerHead(c frame.Call) error {
	l, err := c.Session.Ledger()
	if err != nil {
		return frame.IgnoreNoLedger(err)
	}
	head, err := l.Head()
	if err != nil {
		return err
	}
	c.ResultString(0, head.String())
	return nil
}

var verifyColumns = []string{"entries INTEGER", "balances INTEGER", "limits INTEGER", "head TEXT"}

// newVerifyCursor answers one row, or an error that names the altered part.
func newVerifyCursor(*frame.Session) frame.Cursor {
	return &frame.RowsCursor[ledger.Verified]{
		Read: verify,
		Show: func(c frame.Call, found ledger.Verified) {
			c.ResultInt(0, found.Entries)
			c.ResultInt(1, found.Balances)
			c.ResultInt(2, found.Limits)
			c.ResultString(3, found.Head.String())
		},
	}
}

func verify(c frame.Call) ([]ledger.Verified, error) {
	var earlier *ledger.Head
	if c.Given(argHead) {
		text := c.Text(argHead)
		head, err := ledger.ParseHead(text)
		if err != nil {
			return nil, c.Errorf(argHead, "%q: %v", text, err)
		}
		earlier = &head
	}
	l, err := c.Session.Ledger()
	if err != nil {
		return nil, err
	}
	found, err := l.Verify(c.Text(argArchive), earlier, nil)
	return []ledger.Verified{found}, err
}

// ledgerArchive answers how many entries it moved.
func ledgerArchive(c frame.Call) error {
	l, err := c.Session.Ledger()
	if err != nil {
		return err
	}
	moved, err := l.Archive(c.Text(argArchiveTo), c.Time(argBefore))
	if err != nil {
		return err
	}
	c.ResultInt(0, moved)
	return nil
}
