package sqlitefn

import (
	"math/big"

	"github.com/geosql/geosql/mechanism/scalar"
)

var (
	argAggregate   = &argument{name: "aggregate", is: "'sum', 'avg', 'min', 'max', 'median', 'percentile', 'count' or 'value'", kind: kindText}
	argReach       = &argument{name: "radius", is: "how far from the true answer the answer may be, in the universe's unit, or in rows for 'count'", kind: kindPositive}
	argLiesWithin  = &argument{name: "p", is: "probability, 0 < p < 1", kind: kindNumber}
	argAnyUniverse = &argument{name: "universe", is: "name of a universe; NULL for 'count'", kind: orNull(kindText)}
	argRows        = &argument{name: "rows", is: "INTEGER: how many readings there are, for 'avg'", kind: kindRows, optional: true}
)

const leastEpsilonNote = "The answer is rounded up to six significant digits, so that the radius of it is at most the one that was asked for. It is at least 1e-12. "

var accuracyOfReadings = []*function{
	&function{
		name: "dx_radius", section: free,
		args: []*argument{argAggregate, argLiesWithin, argEpsQuery, argAnyUniverse, argMetricAll, argRows},
		does: "Returns the accuracy of a query before anything is spent: with probability p, the answer lies within this distance of the true one.",
		notes: "An average is the more accurate the more readings there are. Without rows, its radius is that of a single reading under d1 and dinf; " +
			"under nd1 and dh rows must be given, and the radius is that of the worst readings. " +
			"It is an error for percentiles, extremes included, under d1, nd1 and dh, whose accuracy depends on the readings.",
		example: []string{"SELECT dx_radius('sum', 0.95, 2, 'halfhour')", "SELECT dx_radius('avg', 0.95, 2, 'halfhour', 'd1', 1488)"},
		scalar:  queryRadius,
	}, &function{
		name: "dx_epsilon_for", section: free,
		args: []*argument{argAggregate, argReach, argLiesWithin, argAnyUniverse, argMetricAll, argRows},
		does: "Returns the smallest epsilon with which an answer lies within a radius of the true one with probability p.",
		notes: "The inverse of dx_radius, and an error where that is one. " + leastEpsilonNote +
			"A radius that the largest epsilon does not reach is an error.",
		example: []string{"SELECT dx_epsilon_for('sum', 1.5, 0.95, 'halfhour')", "SELECT dx_epsilon_for('avg', 0.1, 0.95, 'halfhour', 'dh', 1000)"},
		scalar:  queryEpsilon,
	}, &function{
		name: "dx_rank_radius", section: free,
		args:    []*argument{argLiesWithin, argEpsRecord, argUniverse},
		does:    "Returns how many ranks a percentile under dh is off at most with probability p, whatever the readings are.",
		notes:   "If the answer is above the true percentile, at most so many readings would have to move up to it, and likewise below.",
		example: []string{"SELECT dx_rank_radius(0.95, 1, 'halfhour')"},
		scalar:  rankRadius,
	},
}

// rankRadius answers the accuracy of a percentile under dh.
func rankRadius(c call) error {
	u, err := c.universe(argUniverse)
	if err != nil {
		return err
	}
	ranks, err := scalar.RankRadius(c.number(argLiesWithin), c.decimal(argEpsRecord), u)
	if err != nil {
		return err
	}
	c.ResultInt(0, ranks)
	return nil
}

// queryRadius answers the accuracy of a query.
func queryRadius(c call) error {
	at, err := c.queryAt()
	if err != nil {
		return err
	}
	q, err := at(c.decimal(argEpsQuery))
	if err != nil {
		return err
	}
	r, err := q.Radius(c.number(argLiesWithin), int64(c.number(argRows)))
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
	return nil
}

// queryEpsilon answers the epsilon of a query that is as accurate as asked for.
func queryEpsilon(c call) error {
	at, err := c.queryAt()
	if err != nil {
		return err
	}
	eps, err := scalar.EpsilonFor(c.number(argReach), c.number(argLiesWithin), int64(c.number(argRows)), at)
	if err != nil {
		return err
	}
	c.resultEpsilon(eps)
	return nil
}

// queryAt returns what makes the query that the call describes, for an epsilon.
func (c call) queryAt() (func(eps *big.Rat) (*scalar.Query, error), error) {
	a, err := scalar.ParseAggregate(c.text(argAggregate))
	if err != nil {
		return nil, err
	}
	var u *scalar.Universe
	if a != scalar.Count {
		if u, err = c.universe(argAnyUniverse); err != nil {
			return nil, err
		}
	}
	metric, err := c.metric(argMetricAll)
	if err != nil {
		return nil, err
	}
	var rank *big.Rat
	if a == scalar.Percentile {
		rank = big.NewRat(50, 1) // the accuracy is the same for every rank
	}
	return func(eps *big.Rat) (*scalar.Query, error) { return scalar.NewQuery(a, u, metric, eps, rank) }, nil
}

// resultEpsilon sets the result to an epsilon, a decimal of few digits.
func (c call) resultEpsilon(eps *big.Rat) {
	e, _ := eps.Float64()
	c.ResultFloat(0, e)
}
