package optimal

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// scatteredPlaces returns a problem on n random places of a square, the same each time.
func scatteredPlaces(n int, seed int64) Problem {
	r := rand.New(rand.NewSource(seed))
	x, y, prior := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range prior {
		x[i], y[i], prior[i] = 5*r.Float64(), 5*r.Float64(), r.Float64()
	}
	d := NewMatrix(n, n)
	for i, row := range d {
		for j := range row {
			row[j] = math.Hypot(x[i]-x[j], y[i]-y[j])
		}
	}
	return Problem{Prior: prior, Quality: d, Privacy: d, Epsilon: 1}
}

// solveIn solves a problem under the constraints of edges, with the given elimination.
func solveIn(p Problem, edges []Edge, order *elimination, gap float64) (*Solution, error) {
	ctx := context.Background()
	return iterate(ctx, newSolver(ctx, p, edges, p.Epsilon, order, 2), Options{Gap: gap})
}

// TestSparseFactors solves problems in the order of few fills, and in the order of the places
// as if every pair had an edge: the factors then have all numbers.
func TestSparseFactors(t *testing.T) {
	for seed := range int64(6) {
		p := scatteredPlaces(12+4*int(seed), seed)
		edges, _ := Spanner(p.Privacy, 1.2)
		all, _ := Spanner(p.Privacy, 1)
		sparse, dense := newElimination(len(p.Prior), edges), newElimination(len(p.Prior), all)
		if sparse.packed() >= dense.packed() {
			t.Fatalf("%d numbers of a sparse factor, %d of a dense one", sparse.packed(), dense.packed())
		}
		const gap = 1e-7
		a, err := solveIn(p, edges, sparse, gap)
		if err != nil {
			t.Fatal(err)
		}
		b, err := solveIn(p, edges, dense, gap)
		if err != nil {
			t.Fatal(err)
		}
		if a.Bound > b.Loss || b.Bound > a.Loss || math.Abs(a.Loss-b.Loss) > 2*gap*a.Loss {
			t.Errorf("%d places: losses %.12g and %.12g, bounds %.12g and %.12g", len(p.Prior), a.Loss, b.Loss, a.Bound, b.Bound)
		}
	}
}

// TestWrongFactors plants factors that lack some of their numbers. The solver's claim
// is still true, if it does not stall, and the mechanism that New makes is certified.
func TestWrongFactors(t *testing.T) {
	stalled, solved := 0, 0
	for seed := range int64(40) {
		p := scatteredPlaces(10, seed)
		edges, dilation := Spanner(p.Privacy, 1.2)
		p.Epsilon /= dilation
		right, err := solveIn(p, edges, newElimination(len(p.Prior), edges), 1e-7)
		if err != nil {
			t.Fatal(err)
		}
		s, err := solveIn(p, edges, spoiled(newElimination(len(p.Prior), edges), int(seed)), 1e-3)
		if err != nil {
			if stalled++; !strings.HasPrefix(err.Error(), "solver stalled") {
				t.Fatal(err)
			}
			continue
		}
		solved++
		if s.Bound > right.Loss || s.Loss < right.Bound {
			t.Errorf("seed %d: loss %g, bound %g; the least is between %g and %g", seed, s.Loss, s.Bound, right.Bound, right.Loss)
		}
		m, err := New(p.Epsilon*dilation, p.Privacy, s.Matrix)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		} else if loss := Loss(p.Prior, m.Matrix(), p.Quality); math.Abs(loss-s.Loss) > 1e-6*loss {
			t.Errorf("seed %d: the mechanism loses %g, the solver claims %g", seed, loss, s.Loss)
		}
	}
	if stalled == 0 {
		t.Errorf("wrong factors solve %d problems of 40", solved)
	}
}

// spoiled returns e without the numbers of a row's last run, from the given row on if that has
// none.
func spoiled(e *elimination, row int) *elimination {
	for len(e.rows[row%len(e.rows)]) == 0 {
		row++
	}
	row %= len(e.rows)
	last := len(e.rows[row]) - 1
	lost := e.rows[row][last].to - e.rows[row][last].from
	e.rows[row] = slices.Clone(e.rows[row][:last])
	e.at = slices.Delete(e.at, e.size[row+1]-lost, e.size[row+1])
	for p := row + 1; p < len(e.size); p++ {
		e.size[p] -= lost
	}
	e.dense = max(e.dense, row+1)
	return e
}

// A computation that would take too much memory is refused before it begins.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		places, edges, factor int
		want                  string
	}{
		{540, 540 * 539 / 2, 540 * 539 / 2, ""},
		{700, 700 * 699 / 2, 700 * 699 / 2, "700 places with 244650 edges and 700 outputs take 16.7 GB of memory, more than 8"},
		{1024, 5000, 40000, ""},
		{1024, 1024 * 1023 / 2, 1024 * 1023 / 2, "a greater dilation, such as 1.1, leaves fewer edges"},
	} {
		p := Problem{Prior: make([]float64, c.places), Quality: NewMatrix(c.places, c.places)}
		err := checkMemory(p, c.edges, c.factor)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d places: error %v, want %q", c.places, err, c.want)
		}
	}
}

// A cancelled solver claims nothing.
func TestCancelledSolver(t *testing.T) {
	p := scatteredPlaces(20, 1)
	edges, _ := Spanner(p.Privacy, 1)
	ctx, cancel := context.WithCancel(context.Background())
	s := newSolver(ctx, p, edges, p.Epsilon, newElimination(20, edges), 2)
	cancel()
	solution, err := iterate(ctx, s, Options{Gap: 0.99, Progress: func(p Progress) { t.Errorf("progress %+v", p) }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("solution %v, error %v", solution, err)
	}
}
