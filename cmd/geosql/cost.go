package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
)

var costCommand = &cli.Command{
	Name: "cost", Operands: "DB SQL", Min: 2, Max: 2,
	Summary: "show the charges of a statement",
	Details: `Charges nothing. There is a row for each unit: the largest charge to one account, the number
of accounts, the sum of their charges, the least that an account has left then, the number of
accounts that cannot pay, and how groups are charged. Before the rows, standard error says whether
all accounts can pay, and if not, who lacks the most, how many cannot, and which limit would
suffice. The exit status is 3 then.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f session.Flags
		f.Register(fs)
		f.Sealed.Register(fs)
		var each bool
		cli.Switch(fs, "each", "show a row for each account and function instead, as budget_cost does", func() { each = true })
		return func(ctx context.Context, operands []string) error {
			return showCost(ctx, f, operands[0], operands[1], each)
		}
	},
}

// showCost shows the charges that a statement would make, by account.
func showCost(ctx context.Context, f session.Flags, db, sql string, each bool) error {
	s, err := session.OpenExisting(db, f)
	if err != nil {
		return err
	}
	return s.Close(s.ShowCost(ctx, sql, each))
}
