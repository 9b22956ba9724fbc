package planar

import (
	"errors"
	"fmt"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"
)

// A polygon is the closed set inside a shell without the open insides of its
// holes.
type polygon struct {
	shell *ring
	holes []*ring
}

// contains is exact.
func (p polygon) contains(v vertex) bool {
	return p.shell.locate(v) != outside &&
		!slices.ContainsFunc(p.holes, func(h *ring) bool { return h.locate(v) == inside })
}

// parsePolygons reads WKT. See newRing for origin.
func parsePolygons(text string, origin int64) ([]polygon, error) {
	geometry, err := wkt.Unmarshal(text)
	if err != nil {
		return nil, errors.New("wkt does not parse")
	}
	var multi orb.MultiPolygon
	switch g := geometry.(type) {
	case orb.Polygon:
		multi = orb.MultiPolygon{g}
	case orb.MultiPolygon:
		multi = g
	default:
		return nil, fmt.Errorf("wkt must be a POLYGON or a MULTIPOLYGON, not a %s", geometry.GeoJSONType())
	}
	var polygons []polygon
	for _, rings := range multi {
		p, err := newPolygon(rings, origin)
		if err != nil {
			return nil, err
		}
		polygons = append(polygons, p)
	}
	if len(polygons) == 0 {
		return nil, errors.New("wkt is empty")
	}
	return polygons, nil
}

func newPolygon(rings orb.Polygon, origin int64) (polygon, error) {
	if len(rings) == 0 {
		return polygon{}, errors.New("wkt has an empty polygon")
	}
	var p polygon
	for k, points := range rings {
		r, err := newRing(points, origin)
		switch {
		case err != nil:
			return polygon{}, err
		case k == 0:
			p.shell = r
		default:
			p.holes = append(p.holes, r)
		}
	}
	return p, nil
}
