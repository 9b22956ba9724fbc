package pim

import "github.com/geosql/geosql/budget"

// Mean returns the mean of the cells' centres under the belief after the last report, in
// degrees: the point with the least expected square of the distance from the secret, for
// an observer with the model and the reports. It is public, as is all that a Run returns.
func (r *Run) Mean() (lat, lon float64) {
	grid := r.mechanism.model.Grid()
	var x, y float64
	for cell, p := range r.belief {
		centre := grid.Centre(cell)
		x += float64(p * float64(centre.I))
		y += float64(p * float64(centre.J))
	}
	return grid.Domain().Position(x, y)
}

// Likeliest returns the most probable cell after the last report, of several the one with
// the lowest number, and its probability.
func (r *Run) Likeliest() (cell int, probability float64) {
	cell = r.mostProbable(0)[0]
	return cell, r.belief[cell]
}

// Area returns the most probable cells after the last report, in ascending order, as many as
// it takes for a probability of at least p, and one at least. It also returns their
// probability. p is at least 0 and below 1.
func (r *Run) Area(p budget.Amount) (cells []int, probability float64) {
	cells = r.mostProbable(p)
	for _, cell := range cells {
		probability += r.belief[cell]
	}
	return cells, probability
}

func (r *Run) mostProbable(p budget.Amount) []int {
	var s selection
	return s.locationSet(r.belief, budget.One-p, 1)
}

// Last returns the time of the last report, or of the public start, in microseconds. It
// reports false for a run that has neither.
func (r *Run) Last() (t int64, begun bool) { return r.last, r.begun }
