package main

import (
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/owner"
	"github.com/geosql/geosql/internal/cli"
)

var sealCommand = &cli.Command{
	Name: "seal", Operands: "IN OUT", Min: 2, Max: 2,
	Summary: "write a copy with its secrets encrypted",
	Details: `Writes OUT and OUT-ledger, which must not exist, with IN's declarations. IN stays as it is.
Flags after --table are about that table. A column is the account's (OUT has a pseudonym in its
place), or sealed, or public; all others are dropped, and so are views, triggers, defaults and,
without --index, indexes. Rows are written in random order; those of all tables have to fit into
memory.

  geosql keygen KEY
  geosql seal city.db open.db --key KEY.pub --table trip --account person \
    --seal lat,lon:city --public day,mode

Public columns that tell something of a sealed one are shown, and you are asked: nothing else
protects their information. OUT's ledger starts with the limits and the spending of IN's.
IN keeps its own ledger, which notes that IN was sealed. Put IN away: questions to both would
spend the budgets twice.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t owner.Seal
		t.Register(fs)
		return t.Run
	},
}
