package owner

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// Rekey holds the flags of the command rekey.
type Rekey struct {
	ledger store.LedgerFlags
	keys   vault.KeyFlags
	to     string
}

// Register defines the flags of the command.
func (t *Rekey) Register(fs *flag.FlagSet) {
	t.ledger.RegisterFile(fs, "use the ledger `FILE`, or at a postgres:// URL (default OUT-ledger, beside OUT)")
	t.keys.Register(fs, "an old private `KEY`; may be given again for older keys")
	cli.FileVar(fs, &t.to, "to", "seal for the public key in `NEW.pub`")
}

// Run seals a sealed database anew.
func (t *Rekey) Run(ctx context.Context, operands []string) error {
	if t.to == "" {
		return cli.UsageError("rekey: give the new public key with --to NEW.pub")
	}
	to, err := vault.ReadPublicKey(t.to)
	if err != nil {
		return err
	}
	v, err := vault.Open(operands[0], t.ledger)
	if err != nil {
		return err
	}
	return v.Close(t.rekey(ctx, v, to))
}

func (t *Rekey) rekey(ctx context.Context, v *vault.Vault, to sealed.PublicKey) error {
	if err := v.Conn.Exec("PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	var done catalog.Rekeyed
	err := vault.InTransaction(ctx, v.Conn, func() error { // before anything is read: nobody else writes now
		k, err := v.Keeper("rekey", t.keys)
		if err != nil {
			return err
		}
		if err := checkAllOpen(v, k); err != nil {
			return err
		}
		signer, err := v.EnrolOnce("rekey")
		if err != nil {
			return err
		}
		line, begun := cli.NewTerminalLine(), time.Now()
		defer line.Clear()
		stop := store.InterruptOn(ctx, v.Conn)
		defer stop()
		done, err = k.Rekey(to, signer, func(share float64) error {
			line.Show("sealing anew: %s", cli.ShareAndRest(share, cli.TimeLeft(begun, share)))
			return context.Cause(ctx)
		})
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	cli.Say("sealed %s of %s anew: they open with the private key of %s only", cli.Count(done.Values, "value"), v.Path, t.to)
	if done.Dropped > 0 {
		cli.Say("dropped %s that did not open any more, and %s that had no others", cli.Count(done.Dropped, "value"), cli.Count(done.Rows, "row"))
	}
	wiped, err := vault.WipeLog(v.Conn)
	if err == nil && !wiped {
		cli.Say("others are reading %s: its file %s-wal and the file itself hold old values until they have finished", v.Path, v.Path)
	}
	return err
}

// checkAllOpen returns an error if values would be dropped although nobody has revoked or erased
// them.
func checkAllOpen(v *vault.Vault, k *catalog.Keeper) error {
	otherKey, stranger, err := k.Closed()
	switch {
	case err != nil:
		return err
	case otherKey > 0:
		return fmt.Errorf("rekey: %s another key, and their values would be lost: give that private key with --key too", vault.WereSealed(otherKey))
	case stranger > 0:
		return fmt.Errorf("rekey: %s was begun by collectors that are not enrolled, and the values would be lost: "+
			"enrol them with 'geosql collector %s add', or revoke them", cli.Count(int64(stranger), "session"), v.Path)
	}
	return nil
}
