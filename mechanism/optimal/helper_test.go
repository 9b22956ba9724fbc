package optimal_test

import (
	"context"
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/optimal"
)

// grid returns the Euclidean distances of w x w places at step 1, row-major.
func grid(w int) optimal.Matrix {
	return distances(w*w, func(i int) (x, y float64) { return float64(i % w), float64(i / w) })
}

// line returns the distances of n places at the given step on a line.
func line(n int, step float64) optimal.Matrix {
	return distances(n, func(i int) (x, y float64) { return step * float64(i), 0 })
}

func distances(n int, at func(int) (x, y float64)) optimal.Matrix {
	d := optimal.NewMatrix(n, n)
	for i, row := range d {
		x, y := at(i)
		for j := range row {
			u, v := at(j)
			row[j] = math.Hypot(x-u, y-v)
		}
	}
	return d
}

func uniform(n int) []float64 {
	prior := make([]float64, n)
	for x := range prior {
		prior[x] = 1
	}
	return prior
}

// ramp is the prior of R30, pi_i proportional to i+1.
func ramp(n int) []float64 {
	prior := make([]float64, n)
	for x := range prior {
		prior[x] = float64(x + 1)
	}
	return prior
}

// sparse is a prior with a weight of 0 for two of three places.
func sparse(n int) []float64 {
	prior := make([]float64, n)
	for x := 1; x < n; x += 3 {
		prior[x] = float64(x)
	}
	return prior
}

// manhattan returns the Manhattan distances of w x w places at step 1.
func manhattan(w int) optimal.Matrix {
	d := optimal.NewMatrix(w*w, w*w)
	for i, row := range d {
		for j := range row {
			row[j] = math.Abs(float64(i%w-j%w)) + math.Abs(float64(i/w-j/w))
		}
	}
	return d
}

// inner returns the rows of the inner 3 x 3 of 5 x 5 places.
func inner(d optimal.Matrix) optimal.Matrix {
	var rows optimal.Matrix
	for _, x := range []int{6, 7, 8, 11, 12, 13, 16, 17, 18} {
		rows = append(rows, d[x])
	}
	return rows
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func solved(t *testing.T, p optimal.Problem, o optimal.Options) *optimal.Solution {
	t.Helper()
	s, err := optimal.Solve(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// near reports whether two numbers agree to a relative tolerance.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}
