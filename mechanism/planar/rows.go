package planar

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// maxBoundary bounds the length of a region's boundary in steps, and so its
// rows, at most half as many: seconds of work, and some 100 MB.
const maxBoundary = 8_000_000

// A segment of the frame, in steps, runs upwards: y0 <= y1.
type segment struct{ x0, y0, x1, y1 float64 }

func upward(x0, y0, x1, y1 float64) segment {
	if y0 > y1 {
		return segment{x1, y1, x0, y0}
	}
	return segment{x0, y0, x1, y1}
}

// A run is the lattice points lo, lo+1, .., hi of a row. The indices of a box
// are bounded by maxCell.
type run struct{ lo, hi int32 }

// A scan finds the admissible points row by row, from south to north. Where the
// boundary may pass it asks the area point by point; a stretch of a row between
// two such windows does not meet the boundary, so that one point answers for
// all. The result is what asking every point would give.
type scan struct {
	area     *area
	segments []segment // by y0
	active   []segment // those near the present row
	windows  []run     // of the present row
	margin   float64
	first    int64   // the first row
	starts   []int32 // of each row, in runs
	runs     []run
}

func newScan(a *area) (*scan, error) {
	s := &scan{area: a, segments: a.boundary()}
	// A printed point is up to printError metres from its lattice point, times a
	// scale of at most 1.1; what is left of the centimetre covers the rounding
	// errors of the chords' ends.
	s.margin = chordTolerance + 0.01/a.domain.step
	slices.SortFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.y0, b.y0) })
	low, high, length := s.segments[0].y0, math.Inf(-1), 0.0
	for _, g := range s.segments {
		high = max(high, g.y1)
		length += math.Hypot(g.x1-g.x0, g.y1-g.y0)
	}
	if length > maxBoundary {
		return nil, fmt.Errorf("wkt has a boundary of %.0f steps, more than %d: "+
			"declare the domain with a coarser step", length, maxBoundary)
	}
	s.first = int64(math.Ceil(low - s.margin))
	last := int64(math.Floor(high + s.margin))
	for j := s.first; j <= last; j++ {
		s.starts = append(s.starts, int32(len(s.runs)))
		s.findWindows(j)
		s.scanRow(j)
	}
	s.starts = append(s.starts, int32(len(s.runs)))
	return s, nil
}

// findWindows collects the stretches of row j that come within the margin of a
// segment, widened to whole lattice points, sorted.
func (s *scan) findWindows(j int64) {
	low, high := float64(j)-s.margin, float64(j)+s.margin
	s.active = slices.DeleteFunc(s.active, func(g segment) bool { return g.y1 < low })
	for len(s.segments) > 0 && s.segments[0].y0 <= high {
		s.active = append(s.active, s.segments[0])
		s.segments = s.segments[1:]
	}
	s.windows = s.windows[:0]
	for _, g := range s.active {
		if g.y1 < low {
			continue
		}
		a, b := g.at(max(low, g.y0)), g.at(min(high, g.y1))
		if g.y0 == g.y1 {
			a, b = g.x0, g.x1
		}
		s.windows = append(s.windows, run{
			int32(math.Floor(min(a, b) - s.margin)), int32(math.Ceil(max(a, b) + s.margin)),
		})
	}
	slices.SortFunc(s.windows, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
}

// at returns x at the height y of a segment.
func (g segment) at(y float64) float64 {
	return g.x0 + (y-g.y0)/(g.y1-g.y0)*(g.x1-g.x0)
}

// scanRow appends the runs of row j.
func (s *scan) scanRow(j int64) {
	start := len(s.runs)
	contains := func(i int32) bool { return s.area.contains(Cell{int64(i), j}) }
	next := int32(math.MaxInt32) // the first point not yet decided
	for _, w := range s.windows {
		if next < w.lo && contains(next) {
			s.add(start, run{next, w.lo - 1})
		}
		if next == math.MaxInt32 {
			next = w.lo
		}
		for next = max(next, w.lo); next <= w.hi; next++ {
			if contains(next) {
				s.add(start, run{next, next})
			}
		}
	}
}

// add appends a run to the row that begins at start, joining neighbours.
func (s *scan) add(start int, r run) {
	if last := len(s.runs) - 1; last >= start && s.runs[last].hi+1 == r.lo {
		s.runs[last].hi = r.hi
		return
	}
	s.runs = append(s.runs, r)
}
