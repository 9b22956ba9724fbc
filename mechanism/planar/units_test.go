package planar_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// Locations in units lie in the box, near to where they were, and reach the lattice where the
// locations themselves do, except for locations as near to a border of cells as a unit is.
func TestInUnits(t *testing.T) {
	for _, box := range [][4]float64{
		{48.80, 2.22, 48.91, 2.48},
		{-17.123456789, 177.000000049, -16.00000004, -179.99999996}, // across the antimeridian, edges between units
		{-90, -180, -60.00000001, -90}, {10, 170, 11, 180}, {10, -180, 11, -170},
	} {
		d, err := planar.NewDomain("d", box[0], box[1], box[2], box[3], 100)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		moved := 0
		for i := range 20_000 {
			lat, lon := box[0]+(box[2]-box[0])*r.Float64(), 360*r.Float64()-180
			switch {
			case i < 4: // corners
				lat, lon = box[i/2*2], box[i%2*2+1]
			case i%2 == 0:
				lat = 180*r.Float64() - 90
			case i%3 == 0:
				lon = math.Mod(box[1]+540+math.Mod(box[3]-box[1]+360, 360)*r.Float64(), 360) - 180
			}
			a, b := d.InUnits(lat, lon)
			atLat, atLon := float64(a)/1e7, float64(b)/1e7
			if d.Outside(atLat, atLon) {
				t.Fatalf("%v: %v,%v is moved outside, to %v,%v", box, lat, lon, atLat, atLon)
			}
			if !d.Outside(lat, lon) && (math.Abs(atLat-lat) > 1e-7 || math.Abs(math.Remainder(atLon-lon, 360)) > 1e-7) {
				t.Fatalf("%v: %v,%v is inside, and moved to %v,%v", box, lat, lon, atLat, atLon)
			}
			from, to := d.Cell(lat, lon), d.Cell(atLat, atLon)
			if from != to {
				moved++
			}
			if max(from.I-to.I, to.I-from.I, from.J-to.J, to.J-from.J) > 1 {
				t.Fatalf("%v: %v,%v has cell %v, in units %v", box, lat, lon, from, to)
			}
		}
		if moved > 40 { // of 20,000, where a unit is at most 1 cm of 100 m
			t.Errorf("%v: %d locations change their cells", box, moved)
		}
	}
}
