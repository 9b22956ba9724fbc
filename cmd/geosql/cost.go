package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/internal/cli"
)

var costCommand = &cli.Command{
	Name: "cost", Operands: "DB SQL", Min: 2, Max: 2,
	Summary: "show what a statement would charge, and to whom",
	Details: `Charges nothing. at_most is epsilon where that is certain; otherwise it is what the account
has left.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f outputFlags
		f.register(fs)
		return func(ctx context.Context, operands []string) error { return showCost(ctx, f, operands[0], operands[1]) }
	},
}

// showCost shows what a statement would charge, and to whom.
func showCost(ctx context.Context, f outputFlags, db, sql string) error {
	s, err := openExisting(db, f)
	if err != nil {
		return err
	}
	return s.close(s.runWith(ctx, "SELECT * FROM budget_cost(?1)", &sql))
}
