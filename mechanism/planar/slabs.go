package planar

import (
	"context"
	"slices"
	"sort"
)

// slabs locate points with respect to a ring of n edges in O(log^2 n), with O(n log n)
// memory. The latitudes of the vertices cut the plane into slabs, over which there is a
// binary tree. An edge is listed at the topmost nodes with slabs that it spans completely. Edges
// at a node do not cross within its slabs, so they are ordered from west to east, and
// the edges to the east of a point are at the ends of the lists on the way from its slab
// to the root.
type slabs struct {
	edges    []edge
	bounds   []int64   // southern bounds of the slabs; the last slab has no northern one
	leaves   int       // number of slabs, rounded up to a power of two
	spanning [][]int32 // edges by node; leaves+k is slab k, node n has the children 2n, 2n+1
	vertices []vertex  // sorted
	level    []edge    // edges along parallels, sorted
}

// newSlabs returns the slabs of the edges of a ring that does not cross itself. Its error
// is that of the context.
func newSlabs(ctx context.Context, edges []edge) (*slabs, error) {
	s := &slabs{edges: edges, leaves: 1}
	for _, e := range edges {
		s.vertices = append(s.vertices, e.a, e.b)
		s.bounds = append(s.bounds, e.a.y, e.b.y)
		if e.a.y == e.b.y {
			s.level = append(s.level, e)
		}
	}
	slices.SortFunc(s.vertices, vertex.compare)
	s.vertices = slices.Compact(s.vertices)
	slices.SortFunc(s.level, func(e, o edge) int { return e.a.compare(o.a) })
	slices.Sort(s.bounds)
	s.bounds = slices.Compact(s.bounds)
	for s.leaves < len(s.bounds) {
		s.leaves *= 2
	}
	s.spanning = make([][]int32, 2*s.leaves)
	for k, e := range edges {
		if k%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.list(int32(k), s.leaves+s.slab(e.a.y), s.leaves+s.slab(e.b.y))
	}
	for n, list := range s.spanning {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		slices.SortFunc(list, func(a, b int32) int { return edges[a].compare(edges[b]) })
	}
	return s, nil
}

// slab returns the index of the slab whose half-open range of latitudes holds y.
func (s *slabs) slab(y int64) int {
	return sort.Search(len(s.bounds), func(k int) bool { return s.bounds[k] > y }) - 1
}

// list adds an edge that spans the leaves from, .., to-1 to the lists of the topmost nodes
// that make up this range.
func (s *slabs) list(edge int32, from, to int) {
	for ; from < to; from, to = from/2, to/2 {
		if from%2 == 1 {
			s.spanning[from] = append(s.spanning[from], edge)
			from++
		}
		if to%2 == 1 {
			to--
			s.spanning[to] = append(s.spanning[to], edge)
		}
	}
}

// locate returns the result of the function of that name for all edges. The latitude of p must
// be in the ring's range.
func (s *slabs) locate(p vertex) position {
	if s.onLevel(p) {
		return onEdge
	}
	if _, found := slices.BinarySearchFunc(s.vertices, p, vertex.compare); found {
		return onEdge
	}
	at := outside
	for n := s.leaves + s.slab(p.y); n > 0; n /= 2 {
		list := s.spanning[n]
		k := sort.Search(len(list), func(k int) bool { return s.edges[list[k]].side(p) <= 0 })
		if k < len(list) && s.edges[list[k]].side(p) == 0 {
			return onEdge
		}
		if (len(list)-k)%2 == 1 {
			at = inside - at
		}
	}
	return at
}

// onLevel reports whether p lies on an edge along a parallel: on the last one that
// starts no later than it, since they do not overlap.
func (s *slabs) onLevel(p vertex) bool {
	k := sort.Search(len(s.level), func(k int) bool { return s.level[k].a.compare(p) > 0 })
	return k > 0 && s.level[k-1].holds(p)
}
