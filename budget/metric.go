package budget

import (
	"fmt"
	"slices"
	"strconv"
)

// A Metric is a distance between two databases x and x' that hold the same rows
// with different readings. A NULL reading is at the largest distance, hi - lo, from
// every value of its universe, unless a query states otherwise. (Bordenabe 2014,
// sections 4.3 and 4.4.)
type Metric int

const (
	// D1 is the Manhattan metric: the sum of |x_i - x'_i|, in the universe's
	// unit. It protects the accuracy of each value.
	D1 Metric = iota
	// ND1 is the Manhattan metric divided by hi - lo: at most one per record,
	// less for readings that are close.
	ND1
	// DH is the Hamming metric, the number of records that differ: classic
	// differential privacy. ND1 <= DH.
	DH
	// DInf is the largest |x_i - x'_i|, in the universe's unit: all values may
	// change at once. DInf <= D1.
	DInf
)

var metricNames = []string{D1: "d1", ND1: "nd1", DH: "dh", DInf: "dinf"}

// ParseMetric returns the metric called s: d1, nd1, dh or dinf.
func ParseMetric(s string) (Metric, error) {
	if i := slices.Index(metricNames, s); i >= 0 {
		return Metric(i), nil
	}
	return 0, fmt.Errorf("metric %q is not one of d1, nd1, dh, dinf", s)
}

// String returns the name that [ParseMetric] accepts.
func (m Metric) String() string {
	if m < 0 || int(m) >= len(metricNames) {
		return "Metric(" + strconv.Itoa(int(m)) + ")"
	}
	return metricNames[m]
}
