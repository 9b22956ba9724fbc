package optimal

import (
	"cmp"
	"math"
	"slices"
)

// An Edge joins two places A < B at distance Length.
type Edge struct {
	A, B   int
	Length float64
}

// detourTolerance is how much a detour may exceed the dilation, relatively: sums
// along collinear places are rounded.
const detourTolerance = 1e-12

// Spanner returns a sparse graph in which the shortest path between two places is at most
// delta >= 1 times their distance, by the greedy algorithm 1 of the thesis. It also returns
// the graph's actual dilation (definition 6.3), which is at least 1 and mostly below delta.
//
// Instead of a search for each pair, it keeps all path lengths, and updates them when it
// adds an edge.
func Spanner(d Matrix, delta float64) (edges []Edge, dilation float64) {
	n := len(d)
	pairs := make([]Edge, 0, n*(n-1)/2)
	for a := range n {
		for b := a + 1; b < n; b++ {
			pairs = append(pairs, Edge{a, b, d[a][b]})
		}
	}
	slices.SortStableFunc(pairs, func(e, f Edge) int { return cmp.Compare(e.Length, f.Length) })

	path := NewMatrix(n, n)
	for a := range n {
		for b := range n {
			if a != b {
				path[a][b] = math.Inf(1)
			}
		}
	}
	for _, e := range pairs {
		// A delta*Length beyond the greatest float64 allows any detour, but not none.
		if now := path[e.A][e.B]; now > delta*e.Length*(1+detourTolerance) || math.IsInf(now, 1) {
			edges = append(edges, e)
			updatePaths(path, e)
		}
	}
	dilation = 1
	for _, e := range pairs {
		dilation = max(dilation, path[e.A][e.B]/e.Length)
	}
	return edges, dilation
}

// updatePaths updates the shortest paths for a new edge.
func updatePaths(path Matrix, e Edge) {
	for x := range path {
		toA, toB := path[x][e.A], path[x][e.B]
		through := min(toA+e.Length, toB) // from x to b
		back := min(toB+e.Length, toA)    // from x to a
		if through == toB && back == toA {
			continue
		}
		for y := range path {
			path[x][y] = min(path[x][y], through+path[e.B][y], back+path[e.A][y])
		}
	}
}
