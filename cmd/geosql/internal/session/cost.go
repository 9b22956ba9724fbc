package session

import (
	"context"
	"fmt"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sqlitefn"
)

const costSQL = `SELECT * FROM budget_cost(?1)`

// ShowCost shows the charges that a statement would make, by account.
func (s *Session) ShowCost(ctx context.Context, sql string) error {
	return s.RunWith(ctx, costSQL, &sql)
}

// errCannotPay is the error of a statement that somebody cannot pay.
const errCannotPay = cli.ExitError(3)

// ShowCostWithSums is ShowCost with a summary on standard error before the rows. It returns an error if somebody cannot pay.
func (s *Session) ShowCostWithSums(ctx context.Context, sql string) error {
	s.rows = &summarized{s.rows, s.meter}
	if err := s.ShowCost(ctx, sql); err != nil {
		return err
	}
	if refusal(s.meter.LastForecast()) != nil {
		return errCannotPay
	}
	return nil
}

// A summarized writes a summary of the rows of budget_cost to standard error before them.
type summarized struct {
	output.Writer
	meter *sqlitefn.Meter
}

func (w *summarized) Begin(columns []string) error {
	summarize(w.meter.LastForecast())
	return w.Writer.Begin(columns)
}

// summarize prints the charges of a statement, and the accounts that cannot pay.
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
		cli.Say("geosql: this is not certain: the charges may depend on released values")
	}
}

// evaluations returns the subject and verb of a sentence about a number of evaluations.
func evaluations(n int64) string {
	if n == 1 {
		return "1 evaluation charges"
	}
	return fmt.Sprintf("%d evaluations charge", n)
}
