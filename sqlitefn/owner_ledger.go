package sqlitefn

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

var (
	argHead    = &argument{name: "head", is: "an earlier answer of ledger_head()", kind: kindText, optional: true}
	argArchive = &argument{name: "archive", is: "the file that ledger_archive has written, if any", kind: kindFile, optional: true}

	argArchiveTo = &argument{name: "file", is: "TEXT: an SQLite file, created if it is missing; it can take further entries later", kind: kindFile}
	argBefore    = &argument{name: "before", is: "seconds since 1970 or ISO 8601 text: older entries are moved", kind: kindTime}
)

var ledgerFunctions = []*function{
	&function{
		name: "ledger_balance", section: owners, flags: ownerOnly, reads: true,
		columns: balanceColumns,
		does:    "Lists the balances: one row per account and unit that has a limit or was charged.",
		notes: "spent and reserved count from the beginning; spent does not include what is still reserved. epsilon_limit is NULL without a limit. " +
			"If the limit has a window, remaining and window_spent (which includes reservations) are those of the current window, which ends at reopens; reopens is NULL before the window's first charge.",
		example: []string{"SELECT account, unit, epsilon_limit, spent FROM ledger_balance"},
		table:   newBalanceCursor,
	},
	&function{
		name: "ledger_charges", section: owners, flags: ownerOnly, reads: true,
		columns: chargeColumns,
		does:    "Lists the charges: one row per statement, function, account and unit.",
		notes: "A ledger that was restored from a backup has a row of ledger_backup and one of ledger_restore, of account '*' and without a unit: " +
			"what was charged between their times is unknown to it.",
		example: []string{"SELECT function, account, unit, epsilon, evaluations FROM ledger_charges"},
		table:   newChargeCursor,
	},
	&function{
		name: "ledger_limits", section: owners, flags: ownerOnly, reads: true,
		columns: limitColumns,
		does:    "Lists the limits that were set, one row for each time.",
		notes:   "The ids and those of ledger_charges are in one common order.",
		example: []string{"SELECT account, unit, epsilon_limit, window_seconds FROM ledger_limits"},
		table:   newLimitCursor,
	},
	&function{
		name: "ledger_head", section: owners, flags: ownerOnly, reads: true,
		does:    "Returns the head of the ledger's chain of entries: the number of the last entry, and a hash of it and all entries before it.",
		notes:   "Keep it where those who can write the ledger's file cannot change it: with ledger_verify it is evidence that the file was not rewritten or replaced by an older copy since. NULL without a ledger.",
		example: []string{"SELECT ledger_head()"},
		scalar:  ledgerHead,
	},
	&function{
		name: "ledger_verify", section: owners, flags: ownerOnly, reads: true,
		args:    []*argument{argHead, argArchive},
		columns: verifyColumns,
		does:    "Reads the whole ledger and checks that no charge and no limit was changed, removed, inserted or moved, and that the balances match the charges; otherwise fails with an error that says what is wrong.",
		notes: "With an earlier head it also finds that the file was replaced by an older copy, or that its history was rewritten. " +
			"This is only evidence: the hashes contain no secret, so without a head kept elsewhere, whoever can write the file can write another history.",
		example: []string{"SELECT entries > 0, balances, limits FROM ledger_verify(ledger_head())"},
		table:   newVerifyCursor,
	},
	&function{
		name: "ledger_archive", section: owners, flags: ownerOnly,
		args: []*argument{argArchiveTo, argBefore},
		does: "Moves old entries of the ledger to an archive and returns how many; balances, limits and the chain stay.",
		notes: "For each account, one charge of function ledger_archive carries the sum of what was moved. " +
			"Commits at once. The entries are in the archive's table entry: `geosql FILE 'SELECT * FROM entry'` shows it.",
		example: []string{"SELECT ledger_archive('old-charges.db', '2020-01-01')"},
		scalar:  ledgerArchive,
	},
}

var balanceColumns = []string{"account TEXT", "unit TEXT", "epsilon_limit REAL", "spent REAL",
	"reserved REAL", "remaining REAL", "window_seconds INTEGER", "reopens TEXT", "last_charge TEXT",
	"window_spent REAL"}

func newBalanceCursor(s *session) cursor {
	return &rowsCursor[ledger.Balance]{
		read: ledgerRows(s, ledger.Ledger.Balances),
		show: func(c call, b ledger.Balance) {
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
			c.resultTime(7, b.Reopens)
			c.resultTime(8, b.LastCharge)
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

func newChargeCursor(s *session) cursor {
	return &rowsCursor[ledger.Charge]{
		read: ledgerRows(s, func(book ledger.Ledger) (rows []ledger.Charge, err error) {
			for ch, err := range book.Charges() {
				if err != nil {
					return nil, err
				}
				rows = append(rows, ch)
			}
			return rows, nil
		}),
		show: func(c call, ch ledger.Charge) {
			c.ResultInt(0, ch.ID)
			c.resultTime(1, ch.Time)
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

func newLimitCursor(s *session) cursor {
	return &rowsCursor[ledger.LimitChange]{
		read: ledgerRows(s, ledger.Ledger.LimitChanges),
		show: func(c call, l ledger.LimitChange) {
			c.ResultInt(0, l.ID)
			c.resultTime(1, l.Time)
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
func ledgerRows[T any](s *session, read func(ledger.Ledger) ([]T, error)) func(call) ([]T, error) {
	return func(call) ([]T, error) {
		book, err := s.ledger()
		if err != nil {
			return nil, ignoreNoLedger(err)
		}
		return read(book)
	}
}

// ignoreNoLedger returns nil for errNoLedger, since then there is nothing to show, and any
// other error as it is.
func ignoreNoLedger(err error) error {
	if err == errNoLedger {
		return nil
	}
	return err
}

// ledgerHead answers the head of the ledger's chain, or NULL without a ledger.
func ledgerHead(c call) error {
	book, err := c.session.ledger()
	if err != nil {
		return ignoreNoLedger(err)
	}
	head, err := book.Head()
	if err != nil {
		return err
	}
	c.ResultString(0, head.String())
	return nil
}

var verifyColumns = []string{"entries INTEGER", "balances INTEGER", "limits INTEGER", "head TEXT"}

// verifyCursor answers one row, or an error that says what was altered.
type verifyCursor struct{}

func newVerifyCursor(*session) cursor { return verifyCursor{} }

func (verifyCursor) filter(c call, _ uint) (sqlite.Rows, error) {
	var earlier *ledger.Head
	if c.given(argHead) {
		text := c.text(argHead)
		head, err := ledger.ParseHead(text)
		if err != nil {
			return sqlite.NoRow, c.argErrorf(argHead, "%q: %v", text, err)
		}
		earlier = &head
	}
	book, err := c.session.ledger()
	if err != nil {
		return sqlite.NoRow, err
	}
	found, err := book.Verify(c.text(argArchive), earlier)
	if err != nil {
		return sqlite.NoRow, err
	}
	c.ResultInt(0, found.Entries)
	c.ResultInt(1, found.Balances)
	c.ResultInt(2, found.Limits)
	c.ResultString(3, found.Head.String())
	return sqlite.LastRow, nil
}

func (verifyCursor) next(call) (sqlite.Rows, error) { return sqlite.NoRow, nil }
func (verifyCursor) close()                         {}

// ledgerArchive answers how many entries it moved.
func ledgerArchive(c call) error {
	book, err := c.session.ledger()
	if err != nil {
		return err
	}
	moved, err := book.Archive(c.text(argArchiveTo), c.time(argBefore))
	if err != nil {
		return err
	}
	c.ResultInt(0, moved)
	return nil
}
