package planar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/nearest"
)

// The table of directions is off by at most directionError, by Taylor's series in 120 bits.
func TestTurns(t *testing.T) {
	sine := func(x *big.Float) *big.Float {
		square := new(big.Float).Mul(x, x)
		term, sum := new(big.Float).Set(x), new(big.Float).Set(x)
		for k := int64(2); k < 60; k += 2 {
			term.Mul(term, square)
			term.Quo(term, big.NewFloat(float64(-k*(k+1))))
			sum.Add(sum, term)
		}
		return sum
	}
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582", 10, 120, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	angle := func(k int) *big.Float { // k parts of a turn
		x := new(big.Float).Mul(pi, big.NewFloat(float64(2*k)))
		return x.Quo(x, big.NewFloat(turnParts))
	}
	for k := range turnParts {
		for _, c := range []struct{ got, parts float64 }{{turns[k].sin, float64(k)}, {turns[k].cos, float64(k + turnParts/4)}} {
			off, _ := new(big.Float).Sub(big.NewFloat(c.got), sine(angle(int(c.parts)))).Float64()
			if math.Abs(off) > 0x1p-52 {
				t.Errorf("direction %d is off by %g", k, off)
			}
		}
	}
}

// bearing inverts sincos, all the way round.
func TestBearing(t *testing.T) {
	for a := -180.; a <= 180; a += 1. / 256 {
		sin, cos := sincos(a)
		if got := bearing(cos, sin); math.Abs(nearest.Wrap(got-a)) > 0x1p-45 || math.Abs(got) > 180 {
			t.Errorf("%v degrees return as %v", a, got)
		}
	}
	for _, c := range [][3]float64{{1, 0, 0}, {0, 1, 90}, {0, -1, -90}, {-1, 0, 180}} {
		if got := bearing(c[0], c[1]); got != c[2] {
			t.Errorf("bearing of %v %v is %v", c[0], c[1], got)
		}
	}
}

// withMath is the projection and its inverse by the functions of package math.
type withMath struct{ frame }

func (f withMath) project(lat, dlon float64) (x, y float64) {
	up, out, norm := conformal(math.Sincos(lat * radiansPerDegree))
	sinL, cosL := math.Sincos(dlon * radiansPerDegree)
	east, out := out*sinL, out*cosL
	k := f.diameter / (norm + f.sin0*up + f.cos0*out)
	return k * east, k * (f.cos0*up - f.sin0*out)
}

func (f withMath) unproject(x, y float64) (lat, dlon float64) {
	east, north := 2*f.diameter*x, 2*f.diameter*y
	axis := f.diameter*f.diameter - x*x - y*y
	up, out := axis*f.sin0+north*f.cos0, axis*f.cos0-north*f.sin0
	chi := math.Atan2(up, math.Hypot(out, east))
	lat = chi
	for k, b := range latitudeSeries {
		lat += b * math.Sin(2*float64(k+1)*chi)
	}
	return lat * degreesPerRadian, math.Atan2(east, out) * degreesPerRadian
}

// The tables change printed digits only where a seventh decimal is a tie within rounding errors,
// and the lattice point of a secret only there. GEOSQL_POINTS is how many points to compare.
func TestProjectionWithMath(t *testing.T) {
	points := trials.Count(t, "GEOSQL_POINTS", 300_000)
	r := rand.New(rand.NewPCG(24, 1))
	printed, moved := 0, 0
	var d *Domain
	for i := range points {
		if i%10_000 == 0 {
			d = randomDomain(t, r)
		}
		reference := withMath{d.grid}
		// A unit of 1e-7 degrees of longitude is short near a pole.
		tied := func(x, y, slack float64) bool {
			return math.Abs(x-y) < slack && math.Abs(math.Abs(x-math.Trunc(x))-0.5) < slack
		}
		c := Cell{int64(d.reach / d.step * (2*r.Float64() - 1)), int64(d.reach / d.step * (2*r.Float64() - 1))}
		got, want := d.print(c), toPrinted(d, reference, c)
		if got != want {
			printed++
			lat, dlon := d.grid.unproject(float64(c.I), float64(c.J))
			lat2, dlon2 := reference.unproject(float64(c.I), float64(c.J))
			if got.lat != want.lat && !tied(lat*perDegree, lat2*perDegree, 2e-6) ||
				got.lon != want.lon && !tied(nearest.Wrap(d.frame.lon0+dlon)*perDegree, nearest.Wrap(d.frame.lon0+dlon2)*perDegree, 1e-5) {
				t.Fatalf("%v: point %v is printed as %v, with math as %v", d, c, got, want)
			}
		}

		lat := d.box.South + r.Float64()*(d.box.North-d.box.South)
		dlon := d.box.Half * (2*r.Float64() - 1)
		x, y := d.grid.project(lat, dlon)
		x2, y2 := reference.project(lat, dlon)
		if off := math.Hypot(x-x2, y-y2) * d.step; off > projectionError/5 {
			t.Fatalf("%v: image of %v %v is %g m off", d, lat, dlon, off)
		}
		if math.RoundToEven(x) != math.RoundToEven(x2) || math.RoundToEven(y) != math.RoundToEven(y2) {
			moved++
		}
	}
	t.Logf("of %d points, %d are printed differently and %d have another lattice point", points, printed, moved)
	if limit := points/100_000 + 3; printed > limit || moved > limit {
		t.Errorf("of %d points, %d are printed differently and %d have another lattice point", points, printed, moved)
	}
}

func toPrinted(d *Domain, f withMath, c Cell) printed {
	lat, dlon := f.unproject(float64(c.I), float64(c.J))
	return printed{toUnits(lat), toUnits(nearest.Wrap(d.frame.lon0 + dlon))}
}

// randomDomain returns a domain of 1 m, up to 600 km across.
func randomDomain(t *testing.T, r *rand.Rand) *Domain {
	lat, lon := -85+170*r.Float64(), -170+340*r.Float64()
	height, width := 0.05+2.5*r.Float64(), 0.05+4*r.Float64()
	return mustDomain(t, lat-height, lon-width, lat+height, lon+width, 1)
}
