package console

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/keeper"
	"github.com/geosql/geosql/serve/internal/role"
)

// An Example is a statement to begin with, which the role may ask as it stands.
type Example struct {
	About string `json:"about"`
	SQL   string `json:"sql"`
}

// examples returns what a role, which is nil for the owner, may ask about tables: how many rows there are, and questions about
// the first column of readings and of locations that it may ask about.
func examples(tables []keeper.Table, r *role.Role) []Example {
	if len(tables) == 0 {
		return []Example{}
	}
	all := []Example{{"Free: which rows exist is public", "SELECT count(*) FROM " + sqlite.Name(tables[0].Name)}}
	asked := map[bool]bool{} // by whether they are locations
	for _, t := range tables {
		for _, column := range t.Columns {
			c := column.Sealed
			if c == nil || r == nil || !r.May(c.FullName()) || asked[c.Domain != nil] {
				continue
			}
			list := examplesOf(c, r)
			all, asked[c.Domain != nil] = append(all, list...), len(list) > 0
		}
	}
	return all
}

// examplesOf returns questions about a sealed column that the role can pay for. The ends of what the readings of an account may add
// up to are those of a hundred. An account pays for each of its locations in a heat map, so that one of each is taken first.
func examplesOf(c *catalog.Column, r *role.Role) (list []Example) {
	name, table := sqlite.Name(c.Name), sqlite.Name(c.Table)
	add := func(about string, unit budget.Unit, usual budget.Amount, sql func(epsilon budget.Amount) string) {
		if epsilon := payable(r, unit, usual); epsilon > 0 {
			list = append(list, Example{about, sql(epsilon)})
		}
	}
	if u := c.Universe; u != nil {
		add("A sum, with noise", budget.Unit(u.Unit), budget.One/10, func(epsilon budget.Amount) string {
			return fmt.Sprintf("SELECT dx_sum(%s, %v) FROM %s", name, epsilon, table)
		})
		add("The median, with noise, of the sum of all readings of each account", budget.Record, budget.One/2, func(epsilon budget.Amount) string {
			hundred := func(end float64) string { return decimal.Format(decimal.Round(100*end, 15)) }
			return fmt.Sprintf("SELECT dx_median(dx_person(%s, %s, %s), %v) FROM %s", name, hundred(min(u.Lo, 0)), hundred(max(u.Hi, 0)), epsilon, table)
		})
		return list
	}
	add("A heat map, with noise, of one location of each account", budget.Record, budget.One/2, func(epsilon budget.Amount) string {
		const metresPerDegree = 111000
		cell := max(decimal.Round((c.Domain.North-c.Domain.South)*metresPerDegree/10, 1), c.Domain.StepM)
		return fmt.Sprintf("SELECT dx_heatmap(%[1]s, %[2]v, %[3]s) FROM (SELECT %[1]s FROM %[4]s GROUP BY %[5]s)",
			name, epsilon, decimal.Format(cell), table, sqlite.Name(c.Account))
	})
	return list
}

// payable returns the usual epsilon of a question, or the next to it that a role may spend in one, 0 if there is none.
func payable(r *role.Role, unit budget.Unit, usual budget.Amount) budget.Amount {
	most := r.Epsilon[unit]
	if unit == budget.Record {
		most /= 2 // of two questions
	}
	if call, bound := r.EpsilonMax[unit]; bound {
		most = min(most, call)
	}
	epsilon := max(min(usual, most), r.Least(unit))
	if epsilon > most {
		return 0
	}
	return epsilon
}
