// Package stats provides the statistics that studies share.
package stats

import (
	"math"
	"slices"

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

// Quartiles are the least of some values that a quarter, and three quarters, of them do not
// exceed. They say how far the values spread.
type Quartiles struct{ Low, High float64 }

// Times returns the quartiles of values that are multiplied with a positive factor.
func (q Quartiles) Times(factor float64) Quartiles {
	return Quartiles{factor * q.Low, factor * q.High}
}

// NewQuartiles returns the quartiles of values, in any order, without NaNs. Those of nothing are NaN.
func NewQuartiles(values []float64) Quartiles {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(sorted)
	return Quartiles{Quantile(sorted, 0.25), Quantile(sorted, 0.75)}
}

// QuartilesOf returns the quartiles of a measure over all of a list.
func QuartilesOf[T any](all []T, of func(T) float64) Quartiles {
	values := make([]float64, len(all))
	for k, x := range all {
		values[k] = of(x)
	}
	return NewQuartiles(values)
}

// Runs cuts a list wherever its elements have another key than the one before.
func Runs[E any, K comparable](list []E, key func(E) K) (runs [][]E) {
	begin := 0
	for k := range list {
		if k+1 == len(list) || key(list[k]) != key(list[k+1]) {
			runs = append(runs, list[begin:k+1])
			begin = k + 1
		}
	}
	return runs
}
