package sqlitefn

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// budgetLimit commits at once, whatever becomes of the transaction around it.
func budgetLimit(s *session, c call) error {
	account, err := c.limitedAccount(0)
	if err != nil {
		return err
	}
	unit, err := c.unit(1)
	if err != nil {
		return err
	}
	epsilon, err := c.decimal(2)
	if err != nil {
		return err
	}
	limit, err := budget.Limit(epsilon)
	if err != nil {
		return err
	}
	if c.given(3) {
		return c.bad(3, "is not supported yet: a limit holds for ever")
	}
	book, err := s.createLedger()
	if err != nil {
		return err
	}
	if err := book.SetLimit(account, unit, limit); err != nil {
		return err
	}
	who := "account " + quoted([]byte(account))
	if account == "*" {
		who = "every account without a limit of its own"
	}
	c.ResultString(0, fmt.Sprintf("%s: %s/%s", who, limit, unit))
	return nil
}

// limitedAccount is account, but '*' is one too.
func (c call) limitedAccount(i int) (string, error) {
	if v := c.Arg(i); v.Type() == sqlite.Text && string(v.Bytes()) == "*" {
		return "*", nil
	}
	var room [20]byte
	name, err := c.account(i, &room)
	return string(name), err
}

// reserveGroup collects what budget_reserve reserves.
type reserveGroup struct {
	session *session
	unit    budget.Unit
	failed  bool

	accounts intern.Table
	items    []ledger.Item // of each account
}

func newReserveGroup(s *session, _ *function) group {
	return &reserveGroup{session: s}
}

func (g *reserveGroup) step(c call) error {
	err := g.row(c)
	g.failed = g.failed || err != nil
	return err
}

func (g *reserveGroup) row(c call) error {
	var room [20]byte
	account, err := c.account(0, &room)
	if err != nil {
		return err
	}
	unit, err := c.unit(1)
	if err != nil {
		return err
	}
	if g.unit != "" && unit != g.unit {
		return c.bad(1, "changes within a group")
	}
	g.unit = unit
	if _, err := c.epsilon(2); err != nil {
		return err
	}
	eps, err := c.decimal(2)
	if err != nil {
		return err
	}
	cost, err := budget.Cost(eps)
	if err != nil {
		return err
	}
	i := g.accounts.Number(account)
	if i == len(g.items) {
		g.items = append(g.items, ledger.Item{Account: string(account)})
	}
	if g.items[i].Epsilon > budget.Max-cost {
		return fmt.Errorf("account %s would reserve more than any budget holds", quoted(account))
	}
	g.items[i].Epsilon += cost
	return nil
}

// final reserves for everybody or nobody and answers the number of accounts.
func (g *reserveGroup) final(c call) error {
	if g.failed {
		return nil
	}
	book, err := g.session.ledger()
	if err != nil {
		return g.session.spendError(err, g.items[0].Account, g.unit, g.items[0].Epsilon)
	}
	if err := book.Reserve(g.unit, g.items); err != nil {
		return err
	}
	c.ResultInt(0, int64(len(g.items)))
	return nil
}

// balance is the balance that the first two arguments name. Where there is no
// ledger or it cannot be read, nothing can be charged and the balance is empty.
func (s *session) balance(c call) (ledger.Balance, error) {
	account, err := c.limitedAccount(0)
	if err != nil {
		return ledger.Balance{}, err
	}
	unit, err := c.unit(1)
	if err != nil {
		return ledger.Balance{}, err
	}
	book, err := s.ledger()
	if err != nil {
		return ledger.Balance{}, nil
	}
	b, err := book.Balance(account, unit)
	if err != nil {
		return ledger.Balance{}, nil
	}
	return b, nil
}

func budgetSpent(s *session, c call) error {
	b, err := s.balance(c)
	if err != nil {
		return err
	}
	c.ResultFloat(0, (b.Spent + b.Reserved).Float64())
	return nil
}

func budgetRemaining(s *session, c call) error {
	b, err := s.balance(c)
	if err != nil {
		return err
	}
	c.ResultFloat(0, b.Remaining().Float64())
	return nil
}

// rowsCursor runs through rows that were read whole.
type rowsCursor[T any] struct {
	read func() ([]T, error)
	show func(call, T)
	rows []T
}

func (r *rowsCursor[T]) filter(c call, _ uint) (sqlite.Rows, error) {
	var err error
	if r.rows, err = r.read(); err != nil {
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
	"reserved REAL", "remaining REAL", "window_seconds INTEGER", "reopens TEXT", "last_charge TEXT"}

func newBalanceCursor(s *session, _ *function) cursor {
	return &rowsCursor[ledger.Balance]{
		read: func() ([]ledger.Balance, error) {
			book, err := s.ledger()
			if err != nil {
				return nil, ignoreNoLedger(err)
			}
			return book.Balances()
		},
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
			c.ResultNull(7)
			c.resultTime(8, b.LastCharge)
		},
	}
}

var chargeColumns = []string{"id INTEGER", "time TEXT", "function TEXT", "account TEXT",
	"unit TEXT", "epsilon REAL", "evaluations INTEGER"}

func newChargeCursor(s *session, _ *function) cursor {
	return &rowsCursor[ledger.Charge]{
		read: func() ([]ledger.Charge, error) {
			book, err := s.ledger()
			if err != nil {
				return nil, ignoreNoLedger(err)
			}
			var rows []ledger.Charge
			for ch, err := range book.Charges() {
				if err != nil {
					return nil, err
				}
				rows = append(rows, ch)
			}
			return rows, nil
		},
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
