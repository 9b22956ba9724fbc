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
	OfEvent = "unit = '" + EventUnit + "' AND account = '" + ledger.Everyone + "'"
	OfPurse = "unit = '" + EventUnit + "' AND account <> '" + ledger.Everyone + "'"
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

// Books are balances, limits and the spending of roles. The keys of roles have nothing
// spent.
type Books struct {
	Balances map[Key]BalanceRow
	Limits   map[Key]LimitRow
	Purses   map[ledger.Purse]budget.Amount
}

// NewBooks returns empty books.
func NewBooks() *Books {
	return &Books{map[Key]BalanceRow{}, map[Key]LimitRow{}, map[ledger.Purse]budget.Amount{}}
}

// Add adds the changes of a writer's entry.
func (b *Books) Add(writer string, e *ledger.Entry) {
	if e.Unit == EventUnit {
		if p, ok := ledger.PurseOf(e); ok {
			b.AddPurse(p)
		}
		return
	}
	k := Key{e.Account, e.Unit}
	if e.Limit != ledger.NoLimit {
		b.Limits[k] = LimitRow{e.Limit, e.LimitWindow, e.Time, writer, e.ID}
		return
	}
	r := b.Balances[k]
	r.Spent += e.Spent
	r.Reserved += e.Reserved
	r.Window = e.Window
	if e.Spent != 0 {
		r.LastCharge = max(r.LastCharge, e.Time)
	}
	b.Balances[k] = r
}

// AddPurse adds the spending of a role.
func (b *Books) AddPurse(p ledger.Purse) {
	spent := p.Spent
	p.Spent = 0
	b.Purses[p] += spent
}

// Check checks that stored books agree with the entries: the ones that the ledger keeps, and all that
// there ever were, unless whole is nil.
func (b *Books) Check(kept, whole *Books) error {
	k, same := compareMaps(kept.Balances, b.Balances)
	if same && whole != nil {
		k, same = compareMaps(whole.Balances, b.Balances)
	}
	if !same {
		return fmt.Errorf("the balance of account %s in %s differs from the sum of its entries", printable.SQL(k.Account), printable.SQL(string(k.Unit)))
	}
	if k, same := compareMaps(kept.Limits, b.Limits); !same {
		return fmt.Errorf("the limit of account %s in %s differs from its entries", printable.SQL(k.Account), printable.SQL(string(k.Unit)))
	}
	p, same := compareMaps(kept.Purses, b.Purses)
	if same && whole != nil {
		p, same = compareMaps(whole.Purses, b.Purses)
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
