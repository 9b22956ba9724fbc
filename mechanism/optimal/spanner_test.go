package optimal

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSpanner compares the dilation with shortest paths found by the algorithm of
// Floyd and Warshall, and demands few edges of a great dilation.
func TestSpanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		xs := rapid.SliceOfNDistinct(rapid.IntRange(0, 399), n, n, rapid.ID[int]).Draw(t, "places")
		d := NewMatrix(n, n)
		for i, row := range d {
			for j := range row {
				row[j] = math.Hypot(float64(xs[i]%20-xs[j]%20), float64(xs[i]/20-xs[j]/20))
			}
		}
		delta := rapid.SampledFrom([]float64{1, 1.05, 1.3, 2, 10}).Draw(t, "delta")
		edges, dilation := Spanner(d, delta)
		if got := dilationOf(d, edges); math.Abs(got-dilation) > 1e-12*got {
			t.Errorf("dilation %g, want %g", dilation, got)
		}
		if dilation > delta*(1+1e-9) {
			t.Errorf("dilation %g, asked for %g", dilation, delta)
		}
		if delta == 10 && len(edges) > 2*n {
			t.Errorf("%d edges for %d places at dilation %g", len(edges), n, delta)
		}
	})
}

func dilationOf(d Matrix, edges []Edge) float64 {
	n := len(d)
	path := NewMatrix(n, n)
	for _, row := range path {
		for j := range row {
			row[j] = math.Inf(1)
		}
	}
	for _, e := range edges {
		path[e.A][e.B], path[e.B][e.A] = e.Length, e.Length
	}
	for k := range n {
		for i := range n {
			for j := range n {
				path[i][j] = min(path[i][j], path[i][k]+path[k][j])
			}
		}
	}
	most := 1.0
	for i := range n {
		for j := range i {
			most = max(most, path[i][j]/d[i][j])
		}
	}
	return most
}

// TestFullGrids counts the pairs of a grid that see each other past no third place: a
// spanner of dilation 1 leaves out all others (R27, R28; with collinear pairs left out the
// thesis counts constraints as well, R33).
func TestFullGrids(t *testing.T) {
	for _, c := range []struct{ width, edges int }{{3, 28}, {5, 200}, {7, 748}} {
		d := NewMatrix(c.width*c.width, c.width*c.width)
		for x, row := range d {
			for z := range row {
				row[z] = math.Hypot(float64(x%c.width-z%c.width), float64(x/c.width-z/c.width))
			}
		}
		edges, dilation := Spanner(d, 1)
		if len(edges) != c.edges || dilation > 1+1e-12 {
			t.Errorf("%dx%d: %d edges, dilation %g, want %d edges", c.width, c.width, len(edges), dilation, c.edges)
		}
	}
}

// TestHugeDilations has the product of dilation and distance overflow: a tree is left.
func TestHugeDilations(t *testing.T) {
	d := NewMatrix(6, 6)
	for x, row := range d {
		for z := range row {
			row[z] = 100 * math.Abs(float64(x*x-z*z))
		}
	}
	for _, delta := range []float64{1e307, math.MaxFloat64} {
		edges, dilation := Spanner(d, delta)
		if len(edges) != 5 || dilation != 1 {
			t.Errorf("dilation %g: %d edges, actual dilation %g", delta, len(edges), dilation)
		}
	}
}
