package planar

import (
	"math/rand/v2"
	"testing"
)

// Slabs answer as asking every edge does, on and between the points of small grids.
func TestSlabsAgainstAllEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	var seen [inside + 1]int
	for range 20_000 {
		size := 2 + r.Int64N(8)
		edges := apart(r, 1+r.IntN(60), size)
		for k, e := range edges { // odd coordinates are between those of vertices
			edges[k] = edge{vertex{2 * e.a.x, 2 * e.a.y}, vertex{2 * e.b.x, 2 * e.b.y}}
		}
		s, err := newSlabs(t.Context(), edges)
		if err != nil {
			t.Fatal(err)
		}
		south, north := s.bounds[0], s.bounds[len(s.bounds)-1]
		for y := south; y <= north; y++ {
			for x := int64(-1); x < 2*size; x++ {
				p := vertex{x, y}
				want := locate(edges, p)
				if got := s.locate(p); got != want {
					t.Fatalf("%v of %v: %v, want %v", p, edges, got, want)
				}
				seen[want]++
			}
		}
	}
	for at, n := range seen {
		if n < 100_000 {
			t.Errorf("position %d was asked for %d times", at, n)
		}
	}
}

// A comb with teeth as tall as itself takes memory for each edge a number of times
// that grows like the logarithm.
func TestSlabsOfAComb(t *testing.T) {
	for _, teeth := range []int64{1 << 8, 1 << 12} {
		var edges []edge
		for k := range teeth {
			foot, tip := vertex{4 * k, k % 7 * k}, vertex{4*k + 1, 1e8 - k*k%5003}
			edges = append(edges, newEdge(foot, tip), newEdge(tip, vertex{4*k + 4, (k + 1) % 7 * (k + 1)}))
		}
		s, err := newSlabs(t.Context(), edges)
		if err != nil {
			t.Fatal(err)
		}
		listed, levels := 0, 0
		for _, list := range s.spanning {
			listed += len(list)
		}
		for n := s.leaves; n > 0; n /= 2 {
			levels++
		}
		if most := 2 * levels * len(edges); listed > most {
			t.Errorf("%d edges are listed %d times, more than %d", len(edges), listed, most)
		}
	}
}
