package meters

import (
	"math"
	"slices"

	"github.com/geosql/geosql/internal/study/stats"
)

// Errors holds how far releases are from the truth, in the unit of the universe. The truth is
// that of the readings as moved to the universe's grid and into its bounds.
type Errors struct {
	Mean   float64
	P95    float64 // 95 of 100 releases have at most this error
	Radius float64 // promised by the mechanism with probability Confidence
	Within float64 // share of the releases within Radius
}

// newErrors summarises at least one absolute error. It sorts the errors.
func newErrors(all []float64, radius float64) Errors {
	slices.Sort(all)
	var sum float64
	within := 0
	for _, x := range all {
		sum += x
		if x <= radius {
			within++
		}
	}
	n := float64(len(all))
	return Errors{Mean: sum / n, P95: stats.Quantile(all, 0.95), Radius: radius, Within: float64(within) / n}
}

// distance returns |released - truth|. Both are the float64 nearest to a decimal, together off
// by less than 2^-52 of themselves. Twice that is forgiven, so that a release exactly at the
// radius counts as within.
func distance(released, truth float64) float64 {
	const forgiven = 0x1p-51
	return max(0, math.Abs(released-truth)-forgiven*(math.Abs(released)+math.Abs(truth)))
}
