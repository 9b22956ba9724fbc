package reading

import (
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var argBins = &frame.Arg{
	Name: "bins", Is: "INTEGER: how many runs to cut the values of the universe into, at most 10000 and at most as many as values",
	Kind: frame.WholeNumber(scalar.MaxBins, ""), Setting: true,
}

var histogramRow = &row{
	name: "dx_histogram", returns: "TEXT",
	aggregate: func(c frame.Call) (scalar.Aggregate, error) { return scalar.Histogram(int64(c.Number(argBins))), nil },
	epsilon:   frame.ArgEpsRecord, last: argBins,
	plain: words{"Counts readings in the bins of a universe, with geometric noise on each count; answers a JSON array.",
		"epsilon in unit record to each account, for each of its readings",
		"The values lo, lo+step, .., hi are cut into runs with lengths that differ by one at most; the array has all of them in order, each as {\"lo\":..,\"hi\":..,\"count\":..} with its first and its last value. " +
			"A reading that is replaced by another changes two counts, so each has noise of rate epsilon/2; it is clamped at 0. Readings are first moved into the universe. " +
			"epsilon, universe and bins must be constant within a group. A group charges all its accounts or none. " +
			"A row with NULL as reading contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL."},
	sealed: words{"Counts sealed readings in the bins of their universe, with geometric noise on each count; answers a JSON array.",
		"epsilon in unit record to each account, for each of its values",
		unseal.RowNote + "epsilon and bins must be constant within a group."},
	examples: []string{
		"SELECT dx_histogram('ana', x, 1, 'halfhour', 4) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
		"SELECT bin.value ->> 'lo' AS lo, bin.value ->> 'count' AS n FROM (SELECT dx_histogram('ana', x, 1, 'halfhour', 4) AS h FROM (SELECT 0.412 AS x UNION SELECT 0.388)), json_each(h) AS bin",
	},
}
