package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/backup"
	"github.com/geosql/geosql/internal/cli"
)

var restoreCommand = &cli.Command{
	Name: "restore", Operands: "COPY [DB]", Min: 1, Max: 2,
	Summary: "put a backup into use, after a question",
	Details: `COPY is a backup by 'geosql backup': a database with its ledger beside it, or a ledger.
With DB, which must not exist, the database is copied there. If DB's ledger is still there, it is
kept with all its charges: the safe way. Otherwise, or without DB, the ledger of the backup is put
into use. It does not know charges made after the backup, and would grant that much a second
time; --block sets all limits to 0. That ledger records that it was restored, and 'geosql budget'
says so.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t backup.Restore
		t.Output.Register(fs)
		cli.Switch(fs, "yes", "do not ask", func() { t.Yes = true })
		cli.Switch(fs, "block", "set every limit to 0, so that nothing is granted until you set new ones", func() { t.Block = true })
		return func(ctx context.Context, operands []string) error {
			if len(operands) == 2 {
				t.To = &operands[1]
			}
			return t.Run(ctx, operands[0])
		}
	},
}
