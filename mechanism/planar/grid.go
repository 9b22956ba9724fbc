package planar

import (
	"fmt"
	"math"
	"strconv"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/nearest"
)

const (
	// maxCells bounds a grid. Its empty cells cost nothing.
	maxCells = 1 << 40

	// minCell is the least side of a cell in metres. Printed coordinates resolve a
	// centimetre.
	minCell = 0.1
)

// A Grid is a grid of square cells over the rectangle that bounds a domain's box in the
// frame, from its south-west corner on. Cells are numbered from there, row by row. It follows
// from the box and the side of a cell; a region of the domain makes no difference. It is
// immutable and safe for concurrent use.
type Grid struct {
	domain        *Domain
	cellM         float64 // metres
	side          float64 // of a cell, in steps, as are west and south
	west, south   float64
	columns, rows int64
}

// Grid returns the grid of cells of cellM metres: at least 0.1, at most the larger side of
// the domain's box, and at most 2^40 cells. Errors name cell_m.
func (d *Domain) Grid(cellM float64) (g Grid, err error) {
	if !(cellM >= minCell) {
		return g, fmt.Errorf("cell_m must be at least %v, not %s", minCell, decimal.Format(cellM))
	}
	if largest := d.Side(); cellM > largest {
		return g, fmt.Errorf("cell_m %s exceeds the box, which is %s x %s", decimal.Format(cellM), kilometres(d.width), kilometres(d.height))
	}
	east, south, north := d.extremes()
	side := cellM / d.step
	columns, rows := math.Ceil(2*east/side), math.Ceil((north-south)/side)
	if columns*rows > maxCells {
		return g, fmt.Errorf("cell_m %s makes a grid of %s x %s cells, the limit is %d",
			decimal.Format(cellM), decimal.Format(columns), decimal.Format(rows), int64(maxCells))
	}
	return Grid{d, cellM, side, -east, south, int64(columns), int64(rows)}, nil
}

// Domain returns the domain that the grid lies over.
func (g *Grid) Domain() *Domain { return g.domain }

// Cell returns the number of the cell of a location in degrees, which is first moved to the
// box. lat must be within 90 and lon within 180 degrees of 0.
func (g *Grid) Cell(lat, lon float64) int64 {
	x, y := g.domain.position(lat, lon)
	column := max(0, min(int64((x-g.west)/g.side), g.columns-1))
	row := max(0, min(int64((y-g.south)/g.side), g.rows-1))
	return row*g.columns + column
}

// Size returns how many columns and rows of cells the grid has.
func (g *Grid) Size() (columns, rows int64) { return g.columns, g.rows }

// Side returns the side of a cell in metres.
func (g *Grid) Side() float64 { return g.cellM }

// At returns the column and the row of a lattice point, from the south-west corner of the grid and also outside it.
func (g *Grid) At(c Cell) (column, row float64) {
	return math.Floor((float64(c.I) - g.west) / g.side), math.Floor((float64(c.J) - g.south) / g.side)
}

// Nearest returns the lattice point nearest to a point that is given in cells from the south-west corner.
func (g *Grid) Nearest(column, row float64) Cell {
	return Cell{saturated(g.west + float64(column*g.side)), saturated(g.south + float64(row*g.side))}
}

// AppendWKT appends a cell as a WKT polygon with coordinates of 7 decimals, see ring.
func (g *Grid) AppendWKT(b []byte, cell int64) []byte {
	b = append(b, "POLYGON(("...)
	for i, p := range g.ring(cell, 1) {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendDegrees(b, p.lon)
		b = append(b, ' ')
		b = appendDegrees(b, p.lat)
	}
	return append(b, "))"...)
}

// AppendFeature appends a cell as a GeoJSON feature, a Polygon with the property count.
func (g *Grid) AppendFeature(b []byte, cell int64, count string) []byte {
	return g.appendSquare(b, cell, 1, count)
}

// appendSquare is AppendFeature for a square of side cells. Other properties may follow the count.
func (g *Grid) appendSquare(b []byte, cell, side int64, count string) []byte {
	b = append(b, `{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[`...)
	for i, p := range g.ring(cell, side) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendDegrees(b, p.lon)
		b = append(b, ',')
		b = appendDegrees(b, p.lat)
		b = append(b, ']')
	}
	return append(append(append(b, `]]},"properties":{"count":`...), count...), `}}`...)
}

// ring returns the corners of a square of side cells, counter-clockwise from the cell in its south-west and back to it. Of a square
// that leaves the grid, they are those of the part inside.
//
// Longitudes are the ones within 180 degrees of the middle of the square. So a square across the
// antimeridian is not torn apart, but has longitudes beyond 180. Only a square that holds a
// pole has no ring of longitudes and latitudes around it.
func (g *Grid) ring(cell, side int64) (ring [5]struct{ lat, lon float64 }) {
	column, row := cell%g.columns, cell/g.columns
	west, south := float64(column), float64(row)
	east, north := float64(min(column+side, g.columns)), float64(min(row+side, g.rows))
	_, middle := g.unproject((west+east)/2, (south+north)/2)
	for i, corner := range [5][2]float64{{west, south}, {east, south}, {east, north}, {west, north}, {west, south}} {
		lat, lon := g.unproject(corner[0], corner[1])
		ring[i].lat, ring[i].lon = lat, lon+float64(360*math.Round((middle-lon)/360))
	}
	return ring
}

// unproject returns the location of a point that is given in cells from the south-west
// corner.
func (g *Grid) unproject(column, row float64) (lat, lon float64) {
	lat, dlon := g.domain.grid.unproject(g.west+float64(column*g.side), g.south+float64(row*g.side))
	return lat, nearest.Wrap(g.domain.frame.lon0 + dlon)
}

// appendDegrees appends an angle with 7 decimals.
func appendDegrees(b []byte, angle float64) []byte {
	return strconv.AppendFloat(b, float64(toUnits(angle))/perDegree, 'f', 7, 64)
}
