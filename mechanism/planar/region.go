package planar

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/geosql/geosql/internal/workers"
)

// WithRegion returns a copy of the domain whose outputs are moved to the nearest
// admissible lattice point: nearest in the frame, the southernmost of equally near ones,
// and the westernmost of these. It replaces a region that the domain had.
//
// A point is admissible if its printed coordinates lie in the polygon and, to
// 7 decimals, in the box. The polygon is WKT, POLYGON or MULTIPOLYGON, in
// degrees, lon before lat, with edges straight in longitude and latitude, as
// geographic information systems draw them. Its vertices are rounded to 7
// decimals. It is closed: shells and the boundaries of holes belong to it. Rings may
// touch themselves and each other but not cross themselves; polygons may overlap.
// If the box crosses the antimeridian, every longitude is taken within 180 degrees of
// the box's centre; otherwise it is taken as written.
//
// The work grows with the length of the boundary in steps and, up to logarithms, with
// the number of points; [Domain.WithRegionRows] restores its result. It returns an error if
// the text is wrong, no lattice point is admissible, the text has more
// than a million points or 64 MB, or the step is too fine for the region: a boundary
// of more than 8 million steps, hence more than 4 million rows, is refused. If the
// context is cancelled, WithRegion returns its error.
func (d *Domain) WithRegion(ctx context.Context, wkt string) (*Domain, error) {
	a := &area{domain: d}
	if d.box.CrossesAntimeridian() {
		a.origin = toUnits(d.frame.lon0)
	}
	polygons, err := parsePolygons(wkt, a.origin)
	if err != nil {
		return nil, err
	}
	if err := a.checkBoundary(ctx, polygons); err != nil {
		return nil, err
	}
	strips, err := a.strips(ctx, polygons)
	if err != nil {
		return nil, err
	}
	if len(strips) == 0 {
		return nil, errors.New("wkt has no lattice point of the domain's box in it; " +
			"remember that WKT is lon lat")
	}
	if strips, err = sorted(ctx, strips, strip.zKey); err != nil {
		return nil, err
	}
	return d.restricted(newRegion(strips, d.regionChecksum(wkt))), nil
}

// HasRegion reports whether outputs are moved into a region.
func (d *Domain) HasRegion() bool { return d.region != nil }

func (d *Domain) restricted(r *region) *Domain {
	restricted := *d
	restricted.region = r
	return &restricted
}

// checkEvery is the number of short steps between two checks of a context.
const checkEvery = 1 << 12

// maxBoundary bounds the length of a region's boundary in steps, and so its
// rows, at most half as many: seconds of work, and some 100 MB.
const maxBoundary = 8_000_000

// An area computes where a domain's points may be reported.
type area struct {
	domain *Domain
	origin int64 // about which longitudes are unwrapped
}

// checkBoundary returns an error if the boundary is too long, or that of the context.
func (a *area) checkBoundary(ctx context.Context, polygons []polygon) error {
	var length float64
	var segments []segment
	for _, p := range polygons {
		for _, r := range p {
			f := a.face(r)
			for k, e := range f.edges() {
				if k%checkEvery == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				segments = f.chords(segments[:0], e)
				for _, g := range segments {
					length += math.Hypot(g.x1-g.x0, g.y1-g.y0)
				}
				if length > maxBoundary {
					return fmt.Errorf("wkt has a boundary of more than %d steps: "+
						"declare the domain with a coarser step", maxBoundary)
				}
			}
		}
	}
	return nil
}

// strips returns the admissible lattice points. Polygons are independent of each other,
// so several are done at a time.
func (a *area) strips(ctx context.Context, polygons []polygon) ([]strip, error) {
	var next atomic.Int64
	var failed atomic.Bool
	found := make([][]strip, len(polygons))
	errs := make([]error, len(polygons))
	workers.Run(min(runtime.GOMAXPROCS(0), len(polygons)), func() {
		for !failed.Load() {
			k := int(next.Add(1)) - 1
			if k >= len(polygons) {
				return
			}
			if found[k], errs[k] = a.polygon(ctx, polygons[k]); errs[k] != nil {
				failed.Store(true)
			}
		}
	})
	// Polygons before one that failed were begun and not given up, so the first error is
	// the same every time.
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return union(ctx, slices.Concat(found...))
}

// polygon returns the lattice points of one polygon.
func (a *area) polygon(ctx context.Context, p polygon) ([]strip, error) {
	var shell, holes []strip
	for k, r := range p {
		if err := r.prepare(ctx); err != nil {
			return nil, err
		}
		least := inside
		if k == 0 {
			least = onEdge
		}
		strips, err := newScan(a.face(r), least).run(ctx)
		switch {
		case err != nil:
			return nil, err
		case k == 0:
			shell = strips
		default:
			holes = append(holes, strips...)
		}
	}
	holes, err := union(ctx, holes)
	if err != nil {
		return nil, err
	}
	return subtract(shell, holes), nil
}
