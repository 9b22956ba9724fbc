package optimal

import (
	"math"
	"slices"

	"github.com/geosql/geosql/mechanism/optimal"
)

// A grid is a rectangle of places at equal steps to the east and to the north.
type grid struct {
	width, height int
	step          float64
	at            []int // for each place, its number along the width
}

// gridOf returns the grid that the places form, in any order. It reports false if they form
// none.
func gridOf(places []Place) (g grid, ok bool) {
	var xs, ys []float64
	for _, p := range places {
		xs, ys = append(xs, p.X), append(ys, p.Y)
	}
	columns, stepX, okX := equidistant(xs)
	rows, stepY, okY := equidistant(ys)
	g = grid{width: len(columns), height: len(rows), step: max(stepX, stepY)}
	if !okX || !okY || g.width*g.height != len(places) {
		return g, false
	}
	if stepX > 0 && stepY > 0 && !nearlyEqual(stepX, stepY) {
		return g, false
	}
	for _, p := range places { // no two are the same
		g.at = append(g.at, slices.Index(rows, p.Y)*g.width+slices.Index(columns, p.X))
	}
	return g, true
}

// equidistant returns the different values in ascending order and their step, and reports
// whether the steps are equal. The step of a single value is 0.
func equidistant(values []float64) (different []float64, step float64, ok bool) {
	slices.Sort(values)
	different = slices.Compact(values)
	if len(different) == 1 {
		return different, 0, true
	}
	step = (different[len(different)-1] - different[0]) / float64(len(different)-1)
	for k, x := range different[1:] {
		if !nearlyEqual(x-different[k], step) {
			return different, step, false
		}
	}
	return different, step, true
}

// nearlyEqual reports whether two steps of rounded coordinates are equal.
func nearlyEqual(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }

// planarGeometric returns the planar geometric mechanism of the grid's places.
func (g grid) planarGeometric(epsilon float64) (optimal.Matrix, error) {
	onGrid, err := optimal.PlanarGeometric(epsilon, g.step, g.width, g.height)
	if err != nil {
		return nil, err
	}
	k := optimal.NewMatrix(len(g.at), len(g.at))
	for x, row := range k {
		for z := range row {
			row[z] = onGrid[g.at[x]][g.at[z]]
		}
	}
	return k, nil
}
