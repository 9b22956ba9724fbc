package pim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sensitivity returns half the vertices of a set's sensitivity hull. The set is in
// ascending order.
func sensitivity(set []vector) []vector {
	right, left := hullChains(nil, nil, set)
	return halfHull(nil, right, left)
}

func whole(half []vector) []vector {
	hull := slices.Clone(half)
	for _, v := range half {
		hull = append(hull, v.negative())
	}
	return hull
}

func twiceArea(hull []vector) (sum int64) {
	for k, v := range hull {
		sum += cross(v, hull[(k+1)%len(hull)])
	}
	return sum
}

func sorted(set []vector) []vector {
	slices.SortFunc(set, func(a, b vector) int {
		if a.y != b.y {
			return int(a.y - b.y)
		}
		return int(a.x - b.x)
	})
	return slices.Compact(set)
}

// the location sets of R41 and R42, with the areas of their hulls and the continuous
// limits of the root mean square error at epsilon 1: of the K-norm law, algorithm 3,
// and the Laplace law for the l1 distance.
var oracles = []struct {
	name               string
	set                []vector
	area               float64
	rmse, paper, tight float64
}{
	{"example 4.1 (R41)", []vector{{0, 0}, {1, 0}, {1, 1}}, 3, 2.581988897, 4, 4},
	{"corners of a square", []vector{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, 4, 2.828427, 4, 4},
	{"right triangle", []vector{{0, 0}, {1, 0}, {0, 1}}, 3, 2.581989, 4, 4},
	{"plus", []vector{{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}}, 8, 4, 8, 4},
	{"4 x 3 cells", rectangle(4, 3), 24, 7.211103, 10, 10},
	{"four points", []vector{{0, 0}, {2, 0}, {1, 1}, {2, 2}}, 12, 5.163978, 8, 8},
}

func rectangle(width, height int64) (set []vector) {
	for y := range height {
		for x := range width {
			set = append(set, vector{x, y})
		}
	}
	return set
}

func TestHulls(t *testing.T) {
	for _, o := range oracles {
		if got := float64(twiceArea(whole(sensitivity(o.set)))) / 2; got != o.area {
			t.Errorf("%s: area %v, not %v", o.name, got, o.area)
		}
	}
	want := []vector{{0, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}}
	got := whole(sensitivity(oracles[0].set))
	start := slices.Index(got, want[0])
	if start < 0 || !slices.Equal(append(slices.Clone(got[start:]), got[:start]...), want) {
		t.Errorf("example 4.1: %v, not %v", got, want)
	}
}

// Against the definition: the hull of the differences of all pairs.
func TestHullIsThatOfAllDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := anySet(t)
		var all []vector
		for _, a := range set {
			for _, b := range set {
				all = append(all, a.sub(b))
			}
		}
		right, left := hullChains(nil, nil, sorted(all))
		want := append(slices.Clone(right[:len(right)-1]), left[:len(left)-1]...)
		if got := whole(sensitivity(set)); !slices.Equal(got, want) {
			t.Fatalf("%v: hull %v, not %v", set, got, want)
		}
	})
}

// anySet returns a set of at least two cells.
func anySet(t *rapid.T) []vector {
	span := rapid.SampledFrom([]int64{1, 2, 5, 30}).Draw(t, "span")
	coordinate := rapid.Int64Range(-span, span)
	var set []vector
	for range rapid.IntRange(2, 12).Draw(t, "size") {
		set = append(set, vector{coordinate.Draw(t, "x"), coordinate.Draw(t, "y")})
	}
	if set = sorted(set); len(set) < 2 {
		set = append(set, vector{set[0].x + 1, set[0].y})
	}
	return set
}

// gauge is |d|_K from the definition: the largest quotient of d and K in the
// direction of an edge's normal.
func gauge(hull []vector, d vector) (largest float64) {
	for k, v := range hull {
		edge := hull[(k+1)%len(hull)].sub(v)
		if width := cross(v, edge); width != 0 {
			largest = max(largest, float64(cross(d, edge))/float64(width))
		}
	}
	return largest
}

// The limits of R41 and R42 as integrals: E|z|^2 = 12 E_K|y|^2 / epsilon^2.
func TestContinuousLimits(t *testing.T) {
	for _, o := range oracles {
		hull := whole(sensitivity(o.set))
		if got := math.Sqrt(12 * secondMoment(hull)); math.Abs(got-o.rmse) > 1e-6 {
			t.Errorf("%s: %v, not %v", o.name, got, o.rmse)
		}
	}
}

// secondMoment is the mean of |y|^2 over a polygon around the origin: over the
// triangle of the origin, a and b it is (|a|^2 + |b|^2 + a.b)/6.
func secondMoment(hull []vector) float64 {
	var sum float64
	for k, a := range hull {
		b := hull[(k+1)%len(hull)]
		sum += float64(cross(a, b)) * float64(dot(a, a)+dot(b, b)+dot(a, b)) / 6
	}
	return sum / float64(twiceArea(hull))
}
