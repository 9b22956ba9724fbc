package optimal

import (
	"fmt"
	"math"
)

// Exponential returns the exponential mechanism with the score -d: the matrix k_xz
// proportional to e^(-epsilon d(x,z)/2). It is epsilon*d-private (McSherry, Talwar,
// Mechanism Design via Differential Privacy, FOCS 2007), mostly even at a smaller epsilon.
func Exponential(epsilon float64, d Matrix) Matrix {
	k := NewMatrix(len(d), len(d))
	for x, row := range k {
		for z := range row {
			row[z] = math.Exp(-epsilon * d[x][z] / 2)
		}
		copy(row, probabilities(row))
	}
	return k
}

// Cloak returns the mechanism that reports, for every place x, the place centres[x] that
// represents x's zone: cloaking as in section 5.5 of the thesis. The secret determines its
// output, so it is private for no epsilon, unless all places share one zone.
func Cloak(centres []int) (Matrix, error) {
	k := NewMatrix(len(centres), len(centres))
	for x, z := range centres {
		if z < 0 || z >= len(centres) {
			return nil, fmt.Errorf("place %d is reported as %d, which is not in 0 to %d", x, z, len(centres)-1)
		}
		k[x][z] = 1
	}
	return k, nil
}

// tailExponent is the exponent beyond which the planar geometric law is cut off: e^-44 is
// 1e-19.
const tailExponent = 44

// PlanarGeometric returns the planar geometric mechanism on a grid of width x height places
// at the given step, numbered along the width. It adds a point (step*i, step*j) of the
// lattice, with probability proportional to e^(-epsilon*step*|(i,j)|), and moves the result
// to the nearest place of the grid. It is epsilon*d-private for
// the Euclidean d, like the planar Laplace mechanism whose discrete form it is
// (thesis, chapter 5). Epsilon*step must be at least 0.01.
//
// All numbers are sums of positive terms, so that small ones are as accurate as large ones.
func PlanarGeometric(epsilon, step float64, width, height int) (Matrix, error) {
	if n := width * height; width < 1 || height < 1 || n < MinPlaces || n > MaxPlaces {
		return nil, fmt.Errorf("%d x %d places: want %d to %d", width, height, MinPlaces, MaxPlaces)
	}
	rate := epsilon * step
	if !(rate >= 0.01 && rate <= math.MaxFloat64) {
		return nil, fmt.Errorf("epsilon times step is %g, not 0.01 or more", rate)
	}
	q := newQuadrant(rate, width, height)
	k := NewMatrix(width*height, width*height)
	for x, row := range k {
		for z := range row {
			a, b := offsets(x%width, z%width, width), offsets(x/width, z/width, height)
			row[z] = q.sum(a, b)
		}
		copy(row, probabilities(row))
	}
	return k, nil
}

// A quadrant holds sums of e^(-rate*|(i,j)|) over rows i and columns j >= 0.
type quadrant struct {
	size int
	// at[i] is for the single row i, from[i] for all rows from i on. In each, single is
	// for the single column j, beyond for all columns from j on.
	at, from []sums
}

type sums struct{ single, beyond []float64 }

func newQuadrant(rate float64, width, height int) *quadrant {
	size := max(width, height) + 1
	reach := size + int(tailExponent/rate)
	q := &quadrant{size: size, at: make([]sums, size), from: make([]sums, size)}
	column, all := make([]float64, reach), make([]float64, reach)
	for i := reach - 1; i >= 0; i-- {
		for j := range column {
			column[j] = math.Exp(-rate * math.Hypot(float64(i), float64(j)))
			all[j] += column[j]
		}
		if i < size {
			q.at[i], q.from[i] = newSums(column, size), newSums(all, size)
		}
	}
	return q
}

// newSums keeps the first size numbers of a column and of its sums from the end.
func newSums(column []float64, size int) sums {
	s := sums{single: append([]float64(nil), column[:size]...), beyond: make([]float64, size)}
	total := 0.0
	for j := len(column) - 1; j >= 0; j-- {
		total += column[j]
		if j < size {
			s.beyond[j] = total
		}
	}
	return s
}

// A class is a set of offsets along one axis: the offset first, or, if open, all offsets
// from first on. By symmetry first is not negative. If both, it includes the negative
// offsets too.
type class struct {
	first      int
	open, both bool
}

// offsets returns the offsets from a for which z is the nearest place of 0..size-1.
func offsets(a, z, size int) class {
	switch {
	case size == 1:
		return class{open: true, both: true}
	case z == 0:
		return class{first: a, open: true}
	case z == size-1:
		return class{first: z - a, open: true}
	case z < a:
		return class{first: a - z}
	default:
		return class{first: z - a}
	}
}

// sum returns the sum over two classes.
func (q *quadrant) sum(a, b class) float64 {
	if a.both {
		return q.sum(class{open: true}, b) + q.sum(class{first: 1, open: true}, b)
	}
	if b.both {
		return q.sum(a, class{open: true}) + q.sum(a, class{first: 1, open: true})
	}
	rows := q.at
	if a.open {
		rows = q.from
	}
	if b.open {
		return rows[a.first].beyond[b.first]
	}
	return rows[a.first].single[b.first]
}
