package planar

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/exact"
)

// A Gaussian adds normal noise of equal variance to both coordinates in the frame. It
// is not geo-indistinguishable at any epsilon; what it protects is for those to say who
// choose the variance. It is immutable and safe for concurrent use with a Source per
// goroutine.
type Gaussian struct {
	domain *Domain
	sigma  float64 // steps of the lattice
}

// Gaussian returns the mechanism whose noise has at least the variance given, in
// square metres of the frame, in each coordinate: up to 1e-15 of it more.
func (d *Domain) Gaussian(variance float64) (*Gaussian, error) {
	sigma := nextUp(nextUp(math.Sqrt(variance)) / d.step)
	if !(variance > 0) || math.IsInf(sigma, 1) {
		return nil, fmt.Errorf("variance must be above 0 and finite, not %v", variance)
	}
	return &Gaussian{d, sigma}, nil
}

// nextUp returns the next float64: a result of IEEE arithmetic is off by less.
func nextUp(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// Draw reports a location, in degrees: its image in the frame, which is not rounded,
// plus noise, which is a real number, then rounded once to the lattice and moved to
// the nearest admissible point. lat must be within 90 and lon within 180 degrees of 0;
// the location is first moved to the box. The result is as for [Laplace.Draw].
func (g *Gaussian) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	x, y := g.domain.position(lat, lon)
	z := Cell{}.add(src.RoundedNormal(x, g.sigma), src.RoundedNormal(y, g.sigma))
	return g.domain.Location(g.domain.Admissible(z))
}

// MaxFrameDistance bounds how far the images of two locations of the box, metres apart along
// the ellipsoid, are from each other in the frame, in metres.
func (d *Domain) MaxFrameDistance(metres float64) float64 {
	return nextUp(nextUp(nextUp(1+d.kappa)*metres) + 2*projectionError)
}
