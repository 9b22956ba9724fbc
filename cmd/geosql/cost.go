package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
)

var costCommand = &cli.Command{
	Name: "cost", Operands: "DB SQL", Min: 2, Max: 2,
	Summary: "show the charges of a statement by account",
	Details: `Charges nothing. at_most is epsilon where that is certain; otherwise it is all that the account
has left. A summary goes to standard error before the rows: the sums, whether all accounts can
pay, and if not, who lacks the most, how many cannot, and which limit would suffice. The exit
status is 3 then.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f session.Flags
		f.Register(fs)
		f.Sealed.Register(fs)
		return func(ctx context.Context, operands []string) error { return showCost(ctx, f, operands[0], operands[1]) }
	},
}

// showCost shows the charges that a statement would make, by account.
func showCost(ctx context.Context, f session.Flags, db, sql string) error {
	s, err := session.OpenExisting(db, f)
	if err != nil {
		return err
	}
	return s.Close(s.ShowCostWithSums(ctx, sql))
}
