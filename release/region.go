package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/geosql/geosql/dataset"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"
)

// A Region is the area that released locations are moved into.
type Region struct {
	WKT string
	Box Box // its bounds
}

// maxRegion is the maximum size of the text of a region, in bytes.
const maxRegion = 256 << 20

// ReadRegion reads a region from a GeoJSON file, which may be compressed by gzip. The file
// holds a geometry, a feature, or a collection of features; the region is the union of all
// their polygons.
func ReadRegion(path string) (Region, error) {
	text, err := readRegion(path)
	if err != nil {
		return Region{}, err
	}
	polygons, err := parseRegion(text)
	if err != nil {
		return Region{}, fmt.Errorf("%s: %w", path, err)
	}
	b := polygons.Bound()
	return Region{
		WKT: wkt.MarshalString(polygons),
		Box: Box{South: b.Bottom(), West: b.Left(), North: b.Top(), East: b.Right()},
	}, nil
}

// readRegion returns the text of a file, without compression and byte order mark.
func readRegion(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := dataset.PlainText(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(plain, maxRegion+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(text) > maxRegion:
		return nil, fmt.Errorf("%s has more than %d MB, which is too much for a region", path, maxRegion>>20)
	}
	return text, nil
}

// A geometry is a GeoJSON object (RFC 7946) of a region. Package orb/geojson could read it
// too, but depends on the driver of a database.
type geometry struct {
	Type        string
	Coordinates json.RawMessage
	Geometries  []geometry // of a GeometryCollection
	Geometry    *geometry  // of a Feature
	Features    []geometry // of a FeatureCollection
	ID          json.RawMessage
	Properties  json.RawMessage
}

func parseGeometry(text []byte) (g geometry, err error) {
	if err = json.Unmarshal(text, &g); err != nil {
		err = fmt.Errorf("not GeoJSON: %w", err)
	}
	return g, err
}

func parseRegion(text []byte) (orb.MultiPolygon, error) {
	g, err := parseGeometry(text)
	if err != nil {
		return nil, err
	}
	all, err := g.polygons()
	if err == nil && len(all) == 0 {
		err = errors.New("it contains no polygon")
	}
	return all, err
}

// polygons returns the polygons of the object and of all objects in it.
func (g *geometry) polygons() (all orb.MultiPolygon, err error) {
	switch g.Type {
	case "Polygon":
		all = make(orb.MultiPolygon, 1)
		err = json.Unmarshal(g.Coordinates, &all[0])
	case "MultiPolygon":
		err = json.Unmarshal(g.Coordinates, &all)
	case "Feature":
		if g.Geometry == nil {
			return nil, errors.New("a feature has no geometry")
		}
		return g.Geometry.polygons()
	case "FeatureCollection", "GeometryCollection":
		for _, part := range slices.Concat(g.Features, g.Geometries) {
			polygons, err := part.polygons()
			if err != nil {
				return nil, err
			}
			all = append(all, polygons...)
		}
	default:
		return nil, fmt.Errorf("a region is made of polygons, not of %q", g.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("the coordinates of a %s: %w", g.Type, err)
	}
	return all, checkRings(all)
}

// checkRings refuses polygons without bounds.
func checkRings(polygons orb.MultiPolygon) error {
	for _, p := range polygons {
		if len(p) == 0 || len(p[0]) < 4 {
			return errors.New("a polygon has no shell of at least four positions")
		}
	}
	return nil
}
