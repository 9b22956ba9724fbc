package sqlitefn

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
)

// Notes that functions over sealed values share.
const (
	sealedRow = "A row counts as NULL if its value is NULL, its account erased or its session revoked: it contributes nothing and charges nobody. A group without values gives NULL. " +
		"A value that a group has more than once is an error, unless --max-repeat allows it. "
	sealedNotes = sealedRow + "epsilon and metric must be constant within a group. A group charges all its accounts or none. " +
		"Under d1 an account is charged, for all groups and functions of a statement together, the largest sum of epsilon for any of its values, which may be in several groups or repeated in one. "
	chargesSealed      = "epsilon to each account: for its values together in the universe's unit (d1), or for each value in unit record (nd1, dh)"
	chargesSealedUnits = "epsilon to each account: for its values together in the universe's unit (d1), once per group (dinf), or for each value in unit record (nd1, dh)"
)

var sealedReadingFunctions = []*function{
	&function{
		name: "dx_value", section: overSealed,
		args:    []*argument{argSealed, argEpsValue},
		does:    "Releases one sealed reading with the truncated geometric mechanism.",
		charges: "epsilon in the universe's unit to the value's account, for each evaluation",
		notes:   "NULL, and what is erased or revoked, gives NULL and charges nobody.",
		answer:  sealedValue,
	},
	sealedQuery("dx_sum", "Sums sealed readings exactly and adds geometric noise.", chargesSealed,
		queryArguments{aggregate: scalar.Sum, metric: argMetric}),
	sealedQuery("dx_avg", "Averages sealed readings: their sum with geometric noise, divided by how many there are.", chargesSealedUnits,
		queryArguments{aggregate: scalar.Avg, metric: argMetricAll}),
	sealedQuery("dx_variance", "Releases the variance of sealed readings, in the universe's unit squared.", chargesSealed,
		queryArguments{aggregate: scalar.Variance, metric: argMetricSpread}),
	sealedQuery("dx_stddev", "Releases the standard deviation of sealed readings.", chargesSealed,
		queryArguments{aggregate: scalar.StdDev, metric: argMetricSpread}),
	sealedQuery("dx_min", "Releases the smallest sealed reading.", chargesSealedUnits,
		queryArguments{aggregate: scalar.Min, metric: argMetricAll}),
	sealedQuery("dx_max", "Releases the largest sealed reading.", chargesSealedUnits,
		queryArguments{aggregate: scalar.Max, metric: argMetricAll}),
	sealedQuery("dx_median", "Releases the median of sealed readings.", chargesSealedUnits,
		queryArguments{aggregate: scalar.Median, metric: argMetricAll}),
	sealedQuery("dx_percentile", "Releases the p-percentile of sealed readings.", chargesSealedUnits,
		queryArguments{aggregate: scalar.Percentile, rank: argRank, metric: argMetricAll}),
	&function{
		name: "dx_histogram", section: overSealed,
		args:      []*argument{argSealed, argEpsRecord, argBins},
		does:      "Counts sealed readings in the bins of their universe, with geometric noise on each count; answers a JSON array.",
		charges:   "epsilon in unit record to each account, for each of its values",
		notes:     sealedRow + "epsilon and bins must be constant within a group.",
		aggregate: func(*session) group { return newSealedGroup(new(sealedHistogramForm)) },
	},
}

// sealedValue pays for a sealed reading and draws.
func sealedValue(c call) (answer, error) {
	o, present, err := c.open(argSealed)
	if err != nil || !present {
		return answer{}, err
	}
	u, err := c.session.sealedUniverse(o.of)
	if err != nil {
		return answer{}, c.argErrorf(argSealed, "%w", err)
	}
	query, err := valueQuery.newQueryOn(c, u.Universe)
	if err != nil {
		return answer{}, err
	}
	return c.payOne(o, query.Price(), func(paid receipt) answer {
		var reading scalar.Accumulator
		query.AddIndex(&reading, u.index(o.Data))
		return answer{kind: ofNumber, number: drawReading(c, paid, query, &reading)}
	})
}

// sealedQuery returns the row for a query over sealed readings. The plain function of the name
// says what it releases.
func sealedQuery(name, does, charges string, q queryArguments) *function {
	q.epsilon = argEpsQuery
	f := &function{
		name: name, section: overSealed, does: does, charges: charges,
		notes:     sealedNotes + "Everything else is as over plain readings.",
		args:      []*argument{argSealed},
		aggregate: func(*session) group { return newSealedGroup(&sealedQueryForm{arguments: &q}) },
	}
	for _, a := range []*argument{q.rank, q.epsilon, q.metric} {
		if a != nil {
			f.args = append(f.args, a)
		}
	}
	return f
}

// sealedQueryForm is a query over sealed readings.
type sealedQueryForm struct {
	arguments *queryArguments
	universe  *sealedUniverse
	query     *scalar.Query
	acc       scalar.Accumulator
}

func (f *sealedQueryForm) start(c call, of sealedRange) (price sealedPrice, err error) {
	if f.universe, err = c.session.sealedUniverse(of); err != nil {
		return price, c.argErrorf(argSealed, "%w", err)
	}
	if f.query, err = f.arguments.newQueryOn(c, f.universe.Universe); err != nil {
		return price, err
	}
	f.clear()
	price.Price = f.query.Price()
	switch {
	case f.query.Disjoint():
		price.per = perValue
	case f.query.PerRow():
		price.per = perRow
	}
	return price, nil
}

func (f *sealedQueryForm) add(_ int, d sealed.Data) { f.query.AddIndex(&f.acc, f.universe.index(d)) }
func (f *sealedQueryForm) clear()                   { f.query.Reset(&f.acc) }

func (f *sealedQueryForm) bytes(values int64) int64 {
	if f.query.Keeps() {
		return readingSize * values
	}
	return 0
}

func (f *sealedQueryForm) draw(c call, paid receipt) answer {
	return answer{kind: ofNumber, number: drawReading(c, paid, f.query, &f.acc)}
}

func (f *sealedQueryForm) radius(p float64, rows int64) (r float64, unit budget.Unit, err error) {
	r, err = f.query.Radius(p, rows)
	return r, f.universe.Unit(), err
}

// sealedHistogramForm is a histogram of sealed readings.
type sealedHistogramForm struct {
	universe  *sealedUniverse
	histogram *scalar.Histogram
	counts    scalar.BinCounts
}

func (f *sealedHistogramForm) start(c call, of sealedRange) (price sealedPrice, err error) {
	if f.universe, err = c.session.sealedUniverse(of); err != nil {
		return price, c.argErrorf(argSealed, "%w", err)
	}
	if f.histogram, err = c.histogram(f.universe.Universe); err != nil {
		return price, err
	}
	return sealedPrice{f.histogram.Price(), perRow}, nil
}

func (f *sealedHistogramForm) add(_ int, d sealed.Data) {
	f.histogram.AddIndex(&f.counts, f.universe.index(d))
}

func (f *sealedHistogramForm) bytes(int64) int64 { return binSize * f.histogram.Bins() }

func (f *sealedHistogramForm) clear() { f.counts = scalar.BinCounts{} }

func (f *sealedHistogramForm) draw(_ call, paid receipt) answer {
	return histogramAnswer(paid, f.histogram, &f.counts)
}
