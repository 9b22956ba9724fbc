package sqlitefn

import "github.com/geosql/geosql/mechanism/scalar"

// Notes that functions over sealed values share.
const (
	sealedRow = "A row counts as NULL if its value is NULL, its account erased or its session revoked: it contributes nothing and charges nobody. A group without values gives NULL. " +
		"A value that a group has more than once is an error, unless --max-repeat allows it. "
	sealedGroup = sealedRow + "epsilon and metric must be constant within a group. A group charges all its accounts or none. " +
		"Under d1 an account is charged, for all groups and functions of a statement together, the largest sum of epsilon for any of its values, which may be in several groups or repeated in one. "
	chargesSealed      = "epsilon to each account: for its values together in the universe's unit (d1), or for each value in unit record (nd1, dh)"
	chargesSealedUnits = "epsilon to each account: for its values together in the universe's unit (d1), once per group (dinf), or for each value in unit record (nd1, dh)"
)

func init() {
	register(
		&function{
			name: "dx_value", section: overSealed,
			args:    []*argument{argSealed, argEpsValue},
			does:    "Releases one sealed reading with the truncated geometric mechanism.",
			charges: "epsilon in the universe's unit to the value's account, for each evaluation",
			notes:   "NULL, and what is erased or revoked, gives NULL and charges nobody.",
			scalar:  dxSealedValue,
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
			aggregate: func(*session) group { return new(sealedHistogramGroup) },
		},
	)
}

// dxSealedValue releases one sealed reading.
func dxSealedValue(c call) error {
	o, present, err := c.open(argSealed)
	if err != nil || !present {
		return err
	}
	u, err := c.session.sealedUniverse(o.of)
	if err != nil {
		return c.argErrorf(argSealed, "%w", err)
	}
	query, err := valueQuery.newQueryOn(c, u.Universe)
	if err != nil {
		return err
	}
	t := c.statement()
	paid, err := t.session.payer.pay(t, c.function, []byte(o.name()), query.Price())
	if err != nil {
		return err
	}
	var reading scalar.Accumulator
	query.AddIndex(&reading, u.index(o.Data))
	c.ResultFloat(0, drawReading(t, paid, query, &reading))
	return nil
}

// sealedQuery returns the row for a query over sealed readings. The plain function of the name
// says what it releases.
func sealedQuery(name, does, charges string, q queryArguments) *function {
	q.epsilon = argEpsQuery
	f := &function{
		name: name, section: overSealed, does: does, charges: charges,
		notes:     sealedGroup + "Everything else is as over plain readings.",
		args:      []*argument{argSealed},
		aggregate: func(*session) group { return &sealedQueryGroup{arguments: &q} },
	}
	for _, a := range []*argument{q.rank, q.epsilon, q.metric} {
		if a != nil {
			f.args = append(f.args, a)
		}
	}
	return f
}

// sealedQueryGroup is a group of a dx_ aggregate over sealed readings. Nothing is drawn before it
// is complete and paid.
type sealedQueryGroup struct {
	arguments *queryArguments
	universe  *sealedUniverse
	query     *scalar.Query // nil before the first value
	acc       scalar.Accumulator
	rows      sealedRows
}

func (*sealedQueryGroup) begin(call) error { return nil } // the first value says what the group is about

func (g *sealedQueryGroup) row(c call) error {
	m, o, err := g.rows.open(c, argSealed)
	if m == nil || err != nil {
		return err
	}
	if g.query == nil {
		if err := g.start(c, o.of); err != nil {
			return err
		}
	}
	if g.rows.values != nil {
		if err := g.rows.step(m, o, g.query.Price().Amount); err != nil {
			return err
		}
	}
	g.query.AddIndex(&g.acc, g.universe.index(o.Data))
	return nil
}

// start builds the query for readings of a range.
func (g *sealedQueryGroup) start(c call, of sealedRange) (err error) {
	if g.universe, err = c.session.sealedUniverse(of); err != nil {
		return c.argErrorf(argSealed, "%w", err)
	}
	if g.query, err = g.arguments.newQueryOn(c, g.universe.Universe); err != nil {
		return err
	}
	g.query.Reset(&g.acc)
	if g.query.Disjoint() {
		g.rows.values = c.statement().valueCharges(g.query.Price().Unit)
	}
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *sealedQueryGroup) final(c call) error {
	if g.query == nil {
		return nil
	}
	paid, err := g.pay(c)
	if err == nil {
		c.ResultFloat(0, drawReading(c.statement(), paid, g.query, &g.acc))
	}
	return err
}

func (g *sealedQueryGroup) pay(c call) (receipt, error) {
	if g.rows.values != nil {
		return g.rows.payValues(c, g.query.Price().Unit)
	}
	return g.rows.pay(c, g.query.Price(), g.query.PerRow())
}

// sealedHistogramGroup is a group of dx_histogram over sealed readings.
type sealedHistogramGroup struct {
	universe  *sealedUniverse
	histogram *scalar.Histogram // nil before the first value
	counts    scalar.BinCounts
	rows      sealedRows
}

func (*sealedHistogramGroup) begin(call) error { return nil }

func (g *sealedHistogramGroup) row(c call) error {
	m, o, err := g.rows.open(c, argSealed)
	if m == nil || err != nil {
		return err
	}
	if g.histogram == nil {
		if g.universe, err = c.session.sealedUniverse(o.of); err != nil {
			return c.argErrorf(argSealed, "%w", err)
		}
		if g.histogram, err = c.histogram(g.universe.Universe); err != nil {
			return err
		}
	}
	g.histogram.AddIndex(&g.counts, g.universe.index(o.Data))
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *sealedHistogramGroup) final(c call) error {
	if g.histogram == nil {
		return nil
	}
	paid, err := g.rows.pay(c, g.histogram.Price(), true)
	if err != nil {
		return err
	}
	c.resultHistogram(paid, g.histogram, &g.counts)
	return nil
}
