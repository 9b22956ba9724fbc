package draws

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger/rules"
)

// A document is the text that a store on the device keeps: limits, spending and the runs of traces. Amounts are whole
// numbers of 1e-12, in strings, since JavaScript's numbers end at 2^53. Times are microseconds since 1970.
type document struct {
	Version  int                                    `json:"version"`
	Limits   map[string]map[budget.Unit]*limitEntry `json:"limits"`
	Accounts map[string]map[budget.Unit]*spending   `json:"accounts"`
	Traces   map[string]map[string][]byte           `json:"traces"`
}

type limitEntry struct {
	Limit  budget.Amount `json:"limit,string"`
	Window int64         `json:"window"` // seconds; 0: never reopens
	Set    int64         `json:"set"`
}

type spending struct {
	Spent       budget.Amount `json:"spent,string"`
	WindowStart int64         `json:"windowStart"`
	WindowSpent budget.Amount `json:"windowSpent,string"`
}

var errDamaged = errors.New("the budget is damaged: nothing can be charged")

// parseDocument reads a document; an empty text is that of a new budget.
func parseDocument(text string) (*document, error) {
	d := &document{Version: 1}
	if text != "" && (json.Unmarshal([]byte(text), d) != nil || d.Version != 1) {
		return nil, errDamaged
	}
	return d, nil
}

func (d *document) text() string {
	text, _ := json.Marshal(d) // it has nothing that JSON has not
	return string(text)
}

// entry returns the entry of a map of maps, made if it is not there.
func entry[A, B comparable, V any](all *map[A]map[B]*V, a A, b B) *V {
	if *all == nil {
		*all = map[A]map[B]*V{}
	}
	if (*all)[a] == nil {
		(*all)[a] = map[B]*V{}
	}
	if (*all)[a][b] == nil {
		(*all)[a][b] = new(V)
	}
	return (*all)[a][b]
}

// standing returns the standing of an account under the ledger's rules at a time.
func (d *document) standing(account string, unit budget.Unit, now int64) (*rules.Standing, error) {
	s := &rules.Standing{Balance: rules.Balance{Account: account, Unit: unit}}
	l := d.Limits[account][unit]
	if l == nil {
		l = d.Limits[rules.Everyone][unit]
	}
	if l != nil {
		s.Limited, s.Limit, s.Window, s.LimitSet = true, l.Limit, l.Window, l.Set
	}
	if e := d.Accounts[account][unit]; e != nil {
		s.Spent, s.Stored = e.Spent, rules.WindowUse{Start: e.WindowStart, Spent: e.WindowSpent}
	}
	if s.At(now) != nil {
		return nil, errDamaged
	}
	return s, nil
}

// add changes the spending of a standing's account.
func (d *document) add(s *rules.Standing, net budget.Amount) {
	e := entry(&d.Accounts, s.Account, s.Unit)
	use := s.WindowAfter(net)
	e.Spent, e.WindowStart, e.WindowSpent = e.Spent+net, use.Start, use.Spent
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

// Details implements [bridge.Detailed].
func (r refusal) Details() any {
	details := map[string]any{
		"account": r.Account, "unit": r.Unit, "asked": r.Asked.Float64(), "left": r.Left.Float64(), "short": (r.Asked - r.Left).Float64(),
	}
	if !r.Reopens.IsZero() {
		details["reopens"] = r.Reopens.Format(time.RFC3339)
	}
	return details
}

// An onAccount names a budget and a time.
type onAccount struct {
	Document string
	Account  string
	Unit     budget.Unit
	Now      int64
}

// limit sets a limit and returns the document with it.
func limit(a struct {
	onAccount
	Epsilon float64
	Window  int64
}) (any, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return nil, err
	}
	amount, err := budget.Limit(budget.Decimal(a.Epsilon))
	if err != nil {
		return nil, err
	}
	if !printable.Is(string(a.Unit)) {
		return nil, errors.New("unit must be the name of a unit, such as 'm' or 'kWh'")
	}
	if a.Window < 0 || a.Window > rules.MaxWindow {
		return nil, fmt.Errorf("window must be a whole number of seconds from 1 to %d", int64(rules.MaxWindow))
	}
	*entry(&d.Limits, a.Account, a.Unit) = limitEntry{amount, a.Window, a.Now}
	return d.text(), nil
}

// charge charges a draw and returns the document with the charge, which the store makes durable before the draw.
func charge(a struct {
	onAccount
	Amount budget.Amount `json:",string"`
}) (any, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return nil, err
	}
	if _, err := d.pay(a.Account, a.Unit, a.Amount, a.Now); err != nil {
		return nil, err
	}
	return d.text(), nil
}

// balance returns the state of an account's budget.
func balance(a onAccount) (any, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return nil, err
	}
	s, err := d.standing(a.Account, a.Unit, a.Now)
	if err != nil {
		return nil, err
	}
	state := map[string]any{"spent": s.Spent.Float64(), "remaining": s.Remaining().Float64()}
	if s.Limited {
		state["limit"] = s.Limit.Float64()
	}
	if !s.Reopens.IsZero() {
		state["reopens"] = s.Reopens.Format(time.RFC3339)
	}
	return state, nil
}

// quanta returns an amount as a whole number of 1e-12, in decimal digits.
func quanta(a budget.Amount) string { return fmt.Sprint(int64(a)) }
