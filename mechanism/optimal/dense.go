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

// addInverted adds (L L^T)^-1 to the lower half of the top left of sum, whose rows have the
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

// factorDominant overwrites the weights of a dominant matrix M with F and its excess with
// D, where M = (I-F)^T D (I-F). A dominant matrix is the Laplacian of a weighted graph plus
// a diagonal, given by its parts:
//
//	b^T M b = sum over edges of l_pq (b_p - b_q)^2 + sum of excess_p b_p^2
//
// with weights l >= 0 in the strict upper half. The factors are computed without ever
// forming the diagonal of M, which would swallow the excess. No weight is the result of a
// subtraction, so all of them keep their relative accuracy (after Grassmann, Taksar and
// Heyman, Regenerative Analysis and Steady State Distributions for Markov Chains, 1985;
// for factorisations Alfa, Xue and Ye, Accurate Computation of the Smallest Eigenvalue of
// a Diagonally Dominant M-Matrix, 2001). Cancellation is left to the excesses, which may be
// negative.
func factorDominant(l []float64, n int, excess []float64) {
	for p := range n {
		row := l[p*n+p+1 : (p+1)*n]
		weight := 0.0
		for _, w := range row {
			weight += w
		}
		d := excess[p]
		pivot := max(weight+d, 0x1p-53*(weight+math.Abs(d)), math.SmallestNonzeroFloat64)
		for i, w := range row {
			q := p + 1 + i
			f := w / pivot
			floats.AddScaled(l[q*n+q+1:(q+1)*n], f, row[i+1:])
			excess[q] += f * d
		}
		for i := range row {
			row[i] /= pivot
		}
		excess[p] = pivot
	}
}

// solveDominant overwrites b with the solution x of M x = b.
func solveDominant(f []float64, n int, d, b []float64) {
	for p := range n {
		floats.AddScaled(b[p+1:], b[p], f[p*n+p+1:(p+1)*n])
		b[p] /= d[p]
	}
	for p := n - 1; p >= 0; p-- {
		b[p] += floats.Dot(f[p*n+p+1:(p+1)*n], b[p+1:])
	}
}

// addInverse adds K M^-1 K to the lower half of sum, for the diagonal matrix K of the
// scales. Row p of scratch becomes that of (I-F)^-1; over is a scratch vector.
func addInverse(f []float64, n int, d, scale, scratch, over, sum []float64) {
	for p := n - 1; p >= 0; p-- {
		out := scratch[p*n+p : (p+1)*n]
		clear(out)
		out[0] = 1
		for i, v := range f[p*n+p+1 : (p+1)*n] {
			q := p + 1 + i
			floats.AddScaled(out[q-p:], v, scratch[q*n+q:(q+1)*n])
		}
	}
	// The entry (j,i), j >= i, is the sum over r >= j of the products of rows i and j at
	// r, divided by d_r.
	for j := range n {
		row, over := scratch[j*n+j:(j+1)*n], over[j:n]
		for r, v := range row {
			over[r] = v / d[j+r]
		}
		for i := range j + 1 {
			sum[j*n+i] += scale[i] * scale[j] * floats.Dot(scratch[i*n+j:(i+1)*n], over)
		}
	}
}
