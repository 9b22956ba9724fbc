package planar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/nearest"
)

const earthDiameter = 2 * equatorialRadius

// The projection agrees with 50-digit arithmetic to a tenth of the error that
// kappa allows for.
func TestProjectionGolden(t *testing.T) {
	worst := 0.0
	for _, row := range readGolden(t, "testdata/projection.csv") {
		f := centredFrame(row[0], row[1])
		x, y := f.project(row[2], f.offset(row[3]))
		worst = max(worst, math.Hypot(x-row[4], y-row[5])*earthDiameter)
	}
	t.Logf("largest error %.3g m", worst)
	if worst > projectionError/10 {
		t.Errorf("projection is off by %g m", worst)
	}
}

// Frame distances lie between kmin and 1+kappa times the geodesics that
// GeographicLib computes, and kappa is not slack: some pairs need more than half
// of it.
func TestGeodesicsGolden(t *testing.T) {
	tight := 0
	for _, row := range readGolden(t, geodesics) {
		d := mustDomain(t, row[0], row[1], row[2], row[3], 10)
		x1, y1 := d.grid.project(row[4], d.frame.offset(row[5]))
		x2, y2 := d.grid.project(row[6], d.frame.offset(row[7]))
		frame, geodesic := math.Hypot(x2-x1, y2-y1)*d.step, row[8]
		// 1e-8 m: the golden distances' last digits.
		if slack := 2*projectionError + 1e-8; frame > (1+d.kappa)*geodesic+slack ||
			frame < d.frame.minScale(d.reach)*geodesic-slack {
			t.Errorf("box %v: frame %v, geodesic %v, kappa %v", row[:4], frame, geodesic, d.kappa)
		}
		if frame > (1+d.kappa/2)*geodesic {
			tight++
		}
		if math.Hypot(x1, y1)*d.step > d.reach+projectionError {
			t.Errorf("box %v: %v %v is beyond the reach", row[:4], row[4], row[5])
		}
	}
	if tight < 10 {
		t.Errorf("only %d pairs come near the bound", tight)
	}
}

// Scales measured by finite differences against the radii of curvature of the
// ellipsoid: the frame is conformal and its scale is the formula's.
func TestPointScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := centredFrame(rapid.Float64Range(-89, 89).Draw(t, "lat0"), 0)
		f.diameter = earthDiameter
		lat := rapid.Float64Range(-89, 89).Draw(t, "lat")
		dlon := rapid.Float64Range(-60, 60).Draw(t, "dlon")
		x, y := f.project(lat, dlon)
		if f.angle(math.Hypot(x, y)) > 86 {
			t.Skip("far from the centre")
		}
		const h = 1e-4 // degrees
		sinPhi, cosPhi := math.Sincos(lat * radiansPerDegree)
		w := 1 - eccentricity2*sinPhi*sinPhi
		north := equatorialRadius * (1 - eccentricity2) / (w * math.Sqrt(w)) * 2 * h * radiansPerDegree
		east := equatorialRadius / math.Sqrt(w) * cosPhi * 2 * h * radiansPerDegree
		xn, yn := difference(f.project, lat+h, dlon, lat-h, dlon)
		xe, ye := difference(f.project, lat, dlon+h, lat, dlon-h)

		c := f.angle(math.Hypot(x, y))
		_, cos := sincos(c / 2)
		want := sphereScale(sinPhi) / (cos * cos)
		for _, got := range []float64{math.Hypot(xn, yn) / north, math.Hypot(xe, ye) / east} {
			if math.Abs(got/want-1) > 1e-6 {
				t.Fatalf("scale %v, formula %v", got, want)
			}
		}
		if sine := (xn*xe + yn*ye) / (math.Hypot(xn, yn) * math.Hypot(xe, ye)); math.Abs(sine) > 1e-6 {
			t.Fatalf("meridian and parallel are %v rad from square", sine)
		}
	})
}

func difference(f func(a, b float64) (x, y float64), a1, b1, a2, b2 float64) (x, y float64) {
	x1, y1 := f(a1, b1)
	x2, y2 := f(a2, b2)
	return x1 - x2, y1 - y2
}

func TestSphereScaleGrowsWithLatitude(t *testing.T) {
	if sphereScale(0) != 1 {
		t.Errorf("scale on the equator is %v", sphereScale(0))
	}
	for phi := 0.5; phi <= 90; phi += 0.5 {
		low, high := math.Sin((phi-0.5)*radiansPerDegree), math.Sin(phi*radiansPerDegree)
		if !(sphereScale(low) < sphereScale(high)) || sphereScale(-high) != sphereScale(high) {
			t.Errorf("scale does not grow at %v degrees", phi)
		}
	}
	e := math.Sqrt(eccentricity2)
	closed := math.Sqrt(1-eccentricity2) * math.Exp(e*math.Atanh(e))
	if math.Abs(sphereScale(1)-closed) > 1e-15 {
		t.Errorf("scale at the pole is %v, closed form %v", sphereScale(1), closed)
	}
}

// The series agrees with its closed form to the last digit of a number near 1.
func TestConformalShift(t *testing.T) {
	e := math.Sqrt(eccentricity2)
	for s := -1.0; s <= 1; s += 0x1p-10 {
		got, want := conformalShift(s), math.Tanh(e*math.Atanh(e*s))
		if math.Abs(got-want) > 5e-17 {
			t.Errorf("s %v: %.20g, closed form %.20g", s, got, want)
		}
	}
}

func TestLatitudeInvertsConformal(t *testing.T) {
	for phi := -90.0; phi <= 90; phi += 0.125 {
		up, out, norm := conformal(sincos(phi))
		got := latitude(up/norm, out/norm)
		if math.Abs(got-phi) > 3e-14 {
			t.Errorf("latitude %v returns as %v", phi, got)
		}
	}
}

// Inverse and projection return a location within 1e-9 degree of the great
// circle, up to 150 degrees from the centre. (Its antipode has no image to tell from.)
func TestProjectionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat0 := rapid.Float64Range(-90, 90).Draw(t, "lat0")
		f := centredFrame(lat0, rapid.Float64Range(-180, 180).Draw(t, "lon0"))
		f.diameter = earthDiameter
		lat := rapid.Float64Range(-90, 90).Draw(t, "lat")
		dlon := rapid.Float64Range(-180, 180).Draw(t, "dlon")
		up, out, norm := conformal(sincos(lat))
		if f.sin0*up+f.cos0*out*math.Cos(dlon*radiansPerDegree) < norm*math.Cos(150*radiansPerDegree) {
			t.Skip("near the antipode")
		}
		x, y := f.project(lat, dlon)
		lat2, dlon2 := f.unproject(x, y)
		east := nearest.Wrap(dlon2-dlon) * math.Cos(lat*radiansPerDegree)
		if math.Hypot(lat2-lat, east) > 1e-9 {
			t.Fatalf("%v %v returns as %v %v", lat, dlon, lat2, dlon2)
		}
	})
}

// The two formulas agree where both hold, and the one for places near the centre refuses those
// across a pole, whose parallels and meridians have the same tangents.
func TestNearTheCentre(t *testing.T) {
	near := 0
	rapid.Check(t, func(t *rapid.T) {
		f := centredFrame(rapid.Float64Range(-89.9, 89.9).Draw(t, "lat0"), 0)
		f.diameter = earthDiameter
		dlat := f.near.most * rapid.Float64Range(-1, 1).Draw(t, "dlat")
		dlon := nearLongitude * rapid.Float64Range(-1, 1).Draw(t, "dlon")
		x, y := f.projectNear(dlat, dlon)
		lat2, dlon2, ok := f.unprojectNear(x, y)
		f.near.most = -1
		x2, y2 := f.project(f.near.lat0+dlat, dlon)
		if math.Hypot(x2-x, y2-y) > projectionError/5 {
			t.Fatalf("image of %v %v: %v %v, near the centre %v %v", dlat, dlon, x2, y2, x, y)
		}
		if ok {
			near++
			if math.Abs(lat2-f.near.lat0-dlat) > 3e-14 || math.Abs(dlon2-dlon) > 3e-14 {
				t.Fatalf("%v %v returns as %v %v", dlat, dlon, lat2-f.near.lat0, dlon2)
			}
		}
		for _, far := range []float64{180 - dlon, 180, dlon - 180} {
			x, y := f.project(f.near.lat0+dlat, far)
			if _, _, ok := f.unprojectNear(x, y); ok {
				t.Fatalf("%v degrees away is near the centre", far)
			}
		}
	})
	if near < 10 {
		t.Errorf("only %d places were near the centre", near)
	}
}

// Every point of the plane has a valid location, however far out.
func TestInverseFarOut(t *testing.T) {
	for _, lat0 := range []float64{-90, -45, 0, 0.001, 39.9, 89.9} {
		f := centredFrame(lat0, 0)
		f.diameter = earthDiameter
		for r := 1.0; r < 1e25; r *= 7 {
			for k := range 32 {
				sin, cos := math.Sincos(float64(k) * math.Pi / 16)
				lat, dlon := f.unproject(r*cos, r*sin)
				if !(math.Abs(lat) <= 90 && math.Abs(dlon) <= 180) {
					t.Fatalf("centre %v, point %v %v: location %v %v", lat0, r*cos, r*sin, lat, dlon)
				}
			}
		}
		lat, _ := f.unproject(1e25, 0)
		if math.Abs(lat+lat0) > 1e-6 {
			t.Errorf("centre %v: the far end is at latitude %v", lat0, lat)
		}
	}
}
