// Package interval finds, among the rows that a statement shows, the answers that it released, and says how far from the truth
// they may be. Tables of the command and the web console use it. It knows numbers only.
package interval

import (
	"math"

	"github.com/geosql/geosql/internal/decimal"
)

// An Interval says how far from the truth an answer may be.
type Interval struct {
	Times  int     // that the statement has released the number; 0 for other numbers
	Radius float64 // from the truth with probability 0.95; NaN where that is not known
	Ranks  bool    // the radius is a number of readings
}

// String returns the interval as it is shown behind a number, empty if it is not known.
func (i Interval) String() string {
	switch {
	case i.Times == 0 || math.IsNaN(i.Radius):
		return ""
	case i.Ranks:
		return "± " + decimal.Format(i.Radius) + " ranks"
	}
	return "± " + decimal.Format(i.Radius)
}

// Plus returns the interval of a number that two have released: the larger one, and none if one of them is not known or is in
// another unit.
func (i Interval) Plus(j Interval) Interval {
	switch {
	case i.Times == 0:
		return j
	case j.Times == 0:
		return i
	case i.Ranks != j.Ranks:
		i.Radius = math.NaN()
	}
	return Interval{i.Times + j.Times, max(i.Radius, j.Radius), i.Ranks}
}

// Of tells the intervals of numbers.
type Of func(number float64) Interval

// A Finder finds answers by their numbers. A number may be another by chance: the hour 12 beside a count of 12. So a column
// has answers only if all of its numbers were released, and a number is an answer only if such columns do not show it more often
// than it was released.
type Finder struct {
	of      Of
	columns []column
}

// column holds what was seen in a column.
type column struct {
	other bool // something that is no answer
	shown map[float64]int
}

// NewFinder returns a finder for rows of so many columns.
func NewFinder(of Of, columns int) *Finder { return &Finder{of, make([]column, columns)} }

// See is told of a number in a column. The finder sees all rows, or the first of them, before it is asked.
func (f *Finder) See(i int, number float64) {
	c := &f.columns[i]
	if c.shown == nil {
		c.shown = map[float64]int{}
	}
	c.shown[number]++
	c.other = c.other || f.of(number).Times == 0
}

// SeeOther is told of a text or a blob in a column.
func (f *Finder) SeeOther(i int) { f.columns[i].other = true }

// Interval returns the interval of a number in a column, of no times if it is no answer.
func (f *Finder) Interval(i int, number float64) Interval {
	if f.columns[i].other {
		return Interval{}
	}
	shown := 0
	for _, c := range f.columns {
		if !c.other {
			shown += c.shown[number]
		}
	}
	within := f.of(number)
	if shown > within.Times {
		return Interval{}
	}
	return within
}
