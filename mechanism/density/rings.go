package density

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

// Rings returns the law of the distance between two points of which one is released, by n rings of a width in metres: the last ring has
// all that is beyond.
//
// Noise goes in all directions alike (that of laplace_l1 nearly so), so that the law depends on the true distance only, and not on where the two are.
func Rings(noise planar.Accuracy, width float64, n int) (Matrix, error) {
	const radii = 200 // of noise, which divide it evenly
	law := make(Matrix, n)
	for k := range law {
		law[k] = make([]float64, n)
	}
	for i := range radii {
		radius, err := noise.Radius((float64(i) + 0.5) / radii)
		if err != nil {
			return nil, err
		}
		for k, row := range law {
			from, below := (float64(k)+0.5)*width, 0.
			for j := range row {
				within := 1.
				if j < n-1 {
					within = shareWithin(float64(j+1)*width, from, radius)
				}
				row[j] += (within - below) / radii
				below = within
			}
		}
	}
	return law, nil
}

// shareWithin returns which share of a circle of a radius around a point is within a distance of another that is so far from it.
func shareWithin(distance, from, radius float64) float64 {
	cos := (float64(from*from) + float64(radius*radius) - float64(distance*distance)) / (2 * from * radius)
	return math.Acos(min(1, max(-1, cos))) / math.Pi
}

// Twice returns the law of two releases in a row: that of [Rings] if both points are released.
func (m Matrix) Twice() Matrix {
	twice := make(Matrix, len(m))
	for i, row := range m {
		twice[i] = make([]float64, len(row))
		for k, first := range row {
			for j, second := range m[k] {
				twice[i][j] += float64(first * second)
			}
		}
	}
	return twice
}
