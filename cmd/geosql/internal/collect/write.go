package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// leaveOutErased leaves out the rows of accounts that the ledger, if it is here, says are erased,
// and returns how many they are.
func (t *Append) leaveOutErased(rows *plainRows) (left int) {
	if t.owner == nil {
		return 0
	}
	before := len(rows.order)
	rows.order = slices.DeleteFunc(rows.order, func(row int32) bool {
		a := rows.payer[row]
		return a != nobody && t.owner.Record.Erased[rows.accounts[a]]
	})
	return before - len(rows.order)
}

var errReplaced = errors.New("the database was replaced meanwhile: try again")

// write adds the session, the accounts and the rows, in the transaction that is open.
func (t *Append) write(ctx context.Context, rows *plainRows) (err error) {
	if id, err := catalog.ReadID(t.conn); err != nil || id != t.database {
		return cmp.Or(err, errReplaced)
	}
	if t.NewKey {
		if err := catalog.AddKey(t.conn, t.public); err != nil {
			return err
		}
	}
	if t.signer == nil {
		if t.signer, err = t.owner.EnrolOnce("append"); err != nil {
			return err
		}
	}
	sealer, err := catalog.NewSession(t.conn, t.database, t.public, t.signer)
	if err != nil {
		return err
	}
	accounts, err := t.enterAccounts(rows, sealer)
	if err != nil {
		return err
	}
	return t.target.write(ctx, t.conn, rows, accounts, sealer)
}

// enterAccounts returns the accounts of the rows by their indexes, and adds accounts that the signer
// has not added before.
func (t *Append) enterAccounts(rows *plainRows, sealer *sealed.Sealer) ([]sealed.Account, error) {
	known := map[string]sealed.Account{}
	if t.private != nil && t.owner != nil {
		k, err := catalog.Open(context.Background(), t.conn, t.owner.Ledger, sealed.NewKeyring(t.private))
		if err == nil {
			known, err = k.Known()
		}
		if err != nil {
			return nil, err
		}
	}
	entered, err := catalog.Entered(t.conn, t.signer.Public().Verifier())
	if err != nil {
		return nil, err
	}
	all := make([]sealed.Account, len(rows.accounts))
	for _, i := range rows.paying() {
		name := rows.accounts[i]
		a, there := t.given[name]
		if !there {
			a, there = known[name]
		}
		if !there {
			if a, err = sealed.AccountOf(t.signer.Signer(), t.database, name); err != nil {
				return nil, err
			}
		}
		all[i] = a
		there, err := entered(a.Pseudonym)
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		entry, err := sealer.SealAccount(a.Number, name)
		if err == nil {
			err = catalog.AddAccount(t.conn, a.Pseudonym, entry)
		}
		if err != nil {
			return nil, fmt.Errorf("account '%s': %w", name, err)
		}
	}
	return all, nil
}

// write seals the rows and adds them.
func (g *target) write(ctx context.Context, conn *sqlite.Conn, rows *plainRows, accounts []sealed.Account, sealer *sealed.Sealer) error {
	insert, err := prepareInsert(conn, g.table, g.names)
	if err != nil {
		return err
	}
	defer insert.Close()
	line := cli.NewTerminalLine()
	defer line.Clear()
	for n, row := range rows.order {
		if n&0xfff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			line.Show("sealing: %s", cli.ShareAndRest(float64(n)/float64(len(rows.order)), 0))
		}
		if err := g.bindRow(insert, rows, int(row), accounts, sealer); err != nil {
			return err
		}
		if err := insert.Run(); err != nil {
			return err
		}
	}
	return nil
}

// prepareInsert returns a statement that inserts a row of all columns of a table.
func prepareInsert(conn *sqlite.Conn, table string, columns []string) (*sqlite.Stmt, error) {
	names := make([]string, len(columns))
	for i, name := range columns {
		names[i] = sqlite.QuoteName(name)
	}
	insert, _, err := conn.Prepare("INSERT INTO main." + sqlite.QuoteName(table) + "(" + strings.Join(names, ", ") +
		") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")")
	return insert, err
}

// bindRow binds the parameters of a row.
func (g *target) bindRow(insert *sqlite.Stmt, rows *plainRows, row int, accounts []sealed.Account, sealer *sealed.Sealer) error {
	payer, secret := rows.payer[row], row*rows.width
	var v sealed.Value
	for k, c := range g.columns {
		switch {
		case k == g.account && payer == nobody:
			insert.BindNull(k + 1)
		case k == g.account:
			insert.BindText(k+1, accounts[payer].Pseudonym)
		case c == nil:
			bindPublic(insert, k+1, &rows.public[k], row, g.places[k].kind)
		case rows.absent[secret]:
			insert.BindNull(k + 1)
			secret++
		default:
			err := sealer.Seal(&v, c.Number, sealed.Contents{Account: accounts[payer].Number, Data: rows.secrets[secret]})
			if err != nil {
				return err
			}
			insert.BindBlob(k+1, v[:])
			secret++
		}
	}
	return nil
}

// bindPublic binds a public cell as its file has it. A text in a column of numbers becomes one by
// the column's affinity.
func bindPublic(insert *sqlite.Stmt, parameter int, cells *dataset.Column, row int, kind dataset.Kind) {
	text, null := cells.At(row)
	if !null && kind == dataset.Integer {
		if v, _, ok := cells.Integer(row); ok {
			insert.BindInts(parameter, v)
			return
		}
	}
	if !null && kind == dataset.Real {
		if v, _, ok := cells.Real(row); ok {
			insert.BindFloat(parameter, v)
			return
		}
	}
	if null {
		insert.BindNull(parameter)
		return
	}
	insert.BindText(parameter, string(text))
}
