package planar

import (
	"math"

	"github.com/geosql/geosql/mechanism/nearest"
)

const (
	// maxCell bounds the indices of the lattice points of a box.
	maxCell = 1 << 30

	// saturation bounds the indices of drawn lattice points: a draw beyond it
	// is moved to the nearest point within, which is post-processing. With a
	// step of 1 m it is reached where the frame shows the last 25 m around the
	// centre's antipode.
	saturation = 1 << 40

	// perDegree is the resolution of printed coordinates: 7 decimals.
	perDegree = 1e7
)

// A Cell is a point (I*step, J*step) of the lattice in the frame, which has the
// box's centre for its origin, metres to the east and to the north. It stands
// for the locations that round to it. Indices are at most 2^40 either way.
type Cell struct{ I, J int64 }

// Cell returns the lattice point nearest to a location, in degrees, that is first moved
// to the box. Every secret passes through here before anything is drawn. A latitude
// moves to the nearest in the box, a longitude to the nearer of west and east;
// halves of a step round to even, which processors do in one instruction. lat
// must be within 90 and lon within 180 degrees of 0.
//
// Rounding moves a point by at most half a cell's diagonal, so the lattice points of
// two locations are at most step*sqrt 2 further apart than their images.
func (d *Domain) Cell(lat, lon float64) Cell {
	x, y := d.position(lat, lon)
	return Cell{int64(math.RoundToEven(x)), int64(math.RoundToEven(y))}
}

// position moves a location to the box and returns its image in steps of the lattice.
func (d *Domain) position(lat, lon float64) (x, y float64) {
	lat = clamp(lat, d.box.South, d.box.North)
	dlon := clamp(d.frame.offset(lon), -d.box.Half, d.box.Half)
	return d.grid.project(lat, dlon)
}

// clamp moves x to the nearest from low to high. The builtin min and max, which mind signs of zero and NaN,
// number, take longer.
func clamp(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

// Extent returns the least and the greatest indices that Cell returns, as the corners
// of a rectangle. An extreme within rounding errors of half a step may be one too far
// out.
func (d *Domain) Extent() (low, high Cell) {
	east, south, north := d.extremes()
	low = Cell{int64(math.RoundToEven(-east)), int64(math.RoundToEven(south))}
	high = Cell{int64(math.RoundToEven(east)), int64(math.RoundToEven(north))}
	return low, high
}

// extremes returns bounds on the positions of locations, in steps: x from -east to east,
// y from south to north. They allow for rounding errors and are tight but for these.
//
// With chi the conformal latitude, chi0 the centre's, and l the longitude from it,
// the derivatives of the projection (Snyder, USGS 1395, equations 21-2 and 21-3)
// are, up to positive factors,
//
//	dx/dl    ~  cos chi * ((1 + sin chi0*sin chi)*cos l + cos chi0*cos chi)
//	dx/dchi  ~  -sin l * (sin chi0 + sin chi)
//	dy/dchi  ~  cos chi0*cos chi + (1 + sin chi0*sin chi)*cos l
//	dy/dl    ~  sin l * cos chi * (sin chi0 + sin chi)
//
// A box has |l| <= 90 degrees, so that x grows with l: it is largest on the east
// side, there at the latitude nearest to chi = -chi0, and symmetric. y grows with
// chi, so its extremes are on the parallels in the north and the south, along each
// and y is monotone along each of these from the middle to a corner.
func (d *Domain) extremes() (east, south, north float64) {
	lat0, _ := d.box.Centre()
	east, _ = d.grid.project(max(d.box.South, min(-lat0, d.box.North)), d.box.Half)
	_, south = d.grid.project(d.box.South, 0)
	_, southCorner := d.grid.project(d.box.South, d.box.Half)
	_, north = d.grid.project(d.box.North, 0)
	_, northCorner := d.grid.project(d.box.North, d.box.Half)

	// Two computed images, this one and a location's.
	margin := 2 * projectionError / d.step
	return east + margin, min(south, southCorner) - margin, max(north, northCorner) + margin
}

// add returns the lattice point at (i, j) from c, saturated: indices are bounded,
// so nothing overflows.
func (c Cell) add(i, j int64) Cell {
	return Cell{
		c.I + max(-saturation-c.I, min(i, saturation-c.I)),
		c.J + max(-saturation-c.J, min(j, saturation-c.J)),
	}
}

// Admissible returns the admissible lattice point nearest to c, as [Domain.WithRegion]
// defines it, or c itself in a domain without a region.
func (d *Domain) Admissible(c Cell) Cell {
	if d.region == nil {
		return c
	}
	return d.region.nearest(c)
}

// Location returns the reported coordinates of a lattice point, in degrees rounded to 7
// decimals: lat in [-90, 90], lon in [-180, 180].
func (d *Domain) Location(c Cell) (lat, lon float64) { return d.print(c).degrees() }

// Position returns the location of a point of the frame, x steps to the east and y to the
// north of the centre, as [Domain.Location] does for lattice points.
func (d *Domain) Position(x, y float64) (lat, lon float64) { return d.printAt(x, y).degrees() }

// Reported returns the lattice point that [Domain.Location] reports at a location, in
// degrees, inside the box or not. If the printed decimals do not tell lattice points apart,
// as with steps below 2 cm, or near the antipode of the centre, it returns one near to it.
func (d *Domain) Reported(lat, lon float64) Cell {
	x, y := d.grid.project(lat, d.frame.offset(lon))
	return Cell{saturated(x), saturated(y)}
}

// Prints reports whether a location, in degrees, is a lattice point as [Domain.Location] reports it. Where the printed decimals
// do not tell lattice points apart, most locations with 7 decimals are.
func (d *Domain) Prints(lat, lon float64) bool {
	printedLat, printedLon := d.Location(d.Reported(lat, lon))
	return lat == printedLat && lon == printedLon
}

// saturated rounds a position to the nearest index.
func saturated(x float64) int64 {
	if !(x > -saturation) {
		return -saturation
	}
	return int64(math.RoundToEven(min(x, saturation)))
}

// A printed location has coordinates in units of 1e-7 degree, about 1 cm. These
// integers decide the output of a query, and whether it lies in a region.
type printed struct{ lat, lon int64 }

// print returns the reported coordinates of a lattice point.
func (d *Domain) print(c Cell) printed { return d.printAt(float64(c.I), float64(c.J)) }

// printAt returns the reported coordinates of a point that is given in steps.
func (d *Domain) printAt(x, y float64) printed {
	lat, dlon := d.grid.unproject(x, y)
	return printed{toUnits(lat), toUnits(nearest.Wrap(d.frame.lon0 + dlon))}
}

// degrees returns the float64 nearest to the printed decimals.
func (p printed) degrees() (lat, lon float64) {
	return float64(p.lat) / perDegree, float64(p.lon) / perDegree
}

func toUnits(degrees float64) int64 { return int64(math.RoundToEven(degrees * perDegree)) }
