package audit

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/geosql/geosql/internal/audit/bound"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// A town is a domain that locations are attacked in.
type town struct {
	name                     string
	south, west, north, east float64
	step                     float64
	region                   string // none if empty

	frame func() *planar.Domain
}

// newTown returns a domain.
func newTown(name string, south, west, north, east, step float64, region string) *town {
	t := &town{name: name, south: south, west: west, north: north, east: east, step: step, region: region}
	t.frame = sync.OnceValue(func() *planar.Domain {
		d, err := planar.NewDomain(name, south, west, north, east, step)
		if err == nil && region != "" {
			d, err = d.WithRegion(context.Background(), region)
		}
		if err != nil {
			panic(fmt.Sprintf("domain %s: %v", name, err))
		}
		return d
	})
	return t
}

// declare returns a statement that declares the domain.
func (t *town) declare() string {
	s := fmt.Sprintf("SELECT geo_domain('%s', %v, %v, %v, %v, %v)", t.name, t.south, t.west, t.north, t.east, t.step)
	if t.region != "" {
		s += fmt.Sprintf(", geo_region('%s', '%s')", t.name, t.region)
	}
	return s
}

// A spot is a location.
type spot struct{ lat, lon float64 }

// String returns the spot as SQL has it.
func (s spot) String() string {
	return decimal.Format(s.lat) + ", " + decimal.Format(s.lon)
}

// centre returns the middle of the box.
func (t *town) centre() spot {
	east := t.east
	if east < t.west {
		east += 360
	}
	lon := (t.west + east) / 2
	if lon > 180 {
		lon -= 360
	}
	return spot{(t.south + t.north) / 2, lon}
}

// move returns the spot that is some metres to the east and to the north.
func (s spot) move(east, north float64) spot {
	const degree = math.Pi / 180 * 6371000
	lon := s.lon + east/degree/math.Cos(s.lat*math.Pi/180)
	switch {
	case lon > 180:
		lon -= 360
	case lon < -180:
		lon += 360
	}
	return spot{s.lat + north/degree, lon}
}

// metres returns the distance along the ellipsoid, which epsilon per metre refers to.
func (s spot) metres(o spot) float64 { return planar.Geodesic(s.lat, s.lon, o.lat, o.lon) }

// diagonal returns that of a cell, by which rounding adds to a distance at most.
func (t *town) diagonal() float64 { return t.step * math.Sqrt2 }

// distance returns the distance of two locations by the claims.
func (t *town) distance(a, b spot) float64 { return a.metres(b) + t.diagonal() }

// points returns the released points in an outcome with no other numbers.
func points(o bound.Outcome) []spot {
	list := make([]spot, 0, len(o.Values)/2)
	for i := 0; i+1 < len(o.Values); i += 2 {
		list = append(list, spot{lat: o.Values[i+1], lon: o.Values[i]})
	}
	return list
}

// plane returns where a released point lies in the frame, in metres.
func (t *town) plane(s spot) [2]float64 {
	c := t.frame().Reported(s.lat, s.lon)
	return [2]float64{float64(c.I) * t.step, float64(c.J) * t.step}
}

// secret returns the lattice point that a secret is moved to.
func (t *town) secret(s spot) [2]float64 {
	c := t.frame().Cell(s.lat, s.lon)
	return [2]float64{float64(c.I) * t.step, float64(c.J) * t.step}
}

// latticed reports whether an outcome is one point that the domain's lattice prints, in its digits.
func (t *town) latticed(s spot) bool {
	d := t.frame()
	c := d.Reported(s.lat, s.lon)
	lat, lon := d.Location(c)
	return lat == s.lat && lon == s.lon && d.Admissible(c) == c
}

// A norm is how a mechanism measures distances in the frame.
type norm func(a, b [2]float64) float64

func euclid(a, b [2]float64) float64    { return math.Hypot(a[0]-b[0], a[1]-b[1]) }
func manhattan(a, b [2]float64) float64 { return math.Abs(a[0]-b[0]) + math.Abs(a[1]-b[1]) }
func square(a, b [2]float64) float64 {
	x, y := a[0]-b[0], a[1]-b[1]
	return x*x + y*y
}

// nearer returns the score that is the loss of an answer, up to a factor: how much nearer its points are to the secrets
// of input 0 than to those of input 1. An answer has a point for each secret, in their order.
func (t *town) nearer(n norm, a, b []spot) bound.Score {
	secrets := sync.OnceValue(func() (list [][2][2]float64) {
		for i := range a {
			list = append(list, [2][2]float64{t.secret(a[i]), t.secret(b[i])})
		}
		return list
	})
	return bound.Score{Name: "nearer to the location of input 0", Of: func(o bound.Outcome) float64 {
		score := 0.0
		for i, z := range points(o) {
			if s := secrets(); i < len(s) {
				p := t.plane(z)
				score += n(p, s[i][1]) - n(p, s[i][0])
			}
		}
		return score
	}}
}
