package planar

import (
	"fmt"
	"math"
	"strconv"
)

const (
	// maxHeatCells bounds a grid. Its empty cells cost nothing.
	maxHeatCells = 1 << 40

	// minHeatCell is the least side of a cell in metres. Printed coordinates resolve a
	// centimetre.
	minHeatCell = 0.1
)

// A heatGrid is a grid of square cells over the rectangle that bounds a domain's box in the
// frame, from its south-west corner on. Cells are numbered from there, row by row. It follows
// from the box and the side of a cell; a region of the domain makes no difference.
type heatGrid struct {
	domain        *Domain
	cellM         float64 // metres
	side          float64 // of a cell, in steps, as are west and south
	west, south   float64
	columns, rows int64
}

// newHeatGrid returns the grid of cells of cellM metres. Errors name cell_m.
func newHeatGrid(d *Domain, cellM float64) (g heatGrid, err error) {
	if !(cellM >= minHeatCell) {
		return g, fmt.Errorf("cell_m must be at least %v, not %s", minHeatCell, plain(cellM))
	}
	if largest := max(d.width, d.height); cellM > largest {
		return g, fmt.Errorf("cell_m %s exceeds the box, which is %s x %s", plain(cellM), kilometres(d.width), kilometres(d.height))
	}
	east, south, north := d.extremes()
	side := cellM / d.step
	columns, rows := math.Ceil(2*east/side), math.Ceil((north-south)/side)
	if columns*rows > maxHeatCells {
		return g, fmt.Errorf("cell_m %s makes a grid of %s x %s cells, of which there may be %d",
			plain(cellM), plain(columns), plain(rows), int64(maxHeatCells))
	}
	return heatGrid{d, cellM, side, -east, south, int64(columns), int64(rows)}, nil
}

// plain formats x without an exponent.
func plain(x float64) string { return string(appendNumber(nil, x)) }

// appendNumber appends x to b without an exponent.
func appendNumber(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }

// cell returns the number of the cell of a location, which is first moved to the box.
func (g *heatGrid) cell(lat, lon float64) int64 {
	x, y := g.domain.position(lat, lon)
	column := max(0, min(int64((x-g.west)/g.side), g.columns-1))
	row := max(0, min(int64((y-g.south)/g.side), g.rows-1))
	return row*g.columns + column
}

// appendRing appends the corners of a cell as GeoJSON positions, counter-clockwise from the
// south-west and back to it.
//
// Longitudes are the ones within 180 degrees of the middle of the cell. So a cell across the
// antimeridian is not torn apart, but has longitudes beyond 180. Only a cell that holds a
// pole has no ring of longitudes and latitudes around it.
func (g *heatGrid) appendRing(b []byte, cell int64) []byte {
	column, row := float64(cell%g.columns), float64(cell/g.columns)
	_, middle := g.unproject(column+0.5, row+0.5)
	for i, corner := range [5][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}} {
		if i > 0 {
			b = append(b, ',')
		}
		lat, lon := g.unproject(column+corner[0], row+corner[1])
		lon += 360 * math.Round((middle-lon)/360)
		b = append(b, '[')
		b = appendDegrees(b, lon)
		b = append(b, ',')
		b = appendDegrees(b, lat)
		b = append(b, ']')
	}
	return b
}

// unproject returns the location of a point that is given in cells from the south-west
// corner.
func (g *heatGrid) unproject(column, row float64) (lat, lon float64) {
	lat, dlon := g.domain.grid.unproject(g.west+column*g.side, g.south+row*g.side)
	return lat, wrap(g.domain.frame.lon0 + dlon)
}

// appendDegrees appends an angle with 7 decimals.
func appendDegrees(b []byte, angle float64) []byte {
	return strconv.AppendFloat(b, float64(toUnits(angle))/perDegree, 'f', 7, 64)
}
