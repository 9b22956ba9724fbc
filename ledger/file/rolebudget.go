package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Table purse has the spending of roles, from the entries without a unit: see
// [ledger.RoleBudgetOf].

// RoleBudgets implements [ledger.Ledger].
func (l *Ledger) RoleBudgets(role string) (list []ledger.RoleBudget, err error) {
	err = l.readStored(func(db *store) error {
		return db.eachRoleBudget("WHERE role = ?1 ORDER BY unit, account", func(b ledger.RoleBudget) { list = append(list, b) }, role)
	})
	return list, err
}

// eachRoleBudget calls each for the role budgets that SQL behind FROM selects.
func (db *store) eachRoleBudget(which string, each func(ledger.RoleBudget), params ...string) error {
	some, err := db.hasTable("purse")
	if err != nil || !some {
		return err
	}
	return db.query("SELECT role, account, unit, spent FROM purse "+which, func(s *sqlite.Stmt) error {
		var v [4]sqlite.Value
		s.Row(0, v[:])
		each(ledger.RoleBudget{Role: v[0].Text(), Account: v[1].Text(), Unit: budget.Unit(v[2].Text()), Spent: budget.Amount(v[3].Int())})
		return nil
	}, params...)
}

// RoleBudgets begins to read role budgets, as [engine.Reader] says.
func (r *reader) RoleBudgets(role string, unit budget.Unit) (func(account string) (ledger.RoleBudget, error), error) {
	if err := r.findAnswers(); err != nil {
		return nil, err
	}
	var get *sqlite.Stmt // nil if no role has spent
	if r.hasAnswers {
		var err error
		if get, err = r.db.compiled("SELECT spent FROM purse WHERE role = ?1 AND unit = ?2 AND account = ?3"); err != nil {
			return nil, err
		}
		get.BindText(1, role)
		get.BindText(2, string(unit))
	}
	return func(account string) (ledger.RoleBudget, error) {
		b := ledger.RoleBudget{Role: role, Account: account, Unit: unit}
		if get == nil {
			return b, nil
		}
		get.BindText(3, account)
		defer get.Reset()
		row, err := get.Step()
		if err != nil || !row {
			return b, err
		}
		spent := get.Column(0)
		b.Spent = budget.Amount(spent.Int())
		return b, nil
	}, nil
}

const putRoleBudgetSQL = `
INSERT INTO purse(role, account, unit, spent) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET spent = spent + excluded.spent`

// ChargeRoleBudgets implements [engine.Transaction].
func (t *transaction) ChargeRoleBudgets(role string, from *engine.Origin, items []ledger.Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := t.makeAnswers(); err != nil {
		return err
	}
	put, err := t.db.compiled(putRoleBudgetSQL)
	if err != nil {
		return err
	}
	postings := make([]engine.Posting, len(items))
	cells := []byte{}
	for i, item := range items {
		b := ledger.RoleBudget{Role: role, Account: item.Account, Unit: from.Unit}
		postings[i] = engine.Posting{Account: b.EntryAccount(), Spent: item.Epsilon}
		for _, text := range []string{role, item.Account, string(from.Unit)} {
			cells = sqlite.AppendText(cells, text)
		}
		cells = sqlite.AppendInt(cells, int64(item.Epsilon))
	}
	of := *from
	of.Unit = engine.EventUnit
	if err := t.addEntries(&of, postings, false); err != nil { // such an entry changes no balance
		return err
	}
	return put.InsertRows(cells, 4, len(items))
}
