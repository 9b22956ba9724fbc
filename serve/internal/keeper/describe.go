package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A Table is a table, or a view, that analysts may read.
type Table struct {
	Name    string
	View    bool
	Columns []Column
}

// A Column is a column of a table.
type Column struct {
	Name   string
	Type   string          // as PostgreSQL calls it
	Sealed *catalog.Column // nil if it is public
}

// describeTime bounds the time to list the tables.
const describeTime = 10 * time.Second

// Tables returns the tables and views, in the order of their names. It reads them over a connection of its own, since SQLite may
// take long to resolve the columns of a view, and others need not wait.
func (k *Keeper) Tables() (tables []Table, err error) {
	conn, err := k.connect()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer conn.InterruptAfter(describeTime)()
	err = conn.Each(`SELECT s.name, s.type = 'view', c.name, c.type FROM main.sqlite_schema s JOIN pragma_table_info(s.name, 'main') c
		WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name NOT LIKE 'geosql\_%' ESCAPE '\'
		ORDER BY s.name, c.cid`, func(v []sqlite.Value) error {
		name := v[0].Text()
		if len(tables) == 0 || tables[len(tables)-1].Name != name {
			tables = append(tables, Table{Name: name, View: v[1].Int() != 0})
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, Column{Name: v[2].Text(), Type: pgcatalog.ColumnType(v[3].Text()).SQL})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tables, k.markSealed(tables)
}

// markSealed notes which columns of tables are sealed.
func (k *Keeper) markSealed(tables []Table) error {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), rolesWithin)
	defer cancel()
	if err := k.names.Refresh(ctx); err != nil && !errors.Is(err, ledger.ErrUnreachable) { // then it knows enough
		return err
	}
	for _, t := range tables {
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Sealed = k.sealed(t.Name, c.Name); c.Sealed != nil {
				c.Type = "sealed"
			}
		}
	}
	return nil
}

// sealed returns the sealed column of a name, or nil.
func (k *Keeper) sealed(table, column string) *catalog.Column {
	columns := k.names.Record().Columns
	i := slices.IndexFunc(columns, func(c catalog.Column) bool { return c.Table == table && c.Name == column })
	if i < 0 {
		return nil
	}
	c := columns[i]
	return &c
}

// RoleBudgets returns a role's spending by account and unit.
func (k *Keeper) RoleBudgets(role string) ([]ledger.RoleBudget, error) {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	return k.ledger.RoleBudgets(role)
}

// BalancesAfter returns a page of the ledger's balances: see [ledger.Balances].
func (k *Keeper) BalancesAfter(account string, unit budget.Unit) ([]ledger.Balance, error) {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	return k.ledger.BalancesAfter(account, unit)
}

// AddRole adds a role with a verifier. The error is a *wire.Error if the name is taken or the role does not fit the
// database.
func (k *Keeper) AddRole(r *role.Role) error {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	if there, err := k.Role(r.Name); err != nil {
		return err
	} else if there != nil {
		return &wire.Error{Code: "42710", Message: fmt.Sprintf("there is a role %s", r.Name), Hint: "Drop it first, or take another name."}
	}
	if err := cmp.Or(r.Check(), r.CheckFor(k.names.Record().Columns)); err != nil {
		return &wire.Error{Code: "22023", Message: err.Error()}
	}
	return k.ledger.Record(r.Fact())
}

// DropRole drops a role. Its sessions end within a second.
func (k *Keeper) DropRole(name string) error {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	r, err := k.Role(name)
	if err != nil {
		return err
	}
	if r == nil {
		return &wire.Error{Code: "42704", Message: fmt.Sprintf("there is no role %s", name)}
	}
	return k.ledger.Record(r.Dropped())
}
