package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/backup"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
)

var backupCommand = &cli.Command{
	Name: "backup", Operands: "DB|LEDGERFILE TO", Min: 2, Max: 2,
	Summary: "copy a database and its ledger while they are used",
	Details: `Writes TO and TO-ledger, which must not exist, or TO for a ledger by itself. They are for their
owner alone, and appear complete or not at all. A backup does not know later charges.
So its ledger can be read and not charged until 'geosql restore' has explained the loss.

A ledger on a server is backed up with PostgreSQL's own means, such as pg_dump: with --ledger URL
only the database is copied. Back the server up after that, not before.

The ledger of a sealed database also holds who was erased and who was revoked. Its key is copied to
TO-key with --key KEY; without KEY the backup can be opened by nobody.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f store.LedgerFlags
		var keys []string
		f.RegisterFile(fs, "copy the ledger `FILE` (default DB-ledger, beside DB); one at a postgres:// URL is not copied")
		cli.ListVar(fs, &keys, cli.FileName, "key", "copy the private `KEY` of a sealed database to TO-key; a second one, of older values, to TO-key-2, and so on")
		return func(ctx context.Context, operands []string) error {
			return backup.Make(ctx, f, keys, operands[0], operands[1])
		}
	},
}
