package planar

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// A window is a stretch of a row where the boundary may pass: the points lo, .., hi, or
// the gap between hi and lo = hi+1.
type window struct{ lo, hi int32 }

// A scan finds the points of a face row by row, from south to north. Where the boundary
// may pass it locates point by point. A stretch of a row between two such windows does
// not meet the boundary, so one point answers for all. The result is the same as if
// every point were located.
type scan struct {
	face     *face
	least    position  // of points that belong to the result
	margin   float64   // of the windows around segments
	segments []segment // not reached yet, by y0
	active   []segment // near the present row
	windows  []window  // of the present row, by lo
	strips   []strip
}

// newScan returns a scan for the points of at least the given position.
func newScan(f *face, least position) *scan {
	s := &scan{face: f, least: least}
	// A printed point is up to printError metres from its lattice point, times a
	// scale of at most 1.1; the rest of the centimetre covers the rounding
	// errors of the chords' ends.
	s.margin = chordTolerance + 0.01/f.area.domain.step
	for _, e := range f.edges() {
		s.segments = f.chords(s.segments, e)
	}
	slices.SortFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.y0, b.y0) })
	return s
}

// run returns the strips, sorted. Its error is that of the context.
func (s *scan) run(ctx context.Context) ([]strip, error) {
	if len(s.segments) == 0 {
		return nil, nil
	}
	low, high := s.segments[0].y0, math.Inf(-1)
	for _, g := range s.segments {
		high = max(high, g.y1)
	}
	last := int32(math.Floor(high + s.margin))
	for j := int32(math.Ceil(low - s.margin)); j <= last; j++ {
		s.findWindows(j)
		if err := s.row(ctx, j); err != nil {
			return nil, err
		}
	}
	return s.strips, nil
}

// findWindows collects the stretches of row j that come within the margin of a
// segment.
func (s *scan) findWindows(j int32) {
	low, high := float64(j)-s.margin, float64(j)+s.margin
	s.active = slices.DeleteFunc(s.active, func(g segment) bool { return g.y1 < low })
	for ; len(s.segments) > 0 && s.segments[0].y0 <= high; s.segments = s.segments[1:] {
		if s.segments[0].y1 >= low {
			s.active = append(s.active, s.segments[0])
		}
	}
	s.windows = s.windows[:0]
	for _, g := range s.active {
		a, b := g.x0, g.x1
		if g.y0 < g.y1 {
			a, b = g.at(max(low, g.y0)), g.at(min(high, g.y1))
		}
		s.windows = append(s.windows, window{
			int32(math.Ceil(min(a, b) - s.margin)), int32(math.Floor(max(a, b) + s.margin)),
		})
	}
	slices.SortFunc(s.windows, func(a, b window) int { return cmp.Compare(a.lo, b.lo) })
}

// row appends the strips of row j.
func (s *scan) row(ctx context.Context, j int32) error {
	if len(s.windows) == 0 {
		return nil
	}
	counts := func(i int32) bool { return s.face.locate(Cell{int64(i), int64(j)}) >= s.least }
	next := s.windows[0].lo // the first point not yet decided; points to the west are outside
	for k, w := range s.windows {
		if k%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if next < w.lo && counts(next) {
			s.strips = join(s.strips, strip{j, next, w.lo - 1})
		}
		for next = max(next, w.lo); next <= w.hi; next++ {
			if next%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if counts(next) {
				s.strips = join(s.strips, strip{j, next, next})
			}
		}
	}
	return nil
}
