package reading

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// Notes that functions over sealed values share.
const (
	sealedNotes = unseal.RowNote + "epsilon and metric must be constant within a group. A group charges all its accounts or none. " +
		"Under d1 an account is charged, for all groups and functions of a statement together, the largest sum of epsilon for any of its values, which may be in several groups or repeated in one. "
	chargesSealed      = "epsilon to each account: for its values together in the universe's unit (d1), or for each value in unit record (nd1, dh)"
	chargesSealedUnits = "epsilon to each account: for its values together in the universe's unit (d1), once per group (dinf), or for each value in unit record (nd1, dh)"
)

var sealedFunctions = []*frame.Function{
	{
		Name: "dx_value", Section: frame.OverSealed, Returns: "REAL",
		Args:    []*frame.Arg{unseal.ArgSealed, argEpsValue},
		Does:    "Releases one sealed reading with the truncated geometric mechanism.",
		Charges: "epsilon in the universe's unit to the value's account, for each evaluation",
		Notes:   "NULL, and an erased or revoked value, gives NULL and charges nobody.",
		Answer:  sealedValue,
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
	{
		Name: "dx_histogram", Section: frame.OverSealed, Returns: "TEXT",
		Args:      []*frame.Arg{unseal.ArgSealed, frame.ArgEpsRecord, argBins},
		Does:      "Counts sealed readings in the bins of their universe, with geometric noise on each count; answers a JSON array.",
		Charges:   "epsilon in unit record to each account, for each of its values",
		Notes:     unseal.RowNote + "epsilon and bins must be constant within a group.",
		Aggregate: func(*frame.Session) frame.Group { return unseal.NewGroup(new(sealedHistogramForm)) },
	},
}

// sealedValue pays for a sealed reading and draws.
func sealedValue(c frame.Call) (frame.Answer, error) {
	o, present, err := unseal.Open(c, unseal.ArgSealed)
	if err != nil || !present {
		return frame.Answer{}, err
	}
	u, err := unseal.UniverseOf(c.Session, o.Of)
	if err != nil {
		return frame.Answer{}, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	query, err := valueQuery.newQueryOn(c, u.Universe)
	if err != nil {
		return frame.Answer{}, err
	}
	return unseal.PayOne(c, o, query.Price(), func(paid frame.Receipt) frame.Answer {
		var reading scalar.Accumulator
		query.AddIndex(&reading, u.Index(o.Data))
		return frame.NumberAnswer(drawReading(c, paid, query, &reading))
	})
}

// sealedQuery returns the row for a query over sealed readings. The plain function of the name
// says what it releases.
func sealedQuery(name, does, charges string, q queryArguments) *frame.Function {
	q.epsilon = argEpsQuery
	f := &frame.Function{
		Name: name, Section: frame.OverSealed, Returns: "REAL", Does: does, Charges: charges,
		Notes:     sealedNotes + "Everything else is as over plain readings.",
		Args:      []*frame.Arg{unseal.ArgSealed},
		Aggregate: func(*frame.Session) frame.Group { return unseal.NewGroup(&sealedQueryForm{arguments: &q}) },
	}
	for _, a := range []*frame.Arg{q.rank, q.epsilon, q.metric} {
		if a != nil {
			f.Args = append(f.Args, a)
		}
	}
	return f
}

// sealedQueryForm is a query over sealed readings.
type sealedQueryForm struct {
	arguments *queryArguments
	universe  *unseal.Universe
	query     *scalar.Query
	acc       scalar.Accumulator
}

func (f *sealedQueryForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	if f.universe, err = unseal.UniverseOf(c.Session, of); err != nil {
		return price, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	if f.query, err = f.arguments.newQueryOn(c, f.universe.Universe); err != nil {
		return price, err
	}
	f.Clear()
	price.Price = f.query.Price()
	switch {
	case f.query.Disjoint():
		price.Per = unseal.PerValue
	case f.query.PerRow():
		price.Per = unseal.PerRow
	}
	return price, nil
}

func (f *sealedQueryForm) Add(_ int, d sealed.Data) { f.query.AddIndex(&f.acc, f.universe.Index(d)) }
func (f *sealedQueryForm) Clear()                   { f.query.Reset(&f.acc) }

func (f *sealedQueryForm) Bytes(values int64) int64 {
	if f.query.Keeps() {
		return unseal.ReadingSize * values
	}
	return 0
}

func (f *sealedQueryForm) Draw(c frame.Call, paid frame.Receipt) frame.Answer {
	return frame.NumberAnswer(drawReading(c, paid, f.query, &f.acc))
}

func (f *sealedQueryForm) Radius(p float64, rows int64) (r float64, unit budget.Unit, err error) {
	r, err = f.query.Radius(p, rows)
	return r, f.universe.Unit(), err
}

// sealedHistogramForm is a histogram of sealed readings.
type sealedHistogramForm struct {
	universe  *unseal.Universe
	histogram *scalar.Histogram
	counts    scalar.BinCounts
}

func (f *sealedHistogramForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	if f.universe, err = unseal.UniverseOf(c.Session, of); err != nil {
		return price, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	if f.histogram, err = histogram(c, f.universe.Universe); err != nil {
		return price, err
	}
	return unseal.Terms{Price: f.histogram.Price(), Per: unseal.PerRow}, nil
}

func (f *sealedHistogramForm) Add(_ int, d sealed.Data) {
	f.histogram.AddIndex(&f.counts, f.universe.Index(d))
}

func (f *sealedHistogramForm) Bytes(int64) int64 { return unseal.BinSize * f.histogram.Bins() }

func (f *sealedHistogramForm) Clear() { f.counts = scalar.BinCounts{} }

func (f *sealedHistogramForm) Draw(_ frame.Call, paid frame.Receipt) frame.Answer {
	return histogramAnswer(paid, f.histogram, &f.counts)
}
