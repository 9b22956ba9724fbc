package accuracy

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A question is an aggregate of the readings.
type question struct {
	name      string
	aggregate scalar.Aggregate
	percent   int64 // of Percentile
}

var questions = []question{
	{name: "count", aggregate: scalar.Count},
	{name: "sum", aggregate: scalar.Sum},
	{name: "avg", aggregate: scalar.Avg},
	{name: "min", aggregate: scalar.Min},
	{name: "median", aggregate: scalar.Median},
	{name: "percentile 95", aggregate: scalar.Percentile, percent: 95},
	{name: "percentile 99", aggregate: scalar.Percentile, percent: 99},
	{name: "max", aggregate: scalar.Max},
	{name: "variance", aggregate: scalar.Variance},
	{name: "stddev", aggregate: scalar.StdDev},
}

// asked reports whether the question is asked under a metric. A count is the same under all
// of them, and charged like those under dh.
func (q question) asked(m budget.Metric) bool {
	return q.aggregate != scalar.Count || m == budget.DH
}

// query returns the query that answers the question.
func (q question) query(s *Settings, epsilon float64) (*scalar.Query, error) {
	switch q.aggregate {
	case scalar.Count:
		return scalar.NewQuery(q.aggregate, nil, budget.D1, budget.Decimal(epsilon), nil)
	case scalar.Percentile:
		return scalar.NewQuery(q.aggregate, s.Universe, s.Metric, budget.Decimal(epsilon), big.NewRat(q.percent, 1))
	default:
		return scalar.NewQuery(q.aggregate, s.Universe, s.Metric, budget.Decimal(epsilon), nil)
	}
}

// percentile returns which percentile the question asks for, if it does.
func (q question) percentile() (percent int64, ok bool) {
	switch q.aggregate {
	case scalar.Min:
		return 0, true
	case scalar.Median:
		return 50, true
	case scalar.Max:
		return 100, true
	case scalar.Percentile:
		return q.percent, true
	}
	return 0, false
}

// rank returns the rank, from 1, of a percentile of n readings.
func rank(percent int64, n int) int {
	return min(n, int(percent*int64(n)/100)+1)
}

// truth returns the answer to the question over the sorted indices of readings, at least one.
func (q question) truth(u *scalar.Universe, sorted []int64) float64 {
	if percent, ok := q.percentile(); ok {
		return u.Value(sorted[rank(percent, len(sorted))-1])
	}
	n := float64(len(sorted))
	sum := 0.0
	for _, k := range sorted {
		sum += u.Value(k)
	}
	switch q.aggregate {
	case scalar.Count:
		return n
	case scalar.Sum:
		return sum
	case scalar.Avg:
		return sum / n
	}
	squares := 0.0
	for _, k := range sorted {
		d := u.Value(k) - sum/n
		squares += d * d
	}
	if q.aggregate == scalar.Variance {
		return squares / n
	}
	return math.Sqrt(squares / n)
}
