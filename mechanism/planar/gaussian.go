package planar

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/exact"
)

// A Gaussian adds normal noise of equal variance to both coordinates in the frame. It
// is not geo-indistinguishable at any epsilon: its protection depends on how the
// caller chooses the variance. It is immutable and safe for concurrent use with a Source
// per goroutine.
type Gaussian struct {
	domain *Domain
	sigma  float64 // steps of the lattice
}

// Gaussian returns a mechanism whose noise has at least the given variance in each
// coordinate, in square metres of the frame, and at most 1e-15 of it more.
func (d *Domain) Gaussian(variance float64) (*Gaussian, error) {
	sigma := nextUp(nextUp(math.Sqrt(variance)) / d.step)
	if !(variance > 0) || math.IsInf(sigma, 1) {
		return nil, fmt.Errorf("variance must be above 0 and finite, not %v", variance)
	}
	return &Gaussian{d, sigma}, nil
}

// nextUp returns the next float64. An operation of IEEE arithmetic is off by less.
func nextUp(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// Draw returns a released location, in degrees: the image of the location in the frame,
// not rounded, plus noise, a real number. The sum is rounded once to the lattice and
// moved to the nearest admissible point. lat must be within 90 and lon within 180 degrees
// of 0; the location is first moved to the box. The result is as for [Laplace.Draw].
func (g *Gaussian) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	x, y := g.domain.position(lat, lon)
	z := Cell{}.add(src.RoundedNormal(x, g.sigma), src.RoundedNormal(y, g.sigma))
	return g.domain.Location(g.domain.Admissible(z))
}

// MaxFrameDistance returns an upper bound of the distance in the frame, in metres, between
// the images of two locations of the box that are the given metres apart along the
// ellipsoid.
func (d *Domain) MaxFrameDistance(metres float64) float64 {
	return nextUp(nextUp(nextUp(1+d.kappa)*metres) + 2*projectionError)
}
