package accuracy

import (
	"math"
	"math/big"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A question is an aggregate of the readings.
type question struct {
	name      string
	aggregate scalar.Aggregate

	// truth returns the answer over the sorted indices of readings, at least one.
	truth func(u *scalar.Universe, sorted []int64) float64

	percent int64 // of a percentile; none for other questions
	thesis  bool  // the thesis answers it as it does a single reading
}

// none is the percent of a question that is no percentile.
const none = -1

var questions = []question{
	{name: "count", aggregate: scalar.Count, percent: none, truth: func(_ *scalar.Universe, sorted []int64) float64 { return float64(len(sorted)) }},
	{name: "sum", aggregate: scalar.Sum, percent: none, truth: sum},
	{name: "avg", aggregate: scalar.Avg, percent: none, thesis: true, truth: mean},
	percentile("min", scalar.Min, 0),
	percentile("median", scalar.Median, 50),
	percentileAt(95),
	percentileAt(99),
	percentile("max", scalar.Max, 100),
	{name: "variance", aggregate: scalar.Variance, percent: none, truth: variance},
	{name: "stddev", aggregate: scalar.StdDev, percent: none, truth: func(u *scalar.Universe, sorted []int64) float64 {
		return math.Sqrt(variance(u, sorted))
	}},
}

func percentile(name string, a scalar.Aggregate, percent int64) question {
	return question{name: name, aggregate: a, percent: percent, thesis: true, truth: func(u *scalar.Universe, sorted []int64) float64 {
		return u.Value(sorted[rank(percent, len(sorted))-1])
	}}
}

func percentileAt(percent int64) question {
	a, err := scalar.Percentile(big.NewRat(percent, 1))
	if err != nil {
		panic(err) // percent is in 0..100
	}
	return percentile("percentile "+strconv.FormatInt(percent, 10), a, percent)
}

// asked reports whether the question is asked under the metric. A count is the same under all
// of them, and charged like those under dh.
func (q question) asked(s *Settings) bool {
	_, _, err := scalar.ParseMetric(s.Metric, q.aggregate)
	return err == nil && (q.aggregate.TakesUniverse() || s.metric == budget.DH)
}

// query returns the query that answers the question.
func (q question) query(s *Settings, epsilon float64) (*scalar.Query, error) {
	if !q.aggregate.TakesUniverse() {
		return scalar.NewQuery(q.aggregate, nil, budget.D1, budget.Decimal(epsilon))
	}
	_, a, err := scalar.ParseMetric(s.Metric, q.aggregate)
	if err != nil {
		return nil, err
	}
	return scalar.NewQuery(a, s.Universe, s.metric, budget.Decimal(epsilon))
}

// rank returns the rank, from 1, of a percentile of n readings.
func rank(percent int64, n int) int {
	return min(n, int(percent*int64(n)/100)+1)
}

func sum(u *scalar.Universe, sorted []int64) float64 {
	total := 0.0
	for _, k := range sorted {
		total += u.Value(k)
	}
	return total
}

func mean(u *scalar.Universe, sorted []int64) float64 { return sum(u, sorted) / float64(len(sorted)) }

func variance(u *scalar.Universe, sorted []int64) float64 {
	m, squares := mean(u, sorted), 0.0
	for _, k := range sorted {
		d := u.Value(k) - m
		squares += d * d
	}
	return squares / float64(len(sorted))
}
