package owner

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed/catalog"
)

// Erase holds the flags of the command erase.
type Erase struct {
	ledger  store.LedgerFlags
	keys    vault.KeyFlags
	account *string
}

// Register defines the flags of the command.
func (t *Erase) Register(fs *flag.FlagSet) {
	t.ledger.RegisterFile(fs, "record the erasure in the ledger `FILE`, or at a postgres:// URL (default OUT-ledger, beside OUT)")
	t.keys.Register(fs, "the owner's private `KEY`; may be given again for older keys")
	cli.OptionalVar(fs, &t.account, "account", "erase account `A`")
}

// Run erases the account: the fact first, since a row that is deleted may have copies.
func (t *Erase) Run(ctx context.Context, operands []string) error {
	if t.account == nil {
		return cli.UsageError("erase: name the account with --account A")
	}
	v, err := vault.Open(operands[0], t.ledger)
	if err != nil {
		return err
	}
	k, err := v.Keeper("erase", t.keys)
	if err != nil {
		return v.Close(err)
	}
	return v.Close(t.erase(ctx, v, k))
}

func (t *Erase) erase(ctx context.Context, v *vault.Vault, k *catalog.Keeper) error {
	name := *t.account
	pseudonyms, err := k.Pseudonyms(name)
	if err != nil {
		return err
	}
	otherKeys, _, err := k.Closed()
	if err != nil {
		return err
	}
	again := v.Record.Erased[name]
	if len(pseudonyms) == 0 && !again {
		hint := ""
		if otherKeys > 0 {
			hint = fmt.Sprintf("; but %s another key: give that with --key too", vault.WereSealed(otherKeys))
		}
		return fmt.Errorf("erase: %s knows no account '%s', and nothing was recorded%s", v.Path, name, hint)
	}
	if err := v.Ledger.Record(catalog.Erased(name)); err != nil {
		return err
	}
	deleted, err := deleteRows(ctx, v, pseudonyms)
	if err != nil {
		return fmt.Errorf("erase: '%s' is erased, so that none of its values opens any more, but its rows are still there: repeat the command (%w)", name, err)
	}
	verb := "erased"
	if again {
		verb = "had erased"
	}
	cli.Say("%s '%s': none of its values opens any more; deleted %s", verb, name, strings.Join(deleted, ", "))
	if otherKeys > 0 {
		cli.Say("%s another key: rows that only those sessions name '%s' in stay, and do not open; give that key with --key too, and repeat this", vault.WereSealed(otherKeys), name)
	}
	wiped, err := vault.WipeLog(v.Conn)
	if err == nil && !wiped {
		cli.Say("others are reading %s: its file %s-wal holds the deleted rows until they have finished; repeat this then", v.Path, v.Path)
	}
	return err
}

// deleteRows deletes the rows of pseudonyms from all sealed tables, and lists the deleted
// ones, such as "3 rows of trip".
func deleteRows(ctx context.Context, v *vault.Vault, pseudonyms []string) (deleted []string, err error) {
	if err := v.Conn.Exec("PRAGMA secure_delete = ON"); err != nil {
		return nil, err
	}
	stop := store.InterruptOn(ctx, v.Conn)
	defer stop()
	err = vault.InTransaction(ctx, v.Conn, func() error {
		for _, t := range v.Record.Tables() {
			n, err := deleteFrom(v.Conn, t, pseudonyms)
			if err != nil {
				return err
			}
			deleted = append(deleted, cli.Count(n, "row")+" of "+t.Name)
		}
		return context.Cause(ctx)
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return deleted, err
}

func deleteFrom(conn *sqlite.Conn, t catalog.Table, pseudonyms []string) (rows int64, err error) {
	for _, p := range pseudonyms {
		sql := "DELETE FROM main." + sqlite.QuoteName(t.Name) + " WHERE " + sqlite.QuoteName(t.Account) + " = ?1"
		err := store.Each(conn, func([]sqlite.Value) {}, sql, p)
		if err == nil {
			err = store.First(conn, "SELECT changes()", func(v sqlite.Value) { rows += v.Int() })
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}
