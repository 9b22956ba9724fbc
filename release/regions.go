package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/printable"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// Regions are areas with names, for tables of the owner.
type Regions struct {
	names  []string
	areas  []orb.MultiPolygon
	bounds []orb.Bound
}

// mostRegions bounds the tables: there is a number for each two regions.
const mostRegions = 300

// ReadRegions reads regions from a GeoJSON file, which may be compressed by gzip. Each feature is one; its name is its property name, or its id.
func ReadRegions(path string) (*Regions, error) {
	text, err := readRegion(path)
	if err != nil {
		return nil, err
	}
	r, err := parseRegions(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func parseRegions(text []byte) (*Regions, error) {
	g, err := parseGeometry(text)
	switch {
	case err != nil:
		return nil, err
	case len(g.Features) == 0:
		return nil, errors.New("it has no features")
	case len(g.Features) > mostRegions:
		return nil, fmt.Errorf("it has %d features, and a table has at most %d regions", len(g.Features), mostRegions)
	}
	r := new(Regions)
	for i, f := range g.Features {
		name := f.name(i)
		area, err := f.polygons()
		if err != nil {
			return nil, fmt.Errorf("region %s: %w", printable.Text(name), err)
		}
		r.names, r.areas, r.bounds = append(r.names, name), append(r.areas, area), append(r.bounds, area.Bound())
	}
	return r, nil
}

// name returns the name of feature i.
func (g *geometry) name(i int) string {
	var properties struct{ Name json.RawMessage }
	_ = json.Unmarshal(g.Properties, &properties) // without it there is no name
	for _, raw := range []json.RawMessage{properties.Name, g.ID} {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw) // a number
		}
		if text = strings.TrimSpace(text); text != "" && text != "null" {
			return text
		}
	}
	return fmt.Sprint("region ", i+1)
}

// elsewhere is the name of the places outside all regions. It follows theirs.
const elsewhere = "elsewhere"

// name returns the name of region i, or elsewhere behind the last.
func (r *Regions) name(i int) string {
	if i == len(r.names) {
		return elsewhere
	}
	return r.names[i]
}

// of returns the number of the first region that has a location, or the number of regions.
func (r *Regions) of(lat, lon float64) int {
	at := orb.Point{lon, lat}
	for i, area := range r.areas {
		if r.bounds[i].Contains(at) && planar.MultiPolygonContains(area, at) {
			return i
		}
	}
	return len(r.areas)
}
