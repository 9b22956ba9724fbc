package session

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sqlitefn"
)

// largeShare is the part of a remaining budget from which on a charge is large.
var largeShare = big.NewRat(1, 10)

// large reports whether a statement takes more than a tenth of a remaining budget.
func large(f *sqlitefn.Forecast) bool {
	for _, u := range f.Units {
		if u.Share.Cmp(largeShare) > 0 {
			return true
		}
	}
	return false
}

// prices returns the charges of a forecast, by unit.
func prices(f *sqlitefn.Forecast) (list []string) {
	for _, u := range f.Units {
		text := per(u.Most, u.Unit)
		if f.Certainty != sqlitefn.Exact || u.Least.Cmp(u.Most) < 0 {
			text = "up to " + text
		}
		if u.Accounts > 1 {
			text += " to each of " + accounts(u.Accounts)
		} else {
			text += " to 1 account"
		}
		list = append(list, text+", "+cli.FormatRational(u.Left)+" left"+groups(&u))
	}
	return list
}

// groups tells how several groups cost, or how many rows of an account would cost less, in a clause, which is empty if there are none.
func groups(u *sqlitefn.UnitForecast) string {
	switch g := u.Groups; {
	case u.Cure != "":
		return "; each row is charged: " + u.Cure
	case g == nil || g.Count < 2:
		return ""
	case g.Separate == nil:
		return fmt.Sprintf("; %d groups cost once", g.Count)
	default:
		return fmt.Sprintf("; %d groups cost one by one: %v", g.Count, g.Separate)
	}
}

// separate reports whether groups cost one by one, or rows.
func separate(u *sqlitefn.UnitForecast) bool {
	return u.Cure != "" || u.Groups != nil && u.Groups.Count > 1 && u.Groups.Separate != nil
}

// totals returns the sums of charges, by unit.
func totals(charged []sqlitefn.Charged) (list []string) {
	for _, c := range charged {
		list = append(list, per(c.Epsilon, c.Unit)+" to "+accounts(c.Accounts))
	}
	return list
}
