package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sqlitefn"
)

var costCommand = &cli.Command{
	Name: "cost", Operands: "DB SQL", Min: 2, Max: 2,
	Summary: "show what a statement would charge, and to whom",
	Details: `Charges nothing. at_most is epsilon where that is certain; otherwise it is what the account
has left. A summary goes to standard error before the rows: the sums, whether all accounts can
pay, and if not, who lacks the most, how many cannot, and which limit would suffice. The exit
status is 0 also if they cannot.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f outputFlags
		f.register(fs)
		f.sealed.register(fs)
		return func(ctx context.Context, operands []string) error { return showCost(ctx, f, operands[0], operands[1]) }
	},
}

const costSQL = `SELECT * FROM budget_cost(?1)`

// showCost shows what a statement would charge, and to whom.
func showCost(ctx context.Context, f outputFlags, db, sql string) error {
	s, err := openExisting(db, f)
	if err != nil {
		return err
	}
	return s.close(s.showCostWithSums(ctx, sql))
}

// showCost shows what a statement would charge, and to whom.
func (s *session) showCost(ctx context.Context, sql string) error {
	return s.runWith(ctx, costSQL, &sql)
}

// showCostWithSums is showCost with a summary on standard error before the rows.
func (s *session) showCostWithSums(ctx context.Context, sql string) error {
	s.rows = &summarized{s.rows, s.meter}
	return s.showCost(ctx, sql)
}

// A summarized writes a summary of the rows of budget_cost to standard error before them.
type summarized struct {
	rowWriter
	meter *sqlitefn.Meter
}

func (w *summarized) begin(columns []string) error {
	summarize(w.meter.LastForecast())
	return w.rowWriter.begin(columns)
}

// summarize prints what a statement will charge, and who cannot pay that.
func summarize(f *sqlitefn.Forecast) {
	for _, u := range f.Units {
		cli.Say("geosql: %s %s to %s, at most %s each", evaluations(u.Evaluations), per(u.Epsilon, u.Unit), accounts(u.Accounts), per(u.Most, u.Unit))
	}
	switch refused := refusal(f); {
	case refused != nil && f.Certain:
		cli.Say("geosql: the statement would be refused: %v", refused)
	case refused != nil:
		cli.Say("geosql: the statement would be refused, if it charged this: %v", refused)
	case len(f.Units) > 0:
		cli.Say("geosql: all accounts can pay that")
	case f.Certain:
		cli.Say("geosql: the statement charges nothing")
	}
	if !f.Certain {
		cli.Say("geosql: this is not certain: released values may decide what is charged")
	}
}

// evaluations returns the subject and verb of a sentence about a number of evaluations.
func evaluations(n int64) string {
	if n == 1 {
		return "1 evaluation charges"
	}
	return fmt.Sprintf("%d evaluations charge", n)
}
