package engine

import (
	"cmp"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
)

// EventUnit is the unit of the entries that record events, under the account Everyone, and of
// the ones that change the budget of a role. No charge and no limit has it.
const EventUnit = ""

// Conditions in SQL for the entries without a unit.
const (
	OfEvent      = "unit = '" + EventUnit + "' AND account = '" + ledger.Everyone + "'"
	OfRoleBudget = "unit = '" + EventUnit + "' AND account <> '" + ledger.Everyone + "'"
)

// ArchiveFunction is the function of the entries that carry sums of archived entries over.
const ArchiveFunction = "ledger_archive"

// BalanceRow is a stored balance.
type BalanceRow struct {
	Spent, Reserved budget.Amount
	LastCharge      int64
	Window          ledger.WindowUse
}

// LimitRow is a stored limit.
type LimitRow struct {
	Epsilon          budget.Amount
	Seconds, Changed int64
	Writer           string // of its entry, where a ledger has several
	Entry            int64
}

// Totals are balances, limits and the spending of roles. The keys of roles have nothing
// spent.
type Totals struct {
	Balances    map[Key]BalanceRow
	Limits      map[Key]LimitRow
	RoleBudgets map[ledger.RoleBudget]budget.Amount
}

// NewTotals returns empty totals.
func NewTotals() *Totals {
	return &Totals{map[Key]BalanceRow{}, map[Key]LimitRow{}, map[ledger.RoleBudget]budget.Amount{}}
}

// Add adds the changes of a writer's entry.
func (t *Totals) Add(writer string, e *ledger.Entry) {
	if e.Unit == EventUnit {
		if p, ok := ledger.RoleBudgetOf(e); ok {
			t.AddRoleBudget(p)
		}
		return
	}
	k := Key{e.Account, e.Unit}
	if e.Limit != ledger.NoLimit {
		t.Limits[k] = LimitRow{e.Limit, e.LimitWindow, e.Time, writer, e.ID}
		return
	}
	r := t.Balances[k]
	r.Spent += e.Spent
	r.Reserved += e.Reserved
	r.Window = e.Window
	if e.Spent != 0 {
		r.LastCharge = max(r.LastCharge, e.Time)
	}
	t.Balances[k] = r
}

// AddRoleBudget adds the spending of a role.
func (t *Totals) AddRoleBudget(p ledger.RoleBudget) {
	spent := p.Spent
	p.Spent = 0
	t.RoleBudgets[p] += spent
}

// Check checks that the rows that a ledger stores agree with the totals of the entries that it keeps, and with those of all that there
// ever were, unless whole is nil. It takes the rows out of both totals, and counts balances and limits.
func (t *Totals) Check(whole *Totals, stored *Contents) (balances, limits int64, err error) {
	if whole == nil {
		whole = new(Totals)
	}
	wrongBalance := func(k Key) error {
		return fmt.Errorf("the balance of account %s in %s differs from the sum of its entries", printable.SQL(k.Account), printable.SQL(string(k.Unit)))
	}
	for b, err := range stored.Balances {
		if err != nil {
			return 0, 0, err
		}
		if balances++; !takes(t.Balances, b.Key, b.BalanceRow) || !takes(whole.Balances, b.Key, b.BalanceRow) {
			return 0, 0, wrongBalance(b.Key)
		}
	}
	wrongLimit := func(k Key) error {
		return fmt.Errorf("the limit of account %s in %s differs from its entries", printable.SQL(k.Account), printable.SQL(string(k.Unit)))
	}
	for l, err := range stored.Limits {
		if err != nil {
			return 0, 0, err
		}
		if limits++; !takes(t.Limits, l.Key, l.LimitRow) {
			return 0, 0, wrongLimit(l.Key)
		}
	}
	wrongRole := func(p ledger.RoleBudget) error {
		return fmt.Errorf("the spending of role %s on account %s in %s differs from the sum of its entries",
			printable.SQL(p.Role), printable.SQL(p.Account), printable.SQL(string(p.Unit)))
	}
	for p, err := range stored.RoleBudgets {
		if err != nil {
			return 0, 0, err
		}
		k, spent := *p, p.Spent
		if k.Spent = 0; !takes(t.RoleBudgets, k, spent) || !takes(whole.RoleBudgets, k, spent) {
			return 0, 0, wrongRole(k)
		}
	}
	return balances, limits, cmp.Or(nothing(wrongBalance, t.Balances, whole.Balances), nothing(wrongLimit, t.Limits), nothing(wrongRole, t.RoleBudgets, whole.RoleBudgets))
}

// takes takes a key out of totals, which are nil if there are none to compare, and reports whether it had the value.
func takes[K, V comparable](totals map[K]V, k K, v V) bool {
	had, ok := totals[k]
	delete(totals, k)
	return totals == nil || ok && had == v
}

// nothing returns the error of a key that nobody has taken, or nil.
func nothing[K comparable, V any](wrong func(K) error, totals ...map[K]V) error {
	for _, m := range totals {
		for k := range m {
			return wrong(k)
		}
	}
	return nil
}
