package lbs

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Lat, b.Lat), cmp.Compare(a.Lon, b.Lon))
}

// within returns the places that each should find.
func within(all []Place, at Place, metres float64) (near []Place) {
	for _, p := range all {
		if planar.Distance(at.Lat, at.Lon, p.Lat, p.Lon) <= metres {
			near = append(near, p)
		}
	}
	slices.SortFunc(near, comparePlaces)
	return near
}

// The index finds the same places as looking at all of them, about meridians and
// latitudes all over the Earth, also where there are few places or none.
func TestPlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 3))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*random.Float64() }
	found := 0
	for range 2000 {
		meridian, middle := between(-180, 180), between(-89.9, 89.9)
		spread := []float64{0.01, 0.1, 1}[random.IntN(3)] // degrees
		wide := spread / math.Cos(middle*radiansPerDegree)
		somewhere := func() Place {
			lon := math.Remainder(meridian+between(-wide, wide), 360)
			return Place{max(-90, min(middle+between(-spread, spread), 90)), lon}
		}
		all := make([]Place, 100)
		for k := range all {
			all[k] = somewhere()
		}
		at, metres := somewhere(), between(0, 100_000*spread)
		var got []Place
		newPlaces(all, meridian).each(at, metres, func(q Place, d float64) {
			if d != planar.Distance(at.Lat, at.Lon, q.Lat, q.Lon) {
				t.Errorf("%v is said to be %v m away", q, d)
			}
			got = append(got, q)
		})
		slices.SortFunc(got, comparePlaces)
		if want := within(all, at, metres); !slices.Equal(got, want) {
			t.Errorf("within %v m of %v there are %d places, not %d", metres, at, len(got), len(want))
		}
		found += len(got)
	}
	if found < 20_000 {
		t.Errorf("only %d places were to be found", found)
	}
}

func TestSample(t *testing.T) {
	all := []Place{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}
	if got := Sample(all, 2); !slices.Equal(got, []Place{{0, 0}, {2, 0}}) {
		t.Errorf("%v", got)
	}
	for _, n := range []int{5, 6} {
		if got := Sample(all, n); !slices.Equal(got, all) {
			t.Errorf("%v", got)
		}
	}
}

// A grid has about so many places, all of the box, that are about equally far from the
// next one to the east and to the north.
func TestGrid(t *testing.T) {
	for _, box := range [][4]float64{{48.8, 2.2, 48.9, 2.5}, {-17.9, 179.9, -17.8, -179.9}, {60, 20, 60.01, 22}, {0, 0, 0.1, 0.001}} {
		d, err := planar.NewDomain("box", box[0], box[1], box[2], box[3], 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 10, 1000} {
			grid := Grid(d, n)
			if len(grid) < n/2 || len(grid) > 2*n+20 || len(grid) == 0 {
				t.Errorf("%v: %d places, not %d", box, len(grid), n)
			}
			for _, p := range grid {
				if d.Outside(p.Lat, p.Lon) {
					t.Errorf("%v: %v is outside", box, p)
				}
			}
		}
		grid := Grid(d, 1000)
		east := planar.Distance(grid[0].Lat, grid[0].Lon, grid[1].Lat, grid[1].Lon)
		next := slices.IndexFunc(grid[1:], func(p Place) bool {
			return planar.Distance(grid[0].Lat, grid[0].Lon, p.Lat, p.Lon) < 1.5*east && p.Lat-grid[0].Lat > 5e-6
		})
		if next < 0 {
			t.Errorf("%v: no neighbour to the north within %v m", box, 1.5*east)
		}
	}
}
