package pim

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// Places on a coarse grid, so that many are equally near: against sorting them all.
func TestNearestAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-4, 4).Draw(t, "x")) / 8 })
		places := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Place {
			return Place{coordinate.Draw(t, "lat"), coordinate.Draw(t, "lon")}
		}), 1, 40).Draw(t, "places")
		lat, lon := coordinate.Draw(t, "lat")*2, coordinate.Draw(t, "lon")*2
		k := rapid.IntRange(1, len(places)+1).Draw(t, "k")
		index := newPlaces(places)

		d2 := func(id int32) float64 {
			dx, dy := places[id].Lon*index.shrink-lon*index.shrink, places[id].Lat-lat
			return dx*dx + dy*dy
		}
		var want []int32
		for id := range places {
			want = append(want, int32(id))
		}
		slices.SortFunc(want, func(a, b int32) int { return cmp.Or(cmp.Compare(d2(a), d2(b)), cmp.Compare(a, b)) })
		if got := index.nearest(lat, lon, k, nil); !slices.Equal(got, want[:min(k, len(want))]) {
			t.Fatalf("%v, not %v", got, want[:min(k, len(want))])
		}
	})
}

// The map is true to the ellipsoid, but for 0.3 % that the sphere is off by.
func TestMapIsTrueToScale(t *testing.T) {
	index := newPlaces([]Place{{40.7, -74.02}, {40.82, -73.93}})
	metres := func(lat, lon float64) float64 { return math.Hypot(lat, lon*index.shrink) * math.Pi / 180 * 6371e3 }
	for _, step := range [][2]float64{{0.01, 0}, {0, 0.01}, {0.01, 0.01}} {
		want := planar.Distance(40.76, -73.97, 40.76+step[0], -73.97+step[1])
		if got := metres(step[0], step[1]); math.Abs(got/want-1) > 3e-3 {
			t.Errorf("%v: %v m, not %v", step, got, want)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	var places []Place
	for i := range 120 {
		for j := range 120 {
			places = append(places, Place{40 + 0.003*float64(i), 116 + 0.004*float64(j)})
		}
	}
	index := newPlaces(places)
	ids := make([]int32, 0, 20)
	for b.Loop() {
		ids = index.nearest(40.1801, 116.2403, 20, ids[:0])
	}
}
