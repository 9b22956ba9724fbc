package engine

import (
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

// Check checks that stored totals agree with the entries: the ones that the ledger keeps, and all that
// there ever were, unless whole is nil.
func (t *Totals) Check(kept, whole *Totals) error {
	k, same := compareMaps(kept.Balances, t.Balances)
	if same && whole != nil {
		k, same = compareMaps(whole.Balances, t.Balances)
	}
	if !same {
		return fmt.Errorf("the balance of account %s in %s differs from the sum of its entries", printable.SQL(k.Account), printable.SQL(string(k.Unit)))
	}
	if k, same := compareMaps(kept.Limits, t.Limits); !same {
		return fmt.Errorf("the limit of account %s in %s differs from its entries", printable.SQL(k.Account), printable.SQL(string(k.Unit)))
	}
	p, same := compareMaps(kept.RoleBudgets, t.RoleBudgets)
	if same && whole != nil {
		p, same = compareMaps(whole.RoleBudgets, t.RoleBudgets)
	}
	if !same {
		return fmt.Errorf("the spending of role %s on account %s in %s differs from the sum of its entries",
			printable.SQL(p.Role), printable.SQL(p.Account), printable.SQL(string(p.Unit)))
	}
	return nil
}

// compareMaps reports whether both maps are the same, and else returns a key at which they
// differ.
func compareMaps[K, V comparable](a, b map[K]V) (differs K, same bool) {
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return k, false
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			return k, false
		}
	}
	return differs, true
}
