package pim

// A vector is a difference of two points of a lattice. Coordinates of cells and hulls are
// at most 2^20 either way, those of reports 2^41: neither a product of the two nor a
// difference of two such products overflows.
type vector struct{ x, y int64 }

func (a vector) add(b vector) vector { return vector{a.x + b.x, a.y + b.y} }

func (a vector) sub(b vector) vector { return vector{a.x - b.x, a.y - b.y} }

func (a vector) negative() vector { return vector{-a.x, -a.y} }

func cross(a, b vector) int64 { return a.x*b.y - a.y*b.x }

func dot(a, b vector) int64 { return a.x*b.x + a.y*b.y }

// hullChains appends the two chains of the convex hull of at least two points, which are
// in ascending order of y, then x: from the first point counter-clockwise to the last
// one, and from there back to the first. No three vertices are on a line. (Andrew's
// algorithm: linear, since a point is dropped at most once.)
func hullChains(right, left, points []vector) (r, l []vector) {
	for _, p := range points {
		right = appendConvex(right, p)
	}
	for k := len(points) - 1; k >= 0; k-- {
		left = appendConvex(left, points[k])
	}
	return right, left
}

// appendConvex appends a point to a chain that turns left.
func appendConvex(chain []vector, p vector) []vector {
	for n := len(chain); n >= 2 && cross(chain[n-1].sub(chain[n-2]), p.sub(chain[n-1])) <= 0; n-- {
		chain = chain[:n-1]
	}
	return append(chain, p)
}

// halfHull appends the vertices of half the sensitivity hull (definition 4.1) of the set
// with the given chains: those from the lowest one counter-clockwise. Their negatives are
// the other half (theorem 4.1).
//
// The hull of all differences is the Minkowski sum of the convex hull H and -H, and its
// boundary consists of the edges of both in the order of their directions. The edges of H
// have directions in [0, pi) on the right chain, and in [pi, 2 pi) on the left one; in -H
// they are reversed. So the half hull, from the lowest vertex of H minus the highest to
// the negative of that, merges the right chain with the reflected left one, in linear
// time. The paper (section 5.2) computes the hull of all h^2 differences.
func halfHull(dst, right, left []vector) []vector {
	at := right[0].sub(left[0])
	for i, j := 0, 0; i < len(right)-1 || j < len(left)-1; {
		dst = append(dst, at)
		a, b := edge(right, i), edge(left, j).negative()
		turn := cross(a, b) // 0 for parallel edges, which become one, and at a chain's end
		if turn >= 0 {
			at = at.add(a)
			i++
		}
		if turn <= 0 {
			at = at.add(b)
			j++
		}
	}
	return dst
}

// edge returns the k-th edge of a chain, or 0 after its end.
func edge(chain []vector, k int) vector {
	if k >= len(chain)-1 {
		return vector{}
	}
	return chain[k+1].sub(chain[k])
}
