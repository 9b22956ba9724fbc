package planar

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/btree"
)

// crosses reports whether two edges cross in a point inside both, or share more than
// one point. Edges that only touch do not cross.
func (e edge) crosses(o edge) bool {
	oa, ob := e.side(o.a), e.side(o.b)
	if oa == 0 && ob == 0 {
		return e.overlaps(o)
	}
	return oa*ob < 0 && o.side(e.a)*o.side(e.b) < 0
}

// overlaps reports whether two edges on one line cross.
func (e edge) overlaps(o edge) bool { return e.a.compare(o.b) < 0 && o.a.compare(e.b) < 0 }

// compare returns -1 if e lies to the west of o over the latitudes that they share, 1 if
// it lies to the east, and 0 only for edges that overlap. It compares at the later
// start, so for edges that cross it tells how they lie before they do. If one edge
// starts on the other, it compares at the earlier end. An edge along a parallel is taken
// to rise by next to nothing, as in vertex.compare.
func (e edge) compare(o edge) int {
	start := -e.side(o.a)
	if o.a.compare(e.a) < 0 {
		start = o.side(e.a)
	}
	if start != 0 {
		return start
	}
	if o.b.compare(e.b) < 0 {
		return -e.side(o.b)
	}
	return o.side(e.b)
}

// An event is where a sweep comes to an end of an edge.
type event struct {
	at   vertex
	what change
	edge edge
}

type change int

const (
	ends change = iota
	starts
)

// compare orders events by place. At one place, edges end before others start, so that
// edges which only touch there are never active together.
func (v event) compare(o event) int {
	return cmp.Or(v.at.compare(o.at), cmp.Compare(v.what, o.what))
}

// selfCrossing returns an end of an edge that crosses another, if there is one. Its
// error is that of the context.
//
// It sweeps over the edges in the order of vertex.compare, keeps the active ones ordered
// from west to east, and compares only neighbours (Shamos and Hoey 1976). This finds a
// crossing if there is one. Let q be the first point where two edges cross or begin to
// overlap. Up to q the order is right. Where an overlap begins, an edge starts, and
// takes the place of the other. Edges that cross in q are among the edges that contain q and
// have not started there, which lie side by side. Once the edges that end in q are gone,
// neighbours among the rest cross.
func selfCrossing(ctx context.Context, edges []edge) (at vertex, crossed bool, err error) {
	events := make([]event, 0, 2*len(edges))
	for _, e := range edges {
		events = append(events, event{e.a, starts, e}, event{e.b, ends, e})
	}
	slices.SortFunc(events, event.compare)
	met := btree.NewG(treeDegree, func(a, b edge) bool { return a.compare(b) < 0 })
	var near []edge
	for k, v := range events {
		if k%checkEvery == 0 && ctx.Err() != nil {
			return vertex{}, false, ctx.Err()
		}
		near = neighbours(near[:0], met, v.edge)
		switch v.what {
		case starts:
			_, overlaps := met.ReplaceOrInsert(v.edge)
			crossed = overlaps || slices.ContainsFunc(near, v.edge.crosses)
		case ends:
			met.Delete(v.edge)
			crossed = len(near) == 2 && near[0].crosses(near[1])
		}
		if crossed {
			return v.at, true, nil
		}
	}
	return vertex{}, false, nil
}

// treeDegree makes nodes that fill a few cache lines.
const treeDegree = 16

// neighbours appends the edges next to e, one to its west and one to its east.
func neighbours(near []edge, met *btree.BTreeG[edge], e edge) []edge {
	other := func(o edge) bool {
		if o == e {
			return true
		}
		near = append(near, o)
		return false
	}
	met.DescendLessOrEqual(e, other)
	met.AscendGreaterOrEqual(e, other)
	return near
}
