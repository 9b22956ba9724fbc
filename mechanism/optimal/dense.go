package optimal

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The matrices of this file are n x n, row by row in one slice; of symmetric and
// triangular ones only the lower half is used.

// A pivot below smallestPivot, relative to the diagonal entry that it remains of, is a
// rounding error. It is replaced by hugePivot, which leaves the solution unchanged in a
// direction about which nothing is known.
const (
	smallestPivot = 0x1p-48
	hugePivot     = 0x1p+400
)

// factor overwrites the symmetric a, which is positive definite up to rounding errors,
// with its Cholesky factor L, a = L L^T.
func factor(a []float64, n int) {
	for i := range n {
		row := a[i*n : i*n+i+1]
		for j := range i {
			other := a[j*n : j*n+j+1]
			row[j] = (row[j] - floats.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := row[i] - floats.Dot(row[:i], row[:i])
		if pivot <= row[i]*smallestPivot {
			pivot = hugePivot
		}
		row[i] = math.Sqrt(pivot)
	}
}

// solve overwrites b with the solution x of L L^T x = b.
func solve(l []float64, n int, b []float64) {
	for i := range n {
		row := l[i*n : i*n+i+1]
		b[i] = (b[i] - floats.Dot(row[:i], b[:i])) / row[i]
	}
	for i := n - 1; i >= 0; i-- {
		row := l[i*n : i*n+i+1]
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

// addInverted adds (L L^T)^-1 to the lower half of the top left of sum, with rows of the
// length width. The lower half of scratch becomes L^-1.
func addInverted(l []float64, n int, scratch, sum []float64, width int) {
	for i := range n {
		row := scratch[i*n : i*n+i+1]
		clear(row)
		row[i] = 1
		for j, t := range l[i*n : i*n+i] {
			floats.AddScaled(row[:j+1], -t, scratch[j*n:j*n+j+1])
		}
		floats.Scale(1/l[i*n+i], row)
		for j, t := range row {
			floats.AddScaled(sum[j*width:j*width+j+1], t, row[:j+1])
		}
	}
}
