package scalar

import (
	"fmt"
	"maps"
	"slices"
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

// named holds the aggregates that [ParseAggregate] knows.
var named = map[string]Aggregate{}

// register makes an aggregate known by its name.
func register(a Aggregate) Aggregate {
	named[a.String()] = a
	return a
}

// ParseAggregate returns the aggregate called s, with or without the prefix dx_ of its SQL function: sum and dx_sum are
// the same. The one called percentile is the median: percentiles are alike in what is known of their accuracy.
func ParseAggregate(s string) (Aggregate, error) {
	if a, known := named[strings.TrimPrefix(s, "dx_")]; known {
		return a, nil
	}
	return nil, fmt.Errorf("aggregate %q is not one of %s", s, strings.Join(slices.Sorted(maps.Keys(named)), ", "))
}

// A simple aggregate has no arguments of its own. It is used by pointer, so that it is comparable.
type simple struct {
	name string
	new  func(setting) (law, error)
}

func (a *simple) String() string             { return a.name }
func (a *simple) TakesUniverse() bool        { return true }
func (a *simple) law(s setting) (law, error) { return a.new(s) }
