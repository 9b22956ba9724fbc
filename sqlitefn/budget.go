package sqlitefn

import (
	"fmt"

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
	window, err := c.window(3)
	if err != nil {
		return err
	}
	book, err := s.createLedger()
	if err != nil {
		return err
	}
	if err := book.SetLimit(account, unit, limit, window); err != nil {
		return err
	}
	who := "account " + quoted([]byte(account))
	if account == "*" {
		who = "every account without a limit of its own"
	}
	c.ResultString(0, fmt.Sprintf("%s: %s/%s%s", who, limit, unit, everyWindow(window)))
	return nil
}

// everyWindow says what a window is where its owner sets it.
func everyWindow(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return fmt.Sprintf(" per window of %d s (a policy, not a theorem: losses add up across windows)", seconds)
}

// window is the optional length of a window in seconds, 0 where it is not given.
func (c call) window(i int) (int64, error) {
	if !c.given(i) {
		return 0, nil
	}
	v := c.Arg(i)
	if v.Type() != sqlite.Integer || v.Int() < 1 || v.Int() > ledger.MaxWindow {
		return 0, c.bad(i, "must be a whole number of seconds from 1 to %d", int64(ledger.MaxWindow))
	}
	return v.Int(), nil
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

	accounts intern.Table
	items    []ledger.Item // of each account
}

func newReserveGroup(s *session, _ *function) group {
	return &reserveGroup{session: s}
}

func (g *reserveGroup) step(c call) error {
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
	book, err := g.session.chargeable()
	if err != nil {
		return spendError(err, g.items[0].Account, budget.Price{Unit: g.unit, Amount: g.items[0].Epsilon})
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
