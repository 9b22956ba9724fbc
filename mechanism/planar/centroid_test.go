package planar

import (
	"crypto/rand"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// TestDivide compares with rationals.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 50).Draw(t, "n")
		sum := rapid.Int64Range(-1000, 1000).Draw(t, "sum")
		got := divide(sum, n)
		// floor(sum/n + 1/2)
		want := new(big.Int).Div(big.NewInt(2*sum+n), big.NewInt(2*n)) // Euclidean, of a positive divisor
		if got != want.Int64() {
			t.Fatalf("%d/%d: %d, want %v", sum, n, got, want)
		}
	})
}

// TestCentroidSensitivity: where locations are at most d apart in the frame, the
// centroids' lattice points are at most d + 2 diagonals apart.
func TestCentroidSensitivity(t *testing.T) {
	d := gridDomain(t)
	rapid.Check(t, func(t *rapid.T) {
		var a, b Centroid
		most := 0.0
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			lat := rapid.Float64Range(d.box.South, d.box.North)
			lon := rapid.Float64Range(d.box.West, d.box.West+2*d.box.Half)
			aLat, aLon, bLat, bLon := lat.Draw(t, "lat"), lon.Draw(t, "lon"), lat.Draw(t, "lat'"), lon.Draw(t, "lon'")
			a.Add(d, aLat, aLon)
			b.Add(d, bLat, bLon)
			x, y := d.frame.project(aLat, d.frame.offset(aLon))
			x2, y2 := d.frame.project(bLat, d.frame.offset(bLon))
			most = max(most, math.Hypot(x-x2, y-y2))
		}
		if got, bound := d.step*a.cell().distanceTo(b.cell()), most+2*d.step*math.Sqrt2; got > bound {
			t.Fatalf("centroids are %g m apart, with locations up to %g m", got, most)
		}
	})
}

// TestCentroidLaw compares draws with the law about the centroid, n = 300,000 and a
// false alarm below 1e-10, and catches a centroid that is off by a cell, 27 standard
// deviations from where it would be missed.
func TestCentroidLaw(t *testing.T) {
	const n, rate = 300_000, 0.5
	d := gridDomain(t)
	l := atRate(t, d, rate)
	var c Centroid
	for _, at := range [][2]float64{{39.995, 115.995}, {40.003, 116.004}, {40.001, 116.0}} {
		c.Add(d, at[0], at[1])
	}
	src := exact.NewSource(rand.Reader)
	counts := map[printed]int{}
	for range n {
		lat, lon := l.DrawCentroid(src, &c)
		counts[printed{toUnits(lat), toUnits(lon)}]++
	}
	if x := centroidExcess(d, counts, c.cell(), rate, n); x > 1 {
		t.Errorf("draws differ from the law about the centroid: %.3f of what chance allows", x)
	}
	if x := centroidExcess(d, counts, c.cell().add(1, 0), rate, n); x < 2 {
		t.Errorf("a centroid that is off by a cell is not told apart: %.3f", x)
	}
}

// centroidExcess is the largest deviation of a count from its expectation, over seven
// and a half standard deviations and 20 (Bernstein: below 3e-11 for all 441).
func centroidExcess(d *Domain, counts map[printed]int, centre Cell, rate float64, n int) float64 {
	s, most := normaliser(rate), 0.0
	weightsWithin(rate, 10, func(z Cell, w float64) {
		want := float64(n) * w / s
		got := float64(counts[d.print(centre.add(z.I, z.J))])
		most = max(most, math.Abs(got-want)/(7.5*math.Sqrt(want)+20))
	})
	return most
}

// TestNoLocations stands for the middle of the box.
func TestNoLocations(t *testing.T) {
	if c := new(Centroid).cell(); c != (Cell{}) {
		t.Errorf("%v", c)
	}
}
