package markov

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

// maxCells bounds a grid: a belief about a cell takes 8 bytes per cell.
const maxCells = 1 << 20

// A Grid divides a domain into square cells. Their centres are lattice points of the
// domain: every k-th, including the domain's centre. Cells are numbered from the
// south-west, row by row. A Grid is immutable and safe for concurrent use.
type Grid struct {
	domain        *planar.Domain
	metres        float64 // of a cell's side, as declared
	k             int64   // the side in lattice steps
	west, south   int64   // the first column and row, in cells from the domain's centre
	width, height int
}

// NewGrid returns the smallest grid of cells cellM metres wide that contains the box of a
// domain. cellM must be a whole multiple of the domain's step, up to the rounding of
// decimals, and no larger than the box; there may be at most 2^20 cells. Errors name
// cell_m.
func NewGrid(d *planar.Domain, cellM float64) (*Grid, error) {
	low, high := d.Extent()
	points := max(high.I-low.I, high.J-low.J) + 1
	k, err := refinement(cellM, d.Step(), points)
	if err != nil {
		return nil, err
	}
	g := &Grid{domain: d, metres: cellM, k: k, west: nearest(low.I, k), south: nearest(low.J, k)}
	width, height := nearest(high.I, k)-g.west+1, nearest(high.J, k)-g.south+1
	if width*height > maxCells { // both are below 2^32
		return nil, fmt.Errorf("cell_m %v makes a grid of %d x %d cells, the limit is %d", cellM, width, height, maxCells)
	}
	g.width, g.height = int(width), int(height)
	return g, nil
}

// refinement returns the number of steps in the side of a cell, at most limit.
func refinement(cellM, step float64, limit int64) (int64, error) {
	const rounding = 1e-9
	if !(cellM > 0) || math.IsInf(cellM, 0) {
		return 0, fmt.Errorf("cell_m must be a positive number of metres, not %v", cellM)
	}
	k := math.Round(cellM / step)
	if k > float64(limit) {
		return 0, fmt.Errorf("cell_m %v exceeds the box", cellM)
	}
	if !(math.Abs(float64(k*step)-cellM) <= rounding*cellM) {
		return 0, fmt.Errorf("cell_m must be a whole multiple of the domain's step of %v m, not %v", step, cellM)
	}
	return int64(k), nil
}

// nearest returns the multiple of k nearest to i, divided by k; halves round up.
func nearest(i, k int64) int64 {
	i += k / 2
	if i < 0 {
		i -= k - 1
	}
	return i / k
}

// Domain returns the domain that the grid divides.
func (g *Grid) Domain() *planar.Domain { return g.domain }

// Size returns the number of cells from west to east and from south to north.
func (g *Grid) Size() (width, height int) { return g.width, g.height }

// Len returns the number of cells, width*height.
func (g *Grid) Len() int { return g.width * g.height }

// Refinement returns the side of a cell in steps of the domain's lattice.
func (g *Grid) Refinement() int64 { return g.k }

// Index returns the cell of a location in degrees, row*width + column, in [0, Len).
// Locations outside the domain's box are moved to a cell of the border, as by
// [planar.Domain.Cell]. lat must be within 90 and lon within 180 degrees of 0.
func (g *Grid) Index(lat, lon float64) int {
	c := g.domain.Cell(lat, lon)
	column := clamp(nearest(c.I, g.k)-g.west, g.width)
	row := clamp(nearest(c.J, g.k)-g.south, g.height)
	return row*g.width + column
}

// clamp moves an index to the nearest of 0 to n-1.
func clamp(i int64, n int) int { return int(max(0, min(i, int64(n)-1))) }

// Centre returns the lattice point at the centre of cell i. Its indices are multiples of
// Refinement. The centre of a cell of the border may lie outside the box, by at most half
// a cell either way.
func (g *Grid) Centre(i int) planar.Cell {
	return planar.Cell{
		I: (g.west + int64(i%g.width)) * g.k,
		J: (g.south + int64(i/g.width)) * g.k,
	}
}

// degree returns the number of cells in the neighbourhood of cell i, itself
// included.
func (g *Grid) degree(i int) int {
	return extent(i%g.width, g.width) * extent(i/g.width, g.height)
}

// extent returns how many of i-1, i and i+1 are in 0 to n-1.
func extent(i, n int) int { return min(i+1, n-1) - max(i-1, 0) + 1 }
