package reading

import (
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argPercentiles = &frame.Arg{
	Name: "ps", Is: "the percentiles, a JSON array of numbers in 0..100 such as '[25, 50, 75]', at most 10000", Kind: frame.Text, Setting: true,
}

var percentilesRow = &row{
	name: "dx_percentiles", returns: "TEXT",
	aggregate: func(c frame.Call) (scalar.Aggregate, error) { return scalar.Percentiles(c.Text(argPercentiles)), nil },
	first:     argPercentiles, epsilon: argEpsQuery, metric: argMetricSpread,
	accuracy: "no radius, as it depends on the readings",
	plain: words{"Releases several percentiles of a group for one epsilon; answers a JSON array.", chargesMetric,
		"The array has {\"p\":..,\"value\":..} for each percentile in the order of the list; json_each makes rows of it. Values are of the universe and never fall with p; for the rank of each see dx_percentile, which is the answer for a list of one. " +
			"Under d1 the values are read from a curve: sums of runs of the sorted readings with noise cost together what one sum costs. " +
			"Under dh the middle one of the list is drawn first, and divides readings and list: both halves go on in the same way, with a part of epsilon for each level. Equal readings are divided at random. " +
			"A short list of outer percentiles is better asked about one by one, each with its part of epsilon, and is answered so: the list alone decides. " + perGroup,
		[]string{
			"SELECT dx_percentiles('ana', x, '[25, 50, 75]', 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
			"SELECT each.value ->> 'p' AS p, round(each.value ->> 'value', 2) AS kwh FROM (SELECT dx_percentiles('ana', x, '[5, 50, 95]', 5, 'halfhour', 'dh') AS answer FROM (SELECT 0.412 AS x UNION SELECT 0.388)), json_each(answer) AS each",
		}},
	sealed: words{"Releases several percentiles of sealed readings for one epsilon; answers a JSON array.", chargesSealed, sealedNotes,
		[]string{"SELECT dx_percentiles(kwh, '[25, 50, 75]', 5) FROM reading"}},
}
