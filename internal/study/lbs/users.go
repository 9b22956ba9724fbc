package lbs

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

// Sample returns n of the places, at even steps through all of them, or all places if there
// are no more than n.
func Sample(all []Place, n int) []Place {
	if n >= len(all) {
		return all
	}
	some := make([]Place, n)
	for k := range some {
		some[k] = all[k*len(all)/n]
	}
	return some
}

// Grid returns the places in the box of a domain of a grid of about n places, at even steps
// to the east and to the north.
func Grid(d *planar.Domain, n int) (grid []Place) {
	low, high := d.Extent()
	width, height := float64(high.I-low.I), float64(high.J-low.J)
	step := math.Sqrt(width * height / float64(n))
	columns, rows := max(1, math.Round(width/step)), max(1, math.Round(height/step))
	for j := 0.5; j < rows; j++ {
		for i := 0.5; i < columns; i++ {
			lat, lon := d.Location(planar.Cell{
				I: low.I + int64(i/columns*width),
				J: low.J + int64(j/rows*height),
			})
			if !d.Outside(lat, lon) {
				grid = append(grid, Place{lat, lon})
			}
		}
	}
	return grid
}
