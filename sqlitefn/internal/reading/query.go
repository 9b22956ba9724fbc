package reading

import (
	"math"
	"math/big"
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// Arguments of the functions that release readings.
var (
	argRank         = &frame.Arg{Name: "p", Is: "the percentile, 0..100", Kind: frame.Number, Setting: true}
	argEpsQuery     = &frame.Arg{Name: "epsilon", Is: "distinguishability per unit of the universe, or per record under nd1 and dh", Kind: frame.Positive, Setting: true}
	argMetric       = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'nd1', 'dh': protect whole records", Kind: frame.Text, Optional: true, Setting: true}
	argMetricSpread = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'dh': protects whole records", Kind: frame.Text, Optional: true, Setting: true}
	argMetricAll    = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'nd1', 'dh': protect whole records; 'dinf': the accuracy of all values at once", Kind: frame.Text, Optional: true, Setting: true}
)

// Notes that several functions share.
const (
	perGroup = "epsilon, universe and metric must be constant within a group. A group charges all its accounts or none. " +
		"A row with NULL as reading contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL. " +
		"Under d1 the groups of a GROUP BY cost an account the largest epsilon among them if it is proved that no row of a table is in two of them; otherwise each of them costs. " +
		"budget_cost says which and why."
	rankNote = "The answer is a value of the universe. Under dinf it has geometric noise and is clamped to lo..hi. " +
		"Under dh a value is the likelier, the fewer ranks it is off; under nd1, the less the readings would have to move to make it the answer. " +
		"Under d1 it is drawn in the latter way or with noise, whichever is better for the number of readings, epsilon, universe and p. "
)

const (
	chargesGroup  = "epsilon to each account, once for all disjoint groups (d1) or once per group (dinf) in the universe's unit, or once per contributed row in unit record (nd1, dh)"
	chargesMetric = "epsilon to each account, once for all disjoint groups in the universe's unit (d1), or once per contributed row in unit record (nd1, dh)"
)

var queryFunctions = []*frame.Function{
	{
		Name: "dx_value", Section: frame.ReleasedValues, Returns: "REAL",
		Args:     []*frame.Arg{frame.ArgAccount, frame.ArgX, argEpsValue, frame.ArgUniverse},
		Does:     "Releases one reading with the truncated geometric mechanism.",
		Charges:  "epsilon in the universe's unit to the account, for each evaluation",
		Notes:    "A NULL reading gives NULL and charges nobody.",
		Examples: []string{"SELECT dx_value('ana', 0.412, 5, 'halfhour')"},
		Scalar:   dxValue,
	},
	sumQuery.row(frame.Function{
		Name:    "dx_sum",
		Does:    "Sums readings exactly and adds geometric noise.",
		Charges: chargesMetric,
		Notes: "Readings are first moved into the universe. The answer is clamped at 0 if lo >= 0, and not otherwise. " +
			"Under d1 a reading that a join repeats m times, or that is passed as c*x, is protected m or c times less. " + perGroup,
		Examples: []string{"SELECT dx_sum('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"},
	}),
	avgQuery.row(frame.Function{
		Name:    "dx_avg",
		Does:    "Averages readings: their sum with geometric noise, divided by how many there are, and moved into lo..hi.",
		Charges: chargesGroup,
		Notes: "Under d1 and dinf it is public how many readings there are: the noise has scale 1/(epsilon*readings) under d1 and 1/epsilon under dinf, and without a reading the answer is lo. " +
			"Under nd1 and dh half of epsilon pays for the sum of the distances from the middle of the universe, with noise of scale (hi - lo)/epsilon, and half for the number of readings, with noise of scale 2/epsilon. " + perGroup,
		Examples: []string{"SELECT dx_avg('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"},
	}),
	varianceQuery(scalar.Variance, "dx_variance", "Releases the variance of readings, in the universe's unit squared.",
		"SELECT dx_variance('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	varianceQuery(scalar.StdDev, "dx_stddev", "Releases the standard deviation of readings, which is the root of dx_variance.",
		"SELECT dx_stddev('ana', x, 2, 'halfhour', 'dh') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	rankQuery(scalar.Min, "dx_min", "Releases the smallest reading.",
		"SELECT dx_min('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	rankQuery(scalar.Max, "dx_max", "Releases the largest reading.",
		"SELECT dx_max('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	rankQuery(scalar.Median, "dx_median", "Releases the median, which is dx_percentile with p = 50.",
		"SELECT dx_median('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	percentileQuery.row(frame.Function{
		Name:     "dx_percentile",
		Does:     "Releases the p-percentile: the reading of rank min(m, floor(p*m/100)+1) among m, without interpolation.",
		Charges:  chargesGroup,
		Notes:    rankNote + perGroup,
		Examples: []string{"SELECT dx_percentile('ana', x, 95, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"},
	}),
}

// varianceQuery returns the row for a variance or its root.
func varianceQuery(a scalar.Aggregate, name, does, example string) *frame.Function {
	q := queryArguments{aggregate: a, x: frame.ArgX, epsilon: argEpsQuery, universe: frame.ArgUniverse, metric: argMetricSpread}
	return q.row(frame.Function{
		Name:    name,
		Does:    does,
		Charges: chargesMetric,
		Notes: "A noisy sum of squares and a noisy sum of the distances from the middle of the universe, divided by the number of readings and moved into the range that the universe allows. " +
			"Under d1, where that number is public, each sum has half of epsilon; under dh each sum and the number have a third. " + perGroup,
		Examples: []string{example},
	})
}

// rankQuery returns the row for a percentile of fixed p.
func rankQuery(a scalar.Aggregate, name, does, example string) *frame.Function {
	q := queryArguments{aggregate: a, x: frame.ArgX, epsilon: argEpsQuery, universe: frame.ArgUniverse, metric: argMetricAll}
	return q.row(frame.Function{Name: name, Does: does, Charges: chargesGroup, Notes: rankNote + perGroup, Examples: []string{example}})
}

// queryArguments holds the arguments of a dx_ function, nil for those that it does not have.
type queryArguments struct {
	aggregate                          scalar.Aggregate
	x, rank, epsilon, universe, metric *frame.Arg
}

var (
	valueQuery      = queryArguments{aggregate: scalar.Value, x: frame.ArgX, epsilon: argEpsValue, universe: frame.ArgUniverse}
	sumQuery        = queryArguments{aggregate: scalar.Sum, x: frame.ArgX, epsilon: argEpsQuery, universe: frame.ArgUniverse, metric: argMetric}
	avgQuery        = queryArguments{aggregate: scalar.Avg, x: frame.ArgX, epsilon: argEpsQuery, universe: frame.ArgUniverse, metric: argMetricAll}
	percentileQuery = queryArguments{scalar.Percentile, frame.ArgX, argRank, argEpsQuery, frame.ArgUniverse, argMetricAll}
)

// row completes the row of an aggregate: its arguments follow from the query's.
func (q queryArguments) row(f frame.Function) *frame.Function {
	f.Section, f.Returns, f.Aggregate = frame.ReleasedValues, "REAL", q.newGroup
	f.Args = []*frame.Arg{frame.ArgContributor}
	for _, a := range []*frame.Arg{q.x, q.rank, q.epsilon, q.universe, q.metric} {
		if a != nil {
			f.Args = append(f.Args, a)
		}
	}
	return &f
}

// queryKey is what a query is built from.
type queryKey struct {
	aggregate     scalar.Aggregate
	universe      *scalar.Universe
	metric        budget.Metric
	epsilon, rank float64
}

// queries remembers queries, because the groups of a statement mostly share them.
var queries = frame.NewMemo[queryKey, *scalar.Query]()

// newQuery returns the query for the settings of a call.
func (q *queryArguments) newQuery(c frame.Call) (*scalar.Query, error) {
	if q.universe == nil {
		return q.newQueryOn(c, nil)
	}
	universe, err := declared.Universe(c, q.universe)
	if err != nil {
		return nil, err
	}
	return q.newQueryOn(c, universe)
}

// newQueryOn returns the query for the settings of a call on a universe, nil for a count.
func (q *queryArguments) newQueryOn(c frame.Call, universe *scalar.Universe) (_ *scalar.Query, err error) {
	key := queryKey{aggregate: q.aggregate, universe: universe, epsilon: c.Number(q.epsilon)}
	if q.rank != nil {
		key.rank = c.Number(q.rank)
	}
	if q.metric != nil {
		if key.metric, err = metric(c, q.metric); err != nil {
			return nil, err
		}
	}
	return queries.Get(c.Session, key, key.newQuery)
}

// metric returns the metric that an argument names, d1 without the argument.
func metric(c frame.Call, a *frame.Arg) (budget.Metric, error) {
	if !c.Given(a) {
		return budget.D1, nil
	}
	return budget.ParseMetric(c.Text(a))
}

func (k queryKey) newQuery() (*scalar.Query, error) {
	var p *big.Rat
	if k.aggregate == scalar.Percentile {
		p = budget.Decimal(k.rank)
	}
	return scalar.NewQuery(k.aggregate, k.universe, k.metric, budget.Decimal(k.epsilon), p)
}

// drawReading answers a query for readings, or with its stand-in in a dry run.
func drawReading(c frame.Call, paid frame.Receipt, q *scalar.Query, acc *scalar.Accumulator) float64 {
	r := frame.Draw(paid, func(source *exact.Source) scalar.Release { return q.Release(source, acc) }, q.StandIn())
	if paid.Here() {
		answersOf.Of(c.Statement()).add(c.Session, q, r)
	}
	return r.Value
}

// queryGroup is a group of a dx_ aggregate: its exact accumulator and the accounts that
// contributed. Nothing is charged or drawn before the group is complete.
type queryGroup struct {
	*queryArguments
	query  *scalar.Query
	acc    scalar.Accumulator
	paying frame.Contributors
}

// queryGroupPool holds the memory of complete groups.
var queryGroupPool = sync.Pool{New: func() any { return new(queryGroup) }}

func (q *queryArguments) newGroup(*frame.Session) frame.Group {
	g := queryGroupPool.Get().(*queryGroup)
	g.queryArguments = q
	return g
}

// recycle gives the group's memory to a later one.
func (g *queryGroup) recycle() {
	g.paying.Reset()
	g.query = nil
	queryGroupPool.Put(g)
}

func (g *queryGroup) Begin(c frame.Call) (err error) {
	if g.query, err = frame.Plan(c, g.newQuery); err != nil {
		return err
	}
	g.query.Reset(&g.acc)
	return nil
}

func (g *queryGroup) Row(c frame.Call) error {
	x, absent := c.Reading(g.x)
	if absent {
		return nil
	}
	if err := g.paying.Contribute(c); err != nil {
		return err
	}
	g.query.Add(&g.acc, x)
	return nil
}

// Take adds rows whose account is TEXT and may be charged, and whose reading is a finite REAL. The
// accounts come first, in a loop of their own, which waits for the memory of several at once.
func (g *queryGroup) Take(values []sqlite.Value, each int) (rows int) {
	for at := 0; at < len(values); at += each {
		account, x := &values[at], &values[at+1] // see queryArguments.row
		if account.Type() != sqlite.Text || x.Type() != sqlite.Float || math.IsInf(x.Float(), 0) {
			break
		}
		name := account.Bytes()
		if string(name) == "*" {
			break
		}
		g.paying.Add(name)
		rows++
	}
	for i := range rows {
		g.query.Add(&g.acc, values[i*each+1].Float())
	}
	return rows
}

// Final charges all accounts in one transaction and draws.
func (g *queryGroup) Final(c frame.Call) error {
	defer g.recycle()
	paid, err := g.pay(c)
	if err != nil {
		return err
	}
	c.ResultFloat(0, drawReading(c, paid, g.query, &g.acc))
	return nil
}

// pay pays for the group. Under d1 the groups of a statement may cost once.
func (g *queryGroup) pay(c frame.Call) (frame.Receipt, error) {
	if !g.query.Disjoint() {
		return g.paying.Pay(c, g.query.Price(), g.query.PerRow())
	}
	b, err := g.paying.Bill(g.query.Price(), false)
	if err != nil {
		return frame.Receipt{}, err
	}
	return c.PayDisjoint(b)
}
