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

// examples returns what a role, which is nil for the owner, may ask about tables: how many rows there are, and one question about
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
			if e, can := exampleOf(c, r); can {
				all, asked[c.Domain != nil] = append(all, e), true
			}
		}
	}
	return all
}

// exampleOf returns a question about a sealed column. An account pays for each of its locations in a heat map, so that
// one of each is taken first.
func exampleOf(c *catalog.Column, r *role.Role) (e Example, can bool) {
	name, table := sqlite.Name(c.Name), sqlite.Name(c.Table)
	if c.Universe != nil {
		epsilon := payable(r, budget.Unit(c.Universe.Unit), budget.One/10)
		return Example{"A sum, with noise", fmt.Sprintf("SELECT dx_sum(%s, %v) FROM %s", name, epsilon, table)}, epsilon > 0
	}
	const metresPerDegree = 111000
	cell := max(decimal.Round((c.Domain.North-c.Domain.South)*metresPerDegree/10, 1), c.Domain.StepM)
	epsilon := payable(r, budget.Record, budget.One/2)
	return Example{"A heat map, with noise, of one location of each account", fmt.Sprintf("SELECT dx_heatmap(%[1]s, %[2]v, %[3]s) FROM (SELECT %[1]s FROM %[4]s GROUP BY %[5]s)",
		name, epsilon, decimal.Format(cell), table, sqlite.Name(c.Account))}, epsilon > 0
}

// payable returns the usual epsilon of a question, or the next to it that a role may spend in one, 0 if there is none.
func payable(r *role.Role, unit budget.Unit, usual budget.Amount) budget.Amount {
	most := r.Epsilon[unit]
	if call, bound := r.EpsilonMax[unit]; bound {
		most = min(most, call)
	}
	epsilon := max(min(usual, most), r.Least(unit))
	if epsilon > most {
		return 0
	}
	return epsilon
}
