package optimal

import (
	"fmt"
	"math"
	"slices"
)

// A Matrix has rows of equal length. As a mechanism, row x is the distribution of the
// output z for the secret x. As a distance, the entry (x,z) is the distance from x to z.
type Matrix [][]float64

// NewMatrix returns a matrix of zeros, its rows adjacent in memory.
func NewMatrix(rows, columns int) Matrix {
	data := make([]float64, rows*columns)
	m := make(Matrix, rows)
	for x := range m {
		m[x] = data[x*columns : (x+1)*columns : (x+1)*columns]
	}
	return m
}

// columns returns the length of the rows, 0 if there are none.
func (m Matrix) columns() int {
	if len(m) == 0 {
		return 0
	}
	return len(m[0])
}

// clone returns a copy of m.
func (m Matrix) clone() Matrix {
	c := NewMatrix(len(m), m.columns())
	for x, row := range m {
		copy(c[x], row)
	}
	return c
}

// equal reports whether two matrices have the same numbers.
func (m Matrix) equal(o Matrix) bool { return slices.EqualFunc(m, o, slices.Equal[[]float64]) }

// check returns an error unless m has the given shape and its numbers are finite and not
// negative.
func (m Matrix) check(name string, rows, columns int) error {
	if err := m.checkShape(name, rows, columns); err != nil {
		return err
	}
	for x, row := range m {
		for z, v := range row {
			if !(v >= 0 && v <= math.MaxFloat64) {
				return fmt.Errorf("%s from %d to %d is %g, not a finite number >= 0", name, x, z, v)
			}
		}
	}
	return nil
}

// checkShape returns an error unless m has the given shape.
func (m Matrix) checkShape(name string, rows, columns int) error {
	if len(m) != rows {
		return fmt.Errorf("%s has %d rows, not %d", name, len(m), rows)
	}
	for x, row := range m {
		if len(row) != columns {
			return fmt.Errorf("%s: row %d has %d numbers, not %d", name, x, len(row), columns)
		}
	}
	return nil
}

// within reports whether all numbers are in 0 to most.
func (m Matrix) within(most float64) bool {
	for _, row := range m {
		for _, v := range row {
			if !(v >= 0 && v <= most) {
				return false
			}
		}
	}
	return true
}

// triangleTolerance is how much shorter a detour may be than the direct distance, relative
// to that: distances computed in floating point are not an exact metric.
const triangleTolerance = 1e-9

// checkMetric returns an error unless m is a metric on n places.
func (m Matrix) checkMetric(name string, n int) error {
	if err := m.check(name, n, n); err != nil {
		return err
	}
	for x, row := range m {
		for z, d := range row {
			switch {
			case x == z && d != 0:
				return fmt.Errorf("%s from place %d to itself is %g, not 0", name, x, d)
			case x < z && d != m[z][x]:
				return fmt.Errorf("%s is not symmetric: %g from place %d to %d, %g back", name, d, x, z, m[z][x])
			case x < z && d == 0:
				return fmt.Errorf("places %d and %d are the same: %s 0", x, z, name)
			}
		}
	}
	if x, y, z, found := m.detour(); found {
		return fmt.Errorf("%s violates the triangle inequality: %g from place %d to %d, %g by way of %d",
			name, m[x][z], x, z, m[x][y]+m[y][z], y)
	}
	return nil
}

// detour returns places x and z, and a place via which the way between them is shorter
// than their distance by more than one part in 10^9. It reports false if there are none:
// then the distances satisfy the triangle inequality.
func (m Matrix) detour() (x, via, z int, found bool) {
	for x, row := range m {
		for y, first := range row {
			for z, second := range m[y] {
				if row[z] > (first+second)*(1+triangleTolerance) {
					return x, y, z, true
				}
			}
		}
	}
	return 0, 0, 0, false
}
