// Package stats provides the statistics that studies share.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Quantile returns the least of the sorted values that a share p of them does not exceed, or
// NaN if there are none.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return stat.Quantile(p, stat.Empirical, sorted, nil)
}
