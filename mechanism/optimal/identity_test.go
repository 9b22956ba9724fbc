package optimal_test

import (
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/optimal"
)

// The identities of this file are from the tests of libqif (R19), on the
// metrics of those tests.

// geometric returns the probability that the geometric mechanism with the given rate per
// step, its outputs truncated to first..last, reports z for x.
func geometric(rate float64, x, z, first, last int) float64 {
	a := math.Exp(-rate)
	// beyond is the probability of at least k steps in one direction.
	beyond := func(k int) float64 {
		if k > 0 {
			return math.Pow(a, float64(k)) / (1 + a)
		}
		return 1 - math.Pow(a, float64(1-k))/(1+a)
	}
	switch z {
	case first:
		return beyond(x - first)
	case last:
		return beyond(last - x)
	default:
		return (1 - a) / (1 + a) * math.Pow(a, math.Abs(float64(x-z)))
	}
}

// geometricMatrix is the geometric mechanism truncated to n places in a row.
func geometricMatrix(rate float64, n int) optimal.Matrix {
	k := optimal.NewMatrix(n, n)
	for x, row := range k {
		for z := range row {
			row[z] = geometric(rate, x, z, 0, n-1)
		}
	}
	return k
}

// checkEqual compares two matrices.
func checkEqual(t *testing.T, name string, got, want optimal.Matrix, tolerance float64) {
	t.Helper()
	for x, row := range want {
		for z, p := range row {
			if math.Abs(got[x][z]-p) > tolerance {
				t.Fatalf("%s: (%d,%d) is %g, want %g", name, x, z, got[x][z], p)
			}
		}
	}
}

// TestGeometricOnALine has the optimum where every wrong output loses the same be the
// truncated geometric mechanism.
func TestGeometricOnALine(t *testing.T) {
	const n, step, epsilon = 10, 1.1, 0.9
	d, want := line(n, step), geometricMatrix(epsilon*step, n)
	p := optimal.Problem{Prior: uniform(n), Quality: wrong(d), Privacy: d, Epsilon: epsilon}
	checkEqual(t, "optimum", solved(t, p, optimal.Options{Gap: 1e-6}).Matrix, want, 1e-6)
	if e := optimal.RealisedEpsilon(want, d); !near(e, epsilon, 1e-13) {
		t.Errorf("realised epsilon %g, want %g", e, epsilon)
	}
}

// TestRandomisedResponse has all places at distance 1: then the exponential mechanism for
// twice the epsilon is randomised response.
func TestRandomisedResponse(t *testing.T) {
	const n, epsilon = 5, 0.9
	d, want := wrong(line(n, 1)), optimal.NewMatrix(n, n)
	for x, row := range want {
		for z := range row {
			row[z] = math.Exp(-epsilon*d[x][z]) / (1 + (n-1)*math.Exp(-epsilon))
		}
	}
	checkEqual(t, "exponential", optimal.Exponential(2*epsilon, d), want, 1e-15)
}

// TestTruncations moves the reports of a geometric mechanism on 0..19 into four windows. The
// result has to be the mechanism truncated to the window, also for secrets outside.
func TestTruncations(t *testing.T) {
	const n, epsilon = 20, 0.9
	k := geometricMatrix(epsilon, n)
	for _, w := range []struct{ first, last int }{{0, 9}, {10, 19}, {1, 18}, {7, 12}} {
		window := make([]int, n)
		for z := range window {
			window[z] = min(max(z, w.first), w.last)
		}
		got := k.Remapped(window)
		for x := 5; x <= 14; x++ {
			for z := range n {
				want := 0.0
				if z >= w.first && z <= w.last {
					want = geometric(epsilon, x, z, w.first, w.last)
				}
				if math.Abs(got[x][z]-want) > 1e-14 {
					t.Errorf("window %v: (%d,%d) is %g, want %g", w, x, z, got[x][z], want)
				}
			}
		}
	}
}

// TestPlanarTruncations does likewise with the planar geometric mechanism: on 7x7 places,
// reports moved into a window of 4x3 make the mechanism on these alone.
func TestPlanarTruncations(t *testing.T) {
	const size, width, height = 7, 4, 3
	k := must(optimal.PlanarGeometric(ln2, 1, size, size))
	want := must(optimal.PlanarGeometric(ln2, 1, width, height))
	for _, corner := range []struct{ i, j int }{{0, 0}, {3, 4}, {2, 1}} {
		window := make([]int, size*size)
		for z := range window {
			i, j := min(max(z%size, corner.i), corner.i+width-1), min(max(z/size, corner.j), corner.j+height-1)
			window[z] = j*size + i
		}
		moved, got := k.Remapped(window), optimal.NewMatrix(width*height, width*height)
		outer := func(place int) int { return (place/width+corner.j)*size + place%width + corner.i }
		for x, row := range got {
			for z := range row {
				row[z] = moved[outer(x)][outer(z)]
			}
		}
		checkEqual(t, "window", got, want, 1e-14)
	}
}
