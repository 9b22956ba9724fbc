package scalar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Aggregate is what a query computes from the readings of a group.
type Aggregate int

const (
	Value      Aggregate = iota // the last reading added; the one reading of a scalar call
	Count                       // the number of rows
	Sum                         // the sum of the readings
	Avg                         // the average, from lo to hi
	Min                         // percentile 0
	Max                         // percentile 100
	Median                      // percentile 50
	Percentile                  // the reading of rank min(m, floor(p*m/100)+1) among m
	Variance                    // the mean squared distance from the average
	StdDev                      // the root of the variance
)

var aggregateNames = []string{
	Value: "value", Count: "count", Sum: "sum", Avg: "avg",
	Min: "min", Max: "max", Median: "median", Percentile: "percentile",
	Variance: "variance", StdDev: "stddev",
}

// ParseAggregate returns the aggregate called s, with or without the prefix dx_ of its
// SQL function: sum and dx_sum are the same.
func ParseAggregate(s string) (Aggregate, error) {
	if i := slices.Index(aggregateNames, strings.TrimPrefix(s, "dx_")); i >= 0 {
		return Aggregate(i), nil
	}
	return 0, fmt.Errorf("aggregate %q is not one of %s", s, strings.Join(aggregateNames, ", "))
}

// String returns the name without prefix.
func (a Aggregate) String() string {
	if a < 0 || int(a) >= len(aggregateNames) {
		return "Aggregate(" + strconv.Itoa(int(a)) + ")"
	}
	return aggregateNames[a]
}
