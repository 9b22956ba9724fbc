package planar

import "github.com/geosql/geosql/mechanism/exact"

// A Centroid accumulates a tuple of secret locations of a domain, in integers, so that
// their order makes no difference. The zero value is empty.
type Centroid struct{ sumI, sumJ, n int64 }

// Add adds a location in degrees, moved to the box like every secret (see
// [Domain.Cell]). lat must be within 90 and lon within 180 degrees of 0. There is
// room for 2^32 locations.
func (c *Centroid) Add(d *Domain, lat, lon float64) {
	cell := d.Cell(lat, lon)
	c.sumI += cell.I
	c.sumJ += cell.J
	c.n++
}

// cell returns the lattice point nearest to the mean, or that at the middle of the box
// if there are no locations.
func (c *Centroid) cell() Cell {
	if c.n == 0 {
		return Cell{}
	}
	return Cell{divide(c.sumI, c.n), divide(c.sumJ, c.n)}
}

// divide returns the integer nearest to sum/n, the greater of two.
func divide(sum, n int64) int64 {
	q, r := sum/n, sum%n
	if r < 0 {
		q, r = q-1, r+n
	}
	if r >= n-r {
		q++
	}
	return q
}

// DrawCentroid returns a released centroid of locations of the mechanism's domain, as
// [Laplace.Draw] returns a released location.
//
// # Privacy
//
// Let each of n locations be at most d metres from its counterpart in a second tuple
// (d_infinity of the thesis, section 5.1.2). The two tuples are distinguishable by at most
// eps*(d + two diagonals of a cell): the lattice points of counterparts are at most
// (1+kappa)*(d + step*sqrt 2) apart in the frame, hence so are the means of the two
// tuples, by the triangle inequality: the centroid is 1-sensitive. Rounding the means
// moves each by half a diagonal at most. The rest is as for Draw. n is public.
func (l *Laplace) DrawCentroid(src *exact.Source, c *Centroid) (lat, lon float64) {
	z := l.noise.Draw(src, c.cell())
	return l.domain.Location(l.domain.Admissible(z))
}
