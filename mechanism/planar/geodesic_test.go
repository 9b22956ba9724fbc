package planar

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Lengths agree with those of GeographicLib to 1e-7 m.
func TestGeodesic(t *testing.T) {
	for _, file := range []struct {
		path  string
		first int // column of the first point
	}{{geodesics, 4}, {"testdata/far_geodesics.csv", 0}} {
		worst := 0.0
		for _, row := range readGolden(t, file.path) {
			p := row[file.first:]
			got := Geodesic(p[0], p[1], p[2], p[3])
			worst = max(worst, math.Abs(got-p[4]))
			if !(math.Abs(got-p[4]) <= 1e-7) {
				t.Errorf("%v: %.9f", p, got)
			}
		}
		t.Logf("%s: largest error %.3g m", file.path, worst)
	}
}

// A geodesic is a metric: the way back is as long, and no way by another point is shorter.
func TestGeodesicIsAMetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		point := func(label string) (lat, lon float64) {
			lat = rapid.OneOf(rapid.Float64Range(-90, 90), rapid.Float64Range(-1e-9, 1e-9)).Draw(t, label+" lat")
			return lat, rapid.Float64Range(-180, 180).Draw(t, label+" lon")
		}
		aLat, aLon := point("a")
		bLat, bLon := point("b")
		cLat, cLon := point("c")
		ab, ba := Geodesic(aLat, aLon, bLat, bLon), Geodesic(bLat, bLon, aLat, aLon)
		if math.Abs(ab-ba) > 1e-6 {
			t.Errorf("%v there, %v back", ab, ba)
		}
		if via := Geodesic(aLat, aLon, cLat, cLon) + Geodesic(cLat, cLon, bLat, bLon); !(ab <= via+1e-6) {
			t.Errorf("%v, but %v by a third point", ab, via)
		}
		if zero := Geodesic(aLat, aLon, aLat, aLon); zero != 0 {
			t.Errorf("%v from a point to itself", zero)
		}
	})
}
