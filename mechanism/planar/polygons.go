package planar

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paulmach/orb"
)

// A polygon is the closed set inside its first ring, the shell, without the interiors
// of the others, its holes.
type polygon []*ring

// maxPoints bounds the points of a region, and maxText its text: some seconds of work,
// and some 500 MB.
const (
	maxPoints = 1_000_000
	maxText   = 64 << 20
)

// checkSize returns an error for a text that is too large, before it takes any memory.
func checkSize(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("wkt has %d MB, more than %d", len(text)>>20, maxText>>20)
	}
	// A comma stands between any two points of WKT, and nowhere else.
	if n := 1 + strings.Count(text, ","); n > maxPoints {
		return fmt.Errorf("wkt has %d points, more than %d", n, maxPoints)
	}
	return nil
}

// parsePolygons returns the polygons of a WKT text. For origin see newRing.
func parsePolygons(text string, origin int64) ([]polygon, error) {
	if err := checkSize(text); err != nil {
		return nil, err
	}
	multi, err := parseWKT(text)
	if err != nil {
		return nil, err
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
		return nil, errors.New("wkt has an empty polygon")
	}
	var p polygon
	for _, points := range rings {
		r, err := newRing(points, origin)
		if err != nil {
			return nil, err
		}
		p = append(p, r)
	}
	return p, nil
}
