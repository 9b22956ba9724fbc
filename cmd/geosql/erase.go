package main

import (
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/owner"
	"github.com/geosql/geosql/internal/cli"
)

var eraseCommand = &cli.Command{
	Name: "erase", Operands: "OUT", Min: 1, Max: 1,
	Summary: "erase an account: no value of it opens any more",
	Details: `OUT is a sealed database. Its ledger records that account A is erased. From then on A's values
count as NULL in every answer, in OUT and in every copy of it that is used with this ledger, in
statements of other processes that begin later, and also values that a collector adds later.
Then A's rows are deleted from the sealed tables of OUT and overwritten. Rows that were copied
elsewhere stay there, and do not open. An erasure cannot be undone. Repeating it is harmless.

The ledger keeps the name of A, its balances, and the list of values that it must never open again.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t owner.Erase
		t.Register(fs)
		return t.Run
	},
}
