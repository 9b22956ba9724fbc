package sqlitefn

import (
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// rowsCursor runs through rows that were read whole.
type rowsCursor[T any] struct {
	read func(call) ([]T, error)
	show func(call, T)
	rows []T
}

func (r *rowsCursor[T]) filter(c call, _ uint) (sqlite.Rows, error) {
	var err error
	if r.rows, err = r.read(c); err != nil {
		return sqlite.NoRow, err
	}
	return r.next(c)
}

func (r *rowsCursor[T]) next(c call) (sqlite.Rows, error) {
	if len(r.rows) == 0 {
		return sqlite.NoRow, nil
	}
	r.show(c, r.rows[0])
	r.rows = r.rows[1:]
	return sqlite.OneRow, nil
}

func (r *rowsCursor[T]) close() {}

var balanceColumns = []string{"account TEXT", "unit TEXT", "epsilon_limit REAL", "spent REAL",
	"reserved REAL", "remaining REAL", "window_seconds INTEGER", "reopens TEXT", "last_charge TEXT",
	"window_spent REAL"}

func newBalanceCursor(s *session, _ *function) cursor {
	return &rowsCursor[ledger.Balance]{
		read: ofLedger(s, (*ledger.Ledger).Balances),
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

func newChargeCursor(s *session, _ *function) cursor {
	return &rowsCursor[ledger.Charge]{
		read: ofLedger(s, func(book *ledger.Ledger) (rows []ledger.Charge, err error) {
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

func newLimitCursor(s *session, _ *function) cursor {
	return &rowsCursor[ledger.LimitChange]{
		read: ofLedger(s, (*ledger.Ledger).LimitChanges),
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

// ofLedger reads rows of the ledger, none where there is none.
func ofLedger[T any](s *session, read func(*ledger.Ledger) ([]T, error)) func(call) ([]T, error) {
	return func(call) ([]T, error) {
		book, err := s.ledger()
		if err != nil {
			return nil, ignoreNoLedger(err)
		}
		return read(book)
	}
}

// ignoreNoLedger: where nobody has set a limit there is nothing to show.
func ignoreNoLedger(err error) error {
	if err == errNoLedger {
		return nil
	}
	return err
}

// resultTime sets a time as ISO-8601 UTC text, NULL for none.
func (c call) resultTime(i int, t time.Time) {
	if t.IsZero() {
		c.ResultNull(i)
		return
	}
	c.ResultString(i, t.UTC().Format(time.RFC3339))
}

// ledgerHead answers the head of the ledger's chain, NULL where there is none.
func ledgerHead(s *session, c call) error {
	book, err := s.ledger()
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

// verifyCursor answers one row, or the error of what is not as it was written.
type verifyCursor struct{ session *session }

func newVerifyCursor(s *session, _ *function) cursor { return verifyCursor{s} }

func (v verifyCursor) filter(c call, _ uint) (sqlite.Rows, error) {
	var earlier *ledger.Head
	if c.given(0) {
		text, err := c.text(0)
		if err != nil {
			return sqlite.NoRow, err
		}
		head, err := ledger.ParseHead(string(text))
		if err != nil {
			return sqlite.NoRow, c.bad(0, "%q: %v", text, err)
		}
		earlier = &head
	}
	archive := ""
	if c.given(1) {
		var err error
		if archive, err = c.file(1); err != nil {
			return sqlite.NoRow, err
		}
	}
	book, err := v.session.ledger()
	if err != nil {
		return sqlite.NoRow, err
	}
	found, err := book.Verify(archive, earlier)
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
func ledgerArchive(s *session, c call) error {
	file, err := c.file(0)
	if err != nil {
		return err
	}
	before, err := c.time(1)
	if err != nil {
		return err
	}
	book, err := s.ledger()
	if err != nil {
		return err
	}
	moved, err := book.Archive(file, before)
	if err != nil {
		return err
	}
	c.ResultInt(0, moved)
	return nil
}
