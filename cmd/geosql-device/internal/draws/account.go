package draws

import (
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger/rules"
)

// An Account pays from the budget that a document has. Now is in microseconds since 1970.
type Account struct {
	Document string
	Name     string
	Now      int64
}

// Limit sets a limit in a unit and returns the document with it. The window is in seconds; 0: the limit never reopens.
func (a Account) Limit(unit budget.Unit, epsilon float64, window int64) (string, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return "", err
	}
	amount, err := budget.Limit(budget.Decimal(epsilon))
	if err != nil {
		return "", err
	}
	if !printable.Is(string(unit)) {
		return "", errors.New("unit must be the name of a unit, such as 'm' or 'kWh'")
	}
	if window < 0 || window > rules.MaxWindow {
		return "", fmt.Errorf("window must be a whole number of seconds from 1 to %d", int64(rules.MaxWindow))
	}
	d.entry(limited, a.Name, string(unit)).numbers = [...]int64{int64(amount), window, a.Now}
	return d.text(), nil
}

// Charge charges a draw and returns the document with the charge, which the store makes durable before the draw.
func (a Account) Charge(unit budget.Unit, cost budget.Amount) (string, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return "", err
	}
	if _, err := d.pay(a.Name, unit, cost, a.Now); err != nil {
		return "", err
	}
	return d.text(), nil
}

// Balance returns the state of the account's budget of a unit.
func (a Account) Balance(unit budget.Unit) (rules.Balance, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return rules.Balance{}, err
	}
	s, err := d.standing(a.Name, unit, a.Now)
	if err != nil {
		return rules.Balance{}, err
	}
	return s.Balance, nil
}

// standing returns the standing of an account under the ledger's rules at a time.
func (d *document) standing(account string, unit budget.Unit, now int64) (*rules.Standing, error) {
	s := &rules.Standing{Balance: rules.Balance{Account: account, Unit: unit}}
	l := d.find(limited, account, string(unit))
	if l == nil {
		l = d.find(limited, rules.Everyone, string(unit))
	}
	if l != nil {
		s.Limited, s.Limit, s.Window, s.LimitSet = true, budget.Amount(l.numbers[0]), l.numbers[1], l.numbers[2]
	}
	if e := d.find(spent, account, string(unit)); e != nil {
		s.Spent, s.Stored = budget.Amount(e.numbers[0]), rules.WindowUse{Start: e.numbers[1], Spent: budget.Amount(e.numbers[2])}
	}
	if s.At(now) != nil {
		return nil, errDamaged
	}
	return s, nil
}

// add changes the spending of a standing's account.
func (d *document) add(s *rules.Standing, net budget.Amount) {
	use := s.WindowAfter(net)
	d.entry(spent, s.Account, string(s.Unit)).numbers = [...]int64{int64(s.Spent + net), use.Start, int64(use.Spent)}
}

// pay charges an account, if it can pay.
func (d *document) pay(account string, unit budget.Unit, cost budget.Amount, now int64) (rules.Term, error) {
	s, err := d.standing(account, unit, now)
	if err != nil {
		return rules.Term{}, err
	}
	if r := s.Refuse(cost, 0); r != nil {
		return rules.Term{}, refusal{r}
	}
	d.add(s, cost)
	return s.Term, nil
}

// A refusal is that of the ledger, without its SQL.
type refusal struct{ *rules.RefusalError }

func (r refusal) Error() string {
	if r.Limited {
		return r.RefusalError.Error()
	}
	return fmt.Sprintf("account %s has no budget in unit %s; set one: budget.limit(%s, %s, EPSILON) or budget.limit('*', %s, EPSILON)",
		printable.SQL(r.Account), printable.SQL(string(r.Unit)), printable.SQL(r.Account), printable.SQL(string(r.Unit)), printable.SQL(string(r.Unit)))
}

// Details returns the fields of RefusedError.
func (r refusal) Details() map[string]any {
	details := map[string]any{
		"account": r.Account, "unit": string(r.Unit), "asked": r.Asked.Float64(), "left": r.Left.Float64(), "short": (r.Asked - r.Left).Float64(),
	}
	if !r.Reopens.IsZero() {
		details["reopens"] = r.Reopens.Format(time.RFC3339)
	}
	return details
}
