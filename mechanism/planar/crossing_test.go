package planar

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/trials"
)

// someCrossing is selfCrossing by all pairs.
func someCrossing(edges []edge) bool {
	for k, e := range edges {
		if slices.ContainsFunc(edges[:k], e.crosses) {
			return true
		}
	}
	return false
}

// randomEdge draws an edge between points of a grid of so many latitudes and longitudes.
func randomEdge(r *rand.Rand, size int64) edge {
	for {
		a, b := vertex{r.Int64N(size), r.Int64N(size)}, vertex{r.Int64N(size), r.Int64N(size)}
		if a != b {
			return newEdge(a, b)
		}
	}
}

// randomRing draws a closed line, which mostly crosses itself.
func randomRing(r *rand.Rand, n int, size int64) []edge {
	var edges []edge
	first := randomEdge(r, size)
	at := first.b
	edges = append(edges, first)
	for len(edges) < n {
		if next := randomEdge(r, size).a; next != at {
			edges = append(edges, newEdge(at, next))
			at = next
		}
	}
	if at != first.a {
		edges = append(edges, newEdge(at, first.a))
	}
	return edges
}

// apart draws n edges on a small grid and leaves out edges that cross an earlier one; many
// touch.
func apart(r *rand.Rand, n int, size int64) []edge {
	var edges []edge
	for range n {
		if e := randomEdge(r, size); !slices.ContainsFunc(edges, e.crosses) {
			edges = append(edges, e)
		}
	}
	return edges
}

// The sweep finds a crossing where one of all pairs of edges crosses, and only there. On
// small grids edges run along parallels and meridians, touch, overlap and repeat.
func TestSweepAgainstAllPairs(t *testing.T) {
	r, cases := trials.Rand(t), trials.Fewer(50_000, 200_000)
	crossings := 0
	for k := range cases {
		var edges []edge
		size := 2 + r.Int64N(8)
		switch k % 3 {
		case 0:
			edges = randomRing(r, 2+r.IntN(8), size)
		case 1: // none crosses
			edges = apart(r, 2+r.IntN(40), size)
		default: // the last may
			edges = append(apart(r, 2+r.IntN(40), size), randomEdge(r, size))
			r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
		}
		_, crossed, err := selfCrossing(t.Context(), edges)
		if want := someCrossing(edges); err != nil || crossed != want {
			t.Fatalf("%v: crossing %v, error %v, want %v", edges, crossed, err, want)
		}
		if crossed {
			crossings++
		}
	}
	if crossings < cases/4 || crossings > cases*3/4 {
		t.Errorf("%d of %d cross: the cases are one-sided", crossings, cases)
	}
}

// Edges that do not cross lie in one order from west to east, wherever they are asked for
// it: that of their places on a parallel between the latitudes of the grid.
func TestEdgesAreOrdered(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		edges := apart(r, 2, 1+r.Int64N(8)+1)
		if len(edges) < 2 {
			continue
		}
		e, o := edges[0], edges[1]
		south, north := max(e.a.y, o.a.y), min(e.b.y, o.b.y)
		if south >= north {
			continue
		}
		// Twice the latitude of the middle; places are compared as fractions.
		at := func(e edge) (numerator, denominator int64) {
			return 2*e.a.x*(e.b.y-e.a.y) + (e.b.x-e.a.x)*(south+north-2*e.a.y), e.b.y - e.a.y
		}
		en, ed := at(e)
		on, od := at(o)
		want := 1
		if en*od < on*ed {
			want = -1
		}
		if got := e.compare(o); got != want || o.compare(e) != -want {
			t.Fatalf("%v and %v: %d, back %d, want %d", e, o, got, o.compare(e), want)
		}
	}
}
