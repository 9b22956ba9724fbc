package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// Table purse has what roles have spent, as the entries without a unit say: see
// [ledger.PurseOf].

// Purses implements [ledger.Ledger].
func (l *Ledger) Purses(role string) (purses []ledger.Purse, err error) {
	err = l.readStored(func(db *store) error {
		return db.eachPurse("WHERE role = ?1 ORDER BY unit, account", func(p ledger.Purse) { purses = append(purses, p) }, role)
	})
	return purses, err
}

// eachPurse calls each for the purses that SQL behind FROM selects.
func (db *store) eachPurse(which string, each func(ledger.Purse), params ...string) error {
	some, err := db.hasTable("purse")
	if err != nil || !some {
		return err
	}
	return db.query("SELECT role, account, unit, spent FROM purse "+which, func(s *sqlite.Stmt) error {
		var v [4]sqlite.Value
		s.Row(0, v[:])
		each(ledger.Purse{Role: v[0].Text(), Account: v[1].Text(), Unit: budget.Unit(v[2].Text()), Spent: budget.Amount(v[3].Int())})
		return nil
	}, params...)
}

// purses reads the purses of a role in a unit.
type purses struct {
	role string
	unit budget.Unit
	get  *sqlite.Stmt // nil if no role has any
}

// purses begins to read purses. It is called after findAnswers.
func (t *transaction) purses(role string, unit budget.Unit) (*purses, error) {
	if !t.hasAnswers {
		return &purses{role: role, unit: unit}, nil
	}
	get, err := t.db.compiled("SELECT spent FROM purse WHERE role = ?1 AND unit = ?2 AND account = ?3")
	if err != nil {
		return nil, err
	}
	get.BindText(1, role)
	get.BindText(2, string(unit))
	return &purses{role, unit, get}, nil
}

// of returns the purse for an account.
func (p *purses) of(account string) (ledger.Purse, error) {
	purse := ledger.Purse{Role: p.role, Account: account, Unit: p.unit}
	if p.get == nil {
		return purse, nil
	}
	p.get.BindText(3, account)
	defer p.get.Reset()
	row, err := p.get.Step()
	if err != nil || !row {
		return purse, err
	}
	spent := p.get.Column(0)
	purse.Spent = budget.Amount(spent.Int())
	if purse.Spent < 0 || purse.Spent > budget.Max {
		return purse, errPurse
	}
	return purse, nil
}

const putPurseSQL = `
INSERT INTO purse(role, account, unit, spent) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET spent = spent + excluded.spent`

// chargePurses charges items to the purses of a role, which can pay them.
func (t *transaction) chargePurses(role string, from *origin, items []ledger.Item) error {
	entries := make([]ledger.Item, len(items))
	for i, item := range items {
		p := ledger.Purse{Role: role, Account: item.Account, Unit: from.unit}
		entries[i] = ledger.Item{Account: p.EntryAccount(), Epsilon: item.Epsilon}
	}
	of := *from
	of.unit = eventUnit
	if err := t.addItems(&of, entries, make([]ledger.WindowUse, len(items))); err != nil {
		return err
	}
	for _, item := range items {
		if err := t.exec(putPurseSQL, role, item.Account, string(from.unit), int64(item.Epsilon)); err != nil {
			return err
		}
	}
	return nil
}
