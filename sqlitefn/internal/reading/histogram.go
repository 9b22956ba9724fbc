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
	accuracy: "dx_radius('count', p, epsilon/2, NULL) readings for each bin",
	plain: words{"Counts readings in the bins of a universe, with geometric noise on each count; answers a JSON array.",
		"epsilon in unit record to each account, for each of its readings",
		"The values lo, lo+step, .., hi are cut into runs with lengths that differ by one at most; the array has all of them in order, each as {\"lo\":..,\"hi\":..,\"count\":..} with its first and its last value. " +
			"A reading that is replaced by another changes two counts, so each has noise of rate epsilon/2. Counts are as drawn, also below 0: moved to 0, those of many empty bins would add up to readings that there are not. " +
			"dx_cumulative makes a distribution of them that never falls. Readings are first moved into the universe. " +
			"epsilon, universe and bins must be constant within a group. A group charges all its accounts or none. " +
			"A row with NULL as reading contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL.",
		[]string{
			"SELECT dx_histogram('ana', x, 1, 'halfhour', 4) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
			"SELECT bin.value ->> 'lo' AS lo, bin.value ->> 'count' AS n FROM (SELECT dx_histogram('ana', x, 1, 'halfhour', 4) AS h FROM (SELECT 0.412 AS x UNION SELECT 0.388)), json_each(h) AS bin",
		}},
	sealed: words{"Counts sealed readings in the bins of their universe, with geometric noise on each count; answers a JSON array.",
		"epsilon in unit record to each account, for each of its values",
		unseal.RowNote + "epsilon and bins must be constant within a group. dx_person(sealed, lo, hi) in place of the value counts accounts by one number of each, in bins of lo..hi.",
		[]string{"SELECT dx_histogram(kwh, 1, 4) FROM reading"}},
}

var argHistogram = &frame.Arg{Name: "histogram", Is: "an answer of dx_histogram", Kind: frame.OrNull(frame.Text)}

var cumulativeFunction = &frame.Function{
	Name: "dx_cumulative", Section: frame.Free, Returns: "TEXT",
	Args:     []*frame.Arg{argHistogram},
	Does:     "Adds up the counts of a released histogram: how many readings, and which share of them, are at most the last value of each bin.",
	Accuracy: "no radius, as the noise of bins is averaged where sums fall; counts of single bins have that of dx_histogram",
	Notes: "The answer is a JSON array of {\"hi\":..,\"count\":..,\"share\":..} for each bin in order. Its numbers never fall: sums that do, since counts have noise, are replaced by their averages (isotonic regression), " +
		"which leaves less noise in them. count is whole and not negative, and share is that of the last count, or 0 if that is 0. " +
		"The total without a bias is the sum of the counts of dx_histogram itself. NULL gives NULL.",
	Examples: []string{
		`SELECT dx_cumulative('[{"lo":0,"hi":2.499,"count":12},{"lo":2.5,"hi":5,"count":-3}]')`,
		"SELECT bin.value ->> 'hi' AS kwh, bin.value ->> 'share' AS share FROM json_each(dx_cumulative((SELECT dx_histogram('ana', 0.388, 5, 'halfhour', 4)))) AS bin",
	},
	Scalar: cumulative,
}

// cumulative answers the sums of the counts of a histogram.
func cumulative(c frame.Call) error {
	if !c.Given(argHistogram) {
		return nil
	}
	sums, err := scalar.Cumulative(c.Text(argHistogram))
	if err != nil {
		return c.Errorf(argHistogram, "%w", err)
	}
	c.ResultText(0, []byte(sums))
	return nil
}
