package optimal

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// TestFactorsOfDominantMatrices compares with the dense matrix, for graphs of all densities.
func TestFactorsOfDominantMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		number := rapid.Float64Range(0.1, 1)
		edges := randomEdges(t, n)
		e := newElimination(n, edges)
		at := e.positions()
		l, m := make([]float64, n*n), make([]float64, n*n)
		for i := range l {
			l[i] = math.NaN() // numbers that clear leaves are never read
		}
		e.clear(l)
		excess, scale, want := make([]float64, n), make([]float64, n), make([]float64, n)
		for p := range n {
			excess[p], scale[p], want[p] = number.Draw(t, "excess"), number.Draw(t, "scale"), number.Draw(t, "x")
			m[p*n+p] += excess[p]
		}
		for _, edge := range edges {
			p, q := min(at[edge.A], at[edge.B]), max(at[edge.A], at[edge.B])
			w := number.Draw(t, "weight")
			l[p*n+q] = w
			m[p*n+p] += w
			m[q*n+q] += w
			m[p*n+q], m[q*n+p] = -w, -w
		}
		x := make([]float64, n)
		for p := range n {
			x[p] = floats.Dot(m[p*n:(p+1)*n], want)
		}
		dense := slices.Clone(m)
		factor(dense, n)
		y := slices.Clone(x)
		solve(dense, n, y)

		f := make([]float64, e.packed())
		e.factor(l, excess, f)
		e.solve(f, excess, x)
		inverted := make([]float64, n*n)
		addInverted(dense, n, make([]float64, n*n), inverted, n)
		sum := make([]float64, n*n)
		for i := range sum {
			sum[i] = 1
		}
		e.addInverse(f, excess, scale, l, sum)
		for p := range n {
			if math.Abs(x[p]-want[p]) > 1e-10 || math.Abs(y[p]-want[p]) > 1e-10 {
				t.Fatalf("solution %g and %g, want %g", x, y, want)
			}
			for q := range n {
				i, j := min(p, q), max(p, q)
				if got, want := sum[i*n+j], 1+scale[p]*scale[q]*inverted[j*n+i]; math.Abs(got-want) > 1e-10 {
					t.Fatalf("entry (%d,%d) of the sum is %g, want %g", p, q, got, want)
				}
				unit := 0.0
				if p == q {
					unit = 1
				}
				if got := floats.Dot(m[p*n:(p+1)*n], l[q*n:(q+1)*n]); math.Abs(got-unit) > 1e-10 {
					t.Fatalf("entry (%d,%d) of M M^-1 is %g", p, q, got)
				}
			}
		}
	})
}

// randomEdges draws a graph, with anything from no edge to all.
func randomEdges(t *rapid.T, n int) (edges []Edge) {
	density := rapid.SampledFrom([]int{0, 1, 4, 10}).Draw(t, "density")
	for a := range n {
		for b := a + 1; b < n; b++ {
			if rapid.IntRange(0, 9).Draw(t, "edge") < density {
				edges = append(edges, Edge{A: a, B: b, Length: 1})
			}
		}
	}
	return edges
}

// TestElimination fills edges by the definition: an edge of two places at each place that
// is eliminated before them with edges to both.
func TestElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		edges := randomEdges(t, n)
		e := newElimination(n, edges)
		at := e.positions()
		filled := make([]map[int]bool, n)
		for p := range filled {
			filled[p] = make(map[int]bool)
		}
		for _, edge := range edges {
			filled[min(at[edge.A], at[edge.B])][max(at[edge.A], at[edge.B])] = true
		}
		for p, runs := range e.rows {
			size := 0
			for i, r := range runs {
				if r.from <= p || r.to <= r.from || r.to > n || i > 0 && r.from <= runs[i-1].to {
					t.Fatalf("row %d of %d has the runs %v", p, n, runs)
				}
				for q := r.from; q < r.to; q++ {
					if size++; !filled[p][q] {
						t.Fatalf("row %d has a number at %d for nothing", p, q)
					}
					for other := range filled[p] {
						if other > q {
							filled[q][other] = true
						}
					}
				}
			}
			if size != len(filled[p]) || size != e.size[p+1]-e.size[p] {
				t.Fatalf("row %d has %d numbers, want %d", p, size, len(filled[p]))
			}
		}
	})
}

// A path, a star and a cycle fill next to nothing; a complete graph keeps its order.
func TestEliminationFillsLittle(t *testing.T) {
	const n = 100
	var path, star, complete []Edge
	for x := 1; x < n; x++ {
		path = append(path, Edge{A: x - 1, B: x})
		star = append(star, Edge{A: 0, B: x})
		for y := range x {
			complete = append(complete, Edge{A: y, B: x})
		}
	}
	for _, c := range []struct {
		name   string
		edges  []Edge
		packed int
	}{
		{"no edges", nil, 0},
		{"path", path, n - 1},
		{"star", star, n - 1},
		{"cycle", append(slices.Clone(path), Edge{A: 0, B: n - 1}), n - 1 + n - 3 + 1},
		{"complete", complete, n * (n - 1) / 2},
	} {
		if e := newElimination(n, c.edges); e.packed() != c.packed || len(e.order) != n {
			t.Errorf("%s: %d numbers for %d places, want %d", c.name, e.packed(), len(e.order), c.packed)
		}
	}
	if e := newElimination(n, complete); !slices.IsSorted(e.order) {
		t.Errorf("order %d", e.order)
	}
}

// TestSmallExcess has a matrix with a smallest eigenvalue of 2^-70 times the greatest:
// on the diagonal it would be lost.
func TestSmallExcess(t *testing.T) {
	const tiny = 0x1p-70
	e := newElimination(3, []Edge{{A: 0, B: 1}, {A: 0, B: 2}, {A: 1, B: 2}})
	l, excess, f := []float64{0, 1, 1, 0, 0, 1, 0, 0, 0}, []float64{tiny, tiny, tiny}, make([]float64, 3)
	e.factor(l, excess, f)
	x := []float64{1, 1, 1}
	e.solve(f, excess, x)
	for _, v := range x {
		if math.Abs(v*tiny-1) > 1e-14 {
			t.Errorf("solution %g, want %g", v, 1/tiny)
		}
	}
}
