package scalar

import (
	"fmt"
	"strings"
)

// An Aggregate is a number, or a list of numbers, that a query computes from the readings of a group, such as [Sum]
// or the result of [Percentile]. Aggregates are comparable: equal ones make equal queries of equal arguments.
type Aggregate interface {
	// String returns the name of its SQL function without the prefix dx_.
	String() string

	// TakesUniverse reports whether it is computed from readings, and not from the number of rows only.
	TakesUniverse() bool

	// law returns the law of its answers, or an error that begins with the argument it is about. Under a metric that
	// it has no law for, that argument is the metric.
	law(setting) (law, error)
}

// ParseAggregate returns the aggregate called s, with or without the prefix dx_ of its SQL function: sum and dx_sum are
// the same. The one called percentile is the median: percentiles are alike in what is known of their accuracy.
func ParseAggregate(s string) (Aggregate, error) {
	median := percentile{name: "percentile", fraction: fraction{1, 2}}
	var names []string
	for _, a := range []Aggregate{Avg, Count, Max, Median, Min, median, StdDev, Sum, Value, Variance} {
		if a.String() == strings.TrimPrefix(s, "dx_") {
			return a, nil
		}
		names = append(names, a.String())
	}
	return nil, fmt.Errorf("aggregate %q is not one of %s", s, strings.Join(names, ", "))
}

// A simple aggregate has no arguments of its own. It is used by pointer, so that it is comparable.
type simple struct {
	name string
	new  func(setting) (law, error)
}

func (a *simple) String() string             { return a.name }
func (a *simple) TakesUniverse() bool        { return true }
func (a *simple) law(s setting) (law, error) { return a.new(s) }
