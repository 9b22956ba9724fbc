package audit

import (
	"strings"

	"github.com/geosql/geosql/audit/bound"
)

// readings has universes of several kinds: one that begins at 0, one across 0 with a finer step, and a wide one.
var readings = &fixture{
	name: "readings",
	declare: []string{
		`SELECT dx_universe('u', 0, 10, 1, 'kWh'), dx_universe('d', -5, 5, 0.5, 'degrees'), dx_universe('w', 0, 1000000, 0.25, 'Wh')`,
		`SELECT budget_limit('*', 'kWh', 9000000), budget_limit('*', 'degrees', 9000000), budget_limit('*', 'Wh', 9000000), budget_limit('*', 'record', 9000000)`,
		`SELECT budget_limit('blocked', 'kWh', 0), budget_limit('blocked', 'degrees', 0), budget_limit('blocked', 'Wh', 0), budget_limit('blocked', 'record', 0)`,
	},
	release: `dx_value('dry run', 1, 1, 'u')`,
}

// scalar returns attacks with a scalar function over a table of (account, x).
func scalarReading(a attack) attack {
	a.fixture, a.columns, a.from, a.alike = readings, "account, x", "FROM {rows}", a.answer
	return a
}

// aggregateReadings returns an attack on an aggregate over a table of (account, x). The second form of its answer
// has another text and the same meaning.
func aggregateReadings(a attack) attack {
	a.fixture, a.columns, a.from, a.group = readings, "account, x", "FROM {rows}", "GROUP BY trial"
	a.alike = strings.Replace(a.answer, "account", "+account", 1)
	return a
}

func init() {
	register(
		scalarReading(attack{
			function: "dx_value", pair: "the lower corner of the universe and a value 4 steps away",
			inputs: [2][]string{{"{ana}, 0"}, {"{ana}, 4"}},
			answer: "dx_value(account, x, 0.5, 'u')", unit: "kWh", claim: claim{kind: bound.Pure, distance: 4},
		}),
		aggregateReadings(attack{
			function: "dx_sum", pair: "one reading moves from corner to corner",
			inputs: [2][]string{{"{ana}, 0", "{ben}, 3"}, {"{ana}, 10", "{ben}, 3"}},
			answer: "dx_sum(account, x, 0.2, 'u')", unit: "kWh", claim: claim{kind: bound.Pure, distance: 10},
		}),
	)
}
