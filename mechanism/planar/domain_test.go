package planar

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDomainString(t *testing.T) {
	d, err := NewDomain("beijing", 39.1, 115.3, 40.8, 117.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := "beijing: 188.0 km x 188.8 km, step 1 m, kappa 0.00012, largest sensible epsilon 0.1/m"
	if got := d.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if d.Name() != "beijing" || d.Step() != 1 {
		t.Errorf("name %s, step %v", d.Name(), d.Step())
	}
	small, err := NewDomain("campus", 48, 2, 48.02, 2.03, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	want = "campus: 2.238 km x 2.224 km, step 0.25 m, kappa 0.0000016, largest sensible epsilon 0.4/m"
	if got := small.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Boxes of 500 km by 500 km within latitude 80 stay below kappa = 0.001.
func TestKappaOf500Kilometres(t *testing.T) {
	const half = 250e3
	for lat := -77.7; lat <= 77.8; lat += 2.1 {
		sin, cos := math.Sincos(lat * radiansPerDegree)
		w := 1 - eccentricity2*sin*sin
		dlat := half / (equatorialRadius * (1 - eccentricity2) / (w * math.Sqrt(w))) * degreesPerRadian
		dlon := half / (equatorialRadius / math.Sqrt(w) * cos) * degreesPerRadian
		d := mustDomain(t, lat-dlat, -dlon, lat+dlat, dlon, 1)
		if !(d.Kappa() < 0.001) {
			t.Errorf("latitude %v: kappa %v", lat, d.Kappa())
		}
	}
}

func TestNewDomainRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name                           string
		south, west, north, east, step float64
		want                           string
	}{
		{"", 1, 1, 2, 2, 1, "name"},
		{"a\nb", 1, 1, 2, 2, 1, "name"},
		{"x", nan, 1, 2, 2, 1, "south"},
		{"x", 1, nan, 2, 2, 1, "west"},
		{"x", 1, 1, inf, 2, 1, "north"},
		{"x", 1, 1, 2, -inf, 1, "east"},
		{"x", -90.1, 1, 2, 2, 1, "south"},
		{"x", 1, 180.5, 2, 2, 1, "west"},
		{"x", 1, 1, 91, 2, 1, "north"},
		{"x", 1, 1, 2, 181, 1, "east"},
		{"x", 2, 1, 2, 2, 1, "south 2 must be less than north 2"},
		{"x", 3, 1, 2, 2, 1, "south 3 must be less than north 2"},
		{"x", 1, 2, 2, 2, 1, "same meridian"},
		{"x", 1, 180, 2, -180, 1, "same meridian"},
		{"x", 1, -90, 2, 91, 1, "180 degrees wide"},
		{"x", 1, 2, 2, 1, 1, "180 degrees wide"},
		{"x", 1, -180, 2, 180, 1, "180 degrees wide"},
		{"x", -45, 0, 45, 90, 1, "too large"},
		{"x", -90, 0, 90, 180, 1, "too large"},
		{"x", 1, 1, 2, 2, 0, "step_m must be at least 0.001"},
		{"x", 1, 1, 2, 2, -1, "step_m must be at least 0.001"},
		{"x", 1, 1, 2, 2, nan, "step_m must be at least 0.001"},
		{"x", 1, 1, 2, 2, inf, "step_m must be at least 0.001"},
		{"x", 1, 1, 2, 2, 2e5, "exceeds the box"},
		{"x", 1, 1, 2, 2, 5e-324, "step_m must be at least 0.001"},
		{"x", 1, 1, 30, 30, 0.001, "too small"},
	} {
		_, err := NewDomain(c.name, c.south, c.west, c.north, c.east, c.step)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

func TestOutside(t *testing.T) {
	plain := mustDomain(t, 10, 20, 11, 21, 1)
	fiji := mustDomain(t, -20, 177, -16, -178, 1)
	west := mustDomain(t, 0, -180, 1, -179, 1)
	for _, c := range []struct {
		d        *Domain
		lat, lon float64
		want     bool
	}{
		{plain, 10, 20, false}, {plain, 11, 21, false}, {plain, 9.999, 20.5, true}, {plain, 10.5, 21.001, true},
		{plain, 10.5, -20.5, true}, {plain, math.NaN(), 20.5, true}, {plain, 10.5, math.NaN(), true},
		{fiji, -18, 180, false}, {fiji, -18, -180, false}, {fiji, -18, 177, false}, {fiji, -18, -178, false},
		{fiji, -18, 176.9, true}, {fiji, -18, -177.9, true}, {fiji, -18, 0, true},
		{west, 0.5, 180, false}, {west, 0.5, -180, false}, {west, 0.5, 179.9, true},
	} {
		if got := c.d.Outside(c.lat, c.lon); got != c.want {
			t.Errorf("%v: Outside(%v, %v) = %v", c.d, c.lat, c.lon, got)
		}
	}
}

// Reported finds the lattice point that Location reports, far outside of the box too, and
// Position says the same of a lattice point as Location.
func TestReported(t *testing.T) {
	domains := []*Domain{gridDomain(t), mustDomain(t, -20, 177, -16, -178, 1), mustDomain(t, 85, 10, 90, 100, 5)}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(domains).Draw(t, "domain")
		index := rapid.Int64Range(-1<<23, 1<<23)
		c := Cell{index.Draw(t, "i"), index.Draw(t, "j")}
		lat, lon := d.Location(c)
		if got := d.Reported(lat, lon); got != c {
			t.Fatalf("%v, not %v", got, c)
		}
		if y, x := d.Position(float64(c.I), float64(c.J)); y != lat || x != lon {
			t.Fatalf("%v is at %v %v, not %v %v", c, y, x, lat, lon)
		}
	})
	for _, d := range domains {
		for _, c := range []Cell{{saturation, saturation}, {-saturation, 0}, {0, saturation}} {
			if got := d.Reported(d.Location(c)); max(got.I, -got.I, got.J, -got.J) > saturation {
				t.Errorf("%v becomes %v", c, got)
			}
		}
	}
}

// A position beyond all lattice points, or none, has an index.
func TestSaturated(t *testing.T) {
	for x, want := range map[float64]int64{2.5: 2, -7.6: -8, 1e300: saturation, math.Inf(-1): -saturation, math.Inf(1): saturation} {
		if got := saturated(x); got != want {
			t.Errorf("%v: %d, not %d", x, got, want)
		}
	}
	if got := saturated(math.NaN()); got != -saturation {
		t.Errorf("%d", got)
	}
}

func FuzzNewDomain(f *testing.F) {
	f.Add(39.1, 115.3, 40.8, 117.5, 1.0, 39.9, 116.4)
	f.Add(-20.0, 177.0, -16.0, -178.0, 2.5, -18.0, 180.0)
	f.Add(85.0, 10.0, 90.0, 100.0, 10.0, 90.0, -180.0)
	f.Add(0.0, -1e-9, 1e-300, 0.0, 1e-4, 0.0, 0.0)
	f.Fuzz(func(t *testing.T, south, west, north, east, step, lat, lon float64) {
		d, err := NewDomain("x", south, west, north, east, step)
		if err != nil {
			return
		}
		if !(d.Kappa() > 0 && d.Kappa() <= maxKappa) {
			t.Fatalf("kappa %v", d.Kappa())
		}
		if !(math.Abs(lat) <= 90 && math.Abs(lon) <= 180) {
			return
		}
		c := d.Cell(lat, lon)
		if max(c.I, -c.I, c.J, -c.J) > maxCell {
			t.Fatalf("cell %v", c)
		}
		for _, z := range []Cell{c, c.add(math.MaxInt64, math.MinInt64)} {
			zlat, zlon := d.print(z).degrees()
			if !(math.Abs(zlat) <= 90 && math.Abs(zlon) <= 180) {
				t.Fatalf("cell %v is at %v %v", z, zlat, zlon)
			}
		}
	})
}

// The centre lies in the middle of the box, across the antimeridian too, and in
// the region if that excludes the middle.
func TestCentre(t *testing.T) {
	for _, c := range []struct{ south, west, north, east, lat, lon float64 }{
		{39, 116, 40, 117, 39.5, 116.5},
		{-10, 179, -9, -179, -9.5, 180},
	} {
		d, err := NewDomain("d", c.south, c.west, c.north, c.east, 1)
		if err != nil {
			t.Fatal(err)
		}
		lat, lon := d.Centre()
		if math.Abs(lat-c.lat) > 2e-5 || math.Abs(math.Abs(lon)-math.Abs(c.lon)) > 2e-5 {
			t.Errorf("the centre of %+v is %v %v", c, lat, lon)
		}
	}
	d, err := NewDomain("d", 39, 116, 40, 117, 1)
	if err == nil {
		d, err = d.WithRegion(t.Context(), "POLYGON((116.1 39.1, 116.2 39.1, 116.2 39.2, 116.1 39.2, 116.1 39.1))")
	}
	if err != nil {
		t.Fatal(err)
	}
	if lat, lon := d.Centre(); lat < 39.199 || lat > 39.2 || lon < 116.199 || lon > 116.2 {
		t.Errorf("the centre is %v %v, outside of the region or not the nearest point of it", lat, lon)
	}
}
