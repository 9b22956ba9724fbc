package optimal

import (
	"fmt"
	"math"
	"slices"
)

// A Matrix is square: n rows of n numbers. As a mechanism, row x is the
// distribution of the output z for the secret x. As a distance, the entry (x,z)
// is the distance from x to z.
type Matrix [][]float64

// NewMatrix returns the n x n matrix of zeros, its rows adjacent in memory.
func NewMatrix(n int) Matrix {
	data := make([]float64, n*n)
	m := make(Matrix, n)
	for x := range m {
		m[x] = data[x*n : (x+1)*n : (x+1)*n]
	}
	return m
}

// clone returns a copy of m.
func (m Matrix) clone() Matrix {
	c := NewMatrix(len(m))
	for x, row := range m {
		copy(c[x], row)
	}
	return c
}

// equal reports whether two matrices have the same numbers.
func (m Matrix) equal(o Matrix) bool { return slices.EqualFunc(m, o, slices.Equal[[]float64]) }

// check returns an error unless m has n rows of n finite numbers that are not negative.
func (m Matrix) check(name string, n int) error {
	if len(m) != n {
		return fmt.Errorf("%s has %d rows, not %d", name, len(m), n)
	}
	for x, row := range m {
		if len(row) != n {
			return fmt.Errorf("%s: row %d has %d numbers, not %d", name, x, len(row), n)
		}
		for z, v := range row {
			if !(v >= 0 && v <= math.MaxFloat64) {
				return fmt.Errorf("%s from %d to %d is %g, not a finite number >= 0", name, x, z, v)
			}
		}
	}
	return nil
}

// triangleTolerance is how much shorter a detour may be than the direct distance, relative
// to that: distances computed in floating point are not an exact metric.
const triangleTolerance = 1e-9

// checkMetric returns an error unless m is a metric on n places.
func (m Matrix) checkMetric(name string, n int) error {
	if err := m.check(name, n); err != nil {
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
	return m.checkTriangles(name)
}

func (m Matrix) checkTriangles(name string) error {
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
