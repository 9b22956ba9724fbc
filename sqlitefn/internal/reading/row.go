package reading

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// A row is an aggregate of readings in SQL, over plain readings and over sealed ones.
type row struct {
	name      string
	returns   string // see [frame.Function]
	aggregate func(frame.Call) (scalar.Aggregate, error)

	// Its arguments: first comes before epsilon, last after all others; first, metric and last may be nil.
	first, epsilon, metric, last *frame.Arg

	accuracy      string
	plain, sealed words
}

// words describe a form of a function.
type words struct {
	does, charges, notes string
	examples             []string
}

// forms returns the functions of rows, each over plain readings and over sealed ones.
func forms(rows ...*row) (list []*frame.Function) {
	for _, r := range rows {
		plain := r.form(r.plain, frame.ArgContributor, frame.ArgX, r.first, r.epsilon, frame.ArgUniverse, r.metric, r.last)
		plain.Section, plain.Aggregate = frame.ReleasedValues, r.newGroup
		sealed := r.form(r.sealed, unseal.ArgSealed, r.first, r.epsilon, r.metric, r.last)
		sealed.Section, sealed.Aggregate, sealed.OnceBy = frame.OverSealed, r.newSealedGroup, unseal.PersonName
		list = append(list, plain, sealed)
	}
	return list
}

// form returns a function with the arguments that are not nil.
func (r *row) form(w words, args ...*frame.Arg) *frame.Function {
	args = slices.DeleteFunc(args, func(a *frame.Arg) bool { return a == nil })
	return &frame.Function{Name: r.name, Returns: r.returns, Args: args,
		Does: w.does, Accuracy: r.accuracy, Charges: w.charges, Notes: w.notes, Examples: w.examples}
}

// always returns the aggregate of calls that have no arguments for it.
func always(a scalar.Aggregate) func(frame.Call) (scalar.Aggregate, error) {
	return func(frame.Call) (scalar.Aggregate, error) { return a, nil }
}

// queryKey has all that decides a query.
type queryKey struct {
	aggregate scalar.Aggregate
	universe  *scalar.Universe
	metric    budget.Metric
	epsilon   float64
	known     bool // rows are, see scalar.NewQueryOfKnownRows
}

// queries remembers queries, because the groups of a statement mostly share them.
var queries = frame.NewMemo[queryKey, *scalar.Query]()

// newQuery returns the query for the settings of a call.
func (r *row) newQuery(c frame.Call) (*scalar.Query, error) {
	universe, err := declared.Universe(c, frame.ArgUniverse)
	if err != nil {
		return nil, err
	}
	return r.newQueryOn(c, universe)
}

// newQueryOn returns the query for the settings of a call on a universe, nil for a count.
func (r *row) newQueryOn(c frame.Call, universe *scalar.Universe) (*scalar.Query, error) {
	key, err := r.keyOn(c, universe)
	if err != nil {
		return nil, err
	}
	return queries.Get(c.Session, key, key.newQuery)
}

// keyOn returns what the query for the settings of a call on a universe is built from.
func (r *row) keyOn(c frame.Call, universe *scalar.Universe) (key queryKey, err error) {
	key = queryKey{universe: universe, epsilon: c.Number(r.epsilon)}
	if key.aggregate, err = r.aggregate(c); err != nil {
		return key, err
	}
	if r.metric != nil {
		key.metric, key.aggregate, err = metric(c, r.metric, key.aggregate)
	}
	return key, err
}

// metric returns the metric that an argument names, d1 without the argument, and the aggregate under it.
func metric(c frame.Call, of *frame.Arg, a scalar.Aggregate) (budget.Metric, scalar.Aggregate, error) {
	if !c.Given(of) {
		return budget.D1, a, nil
	}
	return scalar.ParseMetric(c.Text(of), a)
}

func (k queryKey) newQuery() (*scalar.Query, error) {
	if k.known {
		return scalar.NewQueryOfKnownRows(k.aggregate, k.universe, k.metric, budget.Decimal(k.epsilon))
	}
	return scalar.NewQuery(k.aggregate, k.universe, k.metric, budget.Decimal(k.epsilon))
}

// drawReading answers a query for readings, or with its stand-in in a dry run.
func drawReading(c frame.Call, paid frame.Receipt, q *scalar.Query, acc *scalar.Accumulator) scalar.Release {
	var r scalar.Release
	if source := paid.Randomness(); source != nil {
		r = q.Release(source, acc)
	} else {
		r = q.StandIn()
	}
	if paid.Here() {
		answersOf.Of(c.Statement()).add(c.Session, q, r, paid.Randomness() != nil)
	}
	return r
}

// answerTo returns a release as an answer in SQL.
func answerTo(r scalar.Release) frame.Answer {
	if r.JSON != "" {
		return frame.TextAnswer([]byte(r.JSON))
	}
	return frame.NumberAnswer(r.Value)
}
