package file

import (
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Table purse has the spending of roles, from the entries without a unit: see
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

// Purses begins to read purses, as [engine.Reader] says.
func (r *reader) Purses(role string, unit budget.Unit) (func(account string) (ledger.Purse, error), error) {
	if err := r.findAnswers(); err != nil {
		return nil, err
	}
	var get *sqlite.Stmt // nil if no role has a purse
	if r.hasAnswers {
		var err error
		if get, err = r.db.compiled("SELECT spent FROM purse WHERE role = ?1 AND unit = ?2 AND account = ?3"); err != nil {
			return nil, err
		}
		get.BindText(1, role)
		get.BindText(2, string(unit))
	}
	return func(account string) (ledger.Purse, error) {
		purse := ledger.Purse{Role: role, Account: account, Unit: unit}
		if get == nil {
			return purse, nil
		}
		get.BindText(3, account)
		defer get.Reset()
		row, err := get.Step()
		if err != nil || !row {
			return purse, err
		}
		spent := get.Column(0)
		purse.Spent = budget.Amount(spent.Int())
		if purse.Spent < 0 || purse.Spent > budget.Max {
			return purse, errPurse
		}
		return purse, nil
	}, nil
}

var errPurse = errors.New("the ledger is damaged: the spending of a role is out of range")

const putPurseSQL = `
INSERT INTO purse(role, account, unit, spent) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET spent = spent + excluded.spent`

// ChargePurses implements [engine.Transaction].
func (t *transaction) ChargePurses(role string, from *engine.Origin, items []ledger.Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := t.makeAnswers(); err != nil {
		return err
	}
	entries := make([]ledger.Item, len(items))
	for i, item := range items {
		p := ledger.Purse{Role: role, Account: item.Account, Unit: from.Unit}
		entries[i] = ledger.Item{Account: p.EntryAccount(), Epsilon: item.Epsilon}
	}
	of := *from
	of.Unit = engine.EventUnit
	nothing := func(int64) error { return nil } // such an entry changes no balance
	if err := t.addItems(&of, entries, make([]ledger.WindowUse, len(items)), nothing); err != nil {
		return err
	}
	for _, item := range items {
		if err := t.exec(putPurseSQL, role, item.Account, string(from.Unit), int64(item.Epsilon)); err != nil {
			return err
		}
	}
	return nil
}
