package planar

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/nearest"
)

// Rounding moves a location of the box at most half a cell's diagonal, and the
// printed lattice point rounds to itself.
func TestRound(t *testing.T) {
	domains := []*Domain{
		mustDomain(t, 39.1, 115.3, 40.8, 117.5, 1),
		mustDomain(t, -20, 177, -16, -178, 0.1),
		mustDomain(t, 85, 10, 90, 100, 250),
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(domains).Draw(t, "domain")
		lat := rapid.Float64Range(d.box.South, d.box.North).Draw(t, "lat")
		dlon := rapid.Float64Range(-d.box.Half, d.box.Half).Draw(t, "dlon")
		lon := nearest.Wrap(d.frame.lon0 + dlon)
		c := d.Cell(lat, lon)
		x, y := d.frame.project(lat, d.frame.offset(lon))
		moved := math.Hypot(float64(c.I)*d.step-x, float64(c.J)*d.step-y)
		if moved > d.halfDiagonal()+projectionError {
			t.Fatalf("%v %v moves %v m", lat, lon, moved)
		}
		if zlat, zlon := d.Location(c); !d.Outside(zlat, zlon) && d.Cell(zlat, zlon) != c {
			t.Fatalf("%v is printed as %v %v and rounds to %v", c, zlat, zlon, d.Cell(zlat, zlon))
		}
		if zlat, zlon := d.Location(c); !d.Prints(zlat, zlon) || d.Prints(zlat, math.Nextafter(zlon, 0)) {
			t.Fatalf("%v is printed as %v %v: %v", c, zlat, zlon, d.Prints(zlat, zlon))
		}
	})
}

// A location outside the box counts as the nearest latitude and the nearer side.
func TestRoundClamps(t *testing.T) {
	plain := mustDomain(t, 10, 20, 11, 21, 5)
	fiji := mustDomain(t, -20, 177, -16, -178, 5)
	for _, c := range []struct {
		d                      *Domain
		lat, lon, latIn, lonIn float64
	}{
		{plain, 12, 20.5, 11, 20.5},
		{plain, -90, 20.5, 10, 20.5},
		{plain, 10.5, 30, 10.5, 21},
		{plain, 10.5, 19, 10.5, 20},
		{plain, 10.5, -160, 10.5, 21}, // 179.5 degrees to the east of the centre
		{plain, 10.5, -159, 10.5, 20}, // 179.5 degrees to the west
		{fiji, -18, 170, -18, 177},
		{fiji, -18, -170, -18, -178},
		{fiji, -18, 0, -18, 177},
	} {
		got, want := c.d.Cell(c.lat, c.lon), c.d.Cell(c.latIn, c.lonIn)
		if got != want {
			t.Errorf("%v %v rounds to %v, %v %v to %v", c.lat, c.lon, got, c.latIn, c.lonIn, want)
		}
	}
}

func TestAddSaturates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Int64Range(-maxCell, maxCell).Draw(t, "x")
		i := rapid.Int64().Draw(t, "i")
		sum := new(big.Int).Add(big.NewInt(x), big.NewInt(i))
		limit := big.NewInt(saturation)
		if sum.CmpAbs(limit) > 0 {
			if sum.Sign() < 0 {
				limit.Neg(limit)
			}
			sum = limit
		}
		if got := (Cell{x, -x}).add(i, i); got.I != sum.Int64() {
			t.Fatalf("%d + %d = %d, want %v", x, i, got.I, sum)
		}
	})
}
