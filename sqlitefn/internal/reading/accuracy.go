package reading

import (
	"math/big"

	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var (
	argAggregate   = &frame.Arg{Name: "aggregate", Is: "'sum', 'avg', 'variance', 'stddev', 'min', 'max', 'median', 'percentile', 'count' or 'value'", Kind: frame.Text}
	argReach       = &frame.Arg{Name: "radius", Is: "how far from the true answer the answer may be, in the universe's unit, or in rows for 'count'", Kind: frame.Positive}
	argLiesWithin  = &frame.Arg{Name: "p", Is: "probability, 0 < p < 1", Kind: frame.Number}
	argAnyUniverse = &frame.Arg{Name: "universe", Is: "name of a universe; NULL for 'count'", Kind: frame.OrNull(frame.Text)}
	argRows        = &frame.Arg{Name: "rows", Is: "INTEGER: how many readings there are, for 'avg', 'variance' and 'stddev'", Kind: frame.Rows, Optional: true}
	argRanked      = &frame.Arg{Name: "aggregate", Is: "'percentile' (default), 'min', 'max' or 'median'", Kind: frame.Text, Optional: true}
)

var accuracyFunctions = []*frame.Function{
	{
		Name: "dx_radius", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{argAggregate, argLiesWithin, argEpsQuery, argAnyUniverse, argMetricAll, argRows},
		Does:     "Returns the accuracy of a query before anything is spent: with probability p, the answer lies within this distance of the true one.",
		Accuracy: frame.RadiusAccuracy,
		Notes: "Averages and variances are the more accurate the more readings there are. Without rows, the radius is that of a single reading under d1 and dinf; " +
			"for averages under nd1 and dh rows must be given, and the radius is that of the worst readings. So is that of variances and their roots under d1: for roots it is that of readings that are all alike, " +
			"and dx_within knows better. " +
			"In the universe of a sealed column it is that of sealed values, and how many there are is public under each metric. " +
			"It is an error for variances under dh, and for percentiles, extremes included, under d1, nd1 and dh, as their accuracy depends on the readings, but not under 'd1/noise'.",
		Examples: []string{"SELECT dx_radius('sum', 0.95, 2, 'halfhour')", "SELECT dx_radius('avg', 0.95, 2, 'halfhour', 'd1', 1488)"},
		Scalar:   queryRadius,
	}, {
		Name: "dx_epsilon_for", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{argAggregate, argReach, argLiesWithin, argAnyUniverse, argMetricAll, argRows},
		Does:     "Returns the smallest epsilon with which an answer lies within a radius of the true one with probability p.",
		Accuracy: frame.EpsilonAccuracy,
		Notes: "The inverse of dx_radius, and an error where that is one. " +
			"A radius that the largest epsilon does not reach is an error.",
		Examples: []string{"SELECT dx_epsilon_for('sum', 1.5, 0.95, 'halfhour')", "SELECT dx_epsilon_for('avg', 0.1, 0.95, 'halfhour', 'dh', 1000)"},
		Scalar:   queryEpsilon,
	}, {
		Name: "dx_rank_radius", Section: frame.Free, Returns: "INTEGER",
		Args: []*frame.Arg{argLiesWithin, frame.ArgEpsRecord, frame.ArgUniverse, argRanked},
		Does: "Returns how many ranks a percentile under dh is off at most with probability p, whatever the readings are.",
		Notes: "If the answer is above the true percentile, at most so many readings would have to move up to it, and likewise below. " +
			"For 'max' the ranks are added by which dx_max aims inside.",
		Examples: []string{"SELECT dx_rank_radius(0.95, 1, 'halfhour')", "SELECT dx_rank_radius(0.95, 5, 'halfhour', 'max')"},
		Scalar:   rankRadius,
	},
}

// rankRadius answers the accuracy of a percentile under dh.
func rankRadius(c frame.Call) error {
	u, err := declared.Universe(c, frame.ArgUniverse)
	if err != nil {
		return err
	}
	a := scalar.Median
	if c.Given(argRanked) {
		if a, err = scalar.ParseAggregate(c.Text(argRanked)); err != nil {
			return err
		}
	}
	ranks, err := scalar.RankRadius(a, c.Number(argLiesWithin), c.Decimal(frame.ArgEpsRecord), u)
	if err != nil {
		return err
	}
	c.ResultInt(0, ranks)
	return nil
}

// queryRadius answers the accuracy of a query.
func queryRadius(c frame.Call) error {
	at, err := queryAt(c)
	if err != nil {
		return err
	}
	q, err := at(c.Decimal(argEpsQuery))
	if err != nil {
		return err
	}
	r, err := q.Radius(c.Number(argLiesWithin), int64(c.Number(argRows)))
	if err != nil {
		return err
	}
	c.ResultRadius(r)
	return nil
}

// queryEpsilon answers the epsilon of a query that is as accurate as asked for.
func queryEpsilon(c frame.Call) error {
	at, err := queryAt(c)
	if err != nil {
		return err
	}
	eps, err := scalar.EpsilonFor(c.Number(argReach), c.Number(argLiesWithin), int64(c.Number(argRows)), at)
	if err != nil {
		return err
	}
	c.ResultEpsilon(eps)
	return nil
}

// queryAt returns what makes the query that the call describes, for an epsilon.
func queryAt(c frame.Call) (func(eps *big.Rat) (*scalar.Query, error), error) {
	a, err := scalar.ParseAggregate(c.Text(argAggregate))
	if err != nil {
		return nil, err
	}
	var u *scalar.Universe
	if a.TakesUniverse() {
		if u, err = declared.Universe(c, argAnyUniverse); err != nil {
			return nil, err
		}
	}
	metric, a, err := metric(c, argMetricAll, a)
	if err != nil {
		return nil, err
	}
	newQuery := scalar.NewQuery
	if u != nil {
		sealed, err := unseal.HasColumnIn(c.Session, u.Name())
		if err != nil {
			return nil, err
		}
		if sealed {
			newQuery = scalar.NewQueryOfKnownRows
		}
	}
	return func(eps *big.Rat) (*scalar.Query, error) { return newQuery(a, u, metric, eps) }, nil
}
