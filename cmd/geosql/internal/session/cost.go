package session

import (
	"context"
	"math/big"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sqlitefn"
)

const costSQL = `SELECT * FROM budget_cost(?1) ORDER BY epsilon DESC`

// errCannotPay is the error of a statement that somebody cannot pay.
const errCannotPay = cli.ExitError(3)

// A unitCost is the row of a unit in the cost of a statement.
type unitCost struct {
	Unit     string  `json:"unit"`
	Epsilon  float64 `json:"epsilon"` // the largest charge to one account
	Accounts int     `json:"accounts"`
	Total    float64 `json:"total"`
	Left     float64 `json:"left"` // the least that an account has left then
	Short    int     `json:"short"`
	Rule     *string `json:"rule"`
}

// ShowCost shows the charges that a statement would make, in a row for each unit, or for each account. The verdict goes to standard
// error before the rows. It returns an error if the statement would be refused.
func (s *Session) ShowCost(ctx context.Context, sql string, each bool) error {
	stop := store.InterruptOn(ctx, s.Conn)
	defer stop()
	f, err := s.meter.Forecast(sql)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	s.warnOfTimes(sql)
	s.warnOfGroups(sql)
	refused := refusal(f)
	verdict(f, refused)
	if each {
		err = s.RunWith(ctx, costSQL, &sql)
	} else {
		err = ShowRows(ctx, s, unitCosts(f))
	}
	if err == nil && refused != nil {
		err = errCannotPay
	}
	return err
}

// unitCosts returns the rows of a forecast.
func unitCosts(f *sqlitefn.Forecast) []unitCost {
	rows := []unitCost{}
	for _, u := range f.Units {
		row := unitCost{
			Unit: string(u.Unit), Epsilon: float(u.Most), Accounts: u.Accounts, Total: float(u.Epsilon), Left: float(u.Left), Short: u.Short,
		}
		if rule := strings.TrimPrefix(groups(&u), "; "); rule != "" {
			row.Rule = &rule
		}
		rows = append(rows, row)
	}
	return rows
}

func float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

// verdict says whether a statement would be refused.
func verdict(f *sqlitefn.Forecast, refused error) {
	switch {
	case refused != nil:
		cli.Say("geosql: the statement would be refused: %v", refused)
	case len(f.Units) == 0:
		cli.Say("geosql: the statement charges nothing")
	case f.Certainty == sqlitefn.Bounded:
		cli.Say("geosql: all accounts can pay that; it may be less, since the cost of a step depends on its draw")
	default:
		cli.Say("geosql: all accounts can pay that")
	}
}
