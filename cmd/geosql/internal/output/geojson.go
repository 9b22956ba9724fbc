package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"

	"github.com/geosql/geosql/internal/sqlite"
)

// A geoJSONWriter writes a FeatureCollection (RFC 7946) per statement, a row per line. The
// columns lat and lon become a point, or else the first column that holds WKT becomes the
// geometry. The others are properties. A row without a location has no geometry, which the
// format allows. A statement with one value that is a FeatureCollection itself, such as a heat map, is
// written as that. Like a jsonWriter it does not close a collection that an error cut off.
type geoJSONWriter struct {
	w        *bufio.Writer
	names    [][]byte // quoted, with the colon
	lat, lon int      // columns, -1 if the statement does not have both
	wkt      int      // column, -1 before it is known
	line     []byte   // the row to be written once it is known whether another follows
	value    []byte   // of the first row, if it is a FeatureCollection
	some     bool
}

func (g *geoJSONWriter) Begin(columns []string) error {
	g.names, g.value, g.some = g.names[:0], nil, false
	g.lat, g.lon, g.wkt = -1, -1, -1
	for i, name := range columns {
		g.names = append(g.names, append(appendJSON(nil, []byte(name)), ':'))
		switch strings.ToLower(name) {
		case "lat", "latitude":
			g.lat = i
		case "lon", "lng", "longitude":
			g.lon = i
		}
	}
	if g.lat < 0 || g.lon < 0 {
		g.lat, g.lon = -1, -1
	}
	g.line = append(g.line[:0], `{"type":"FeatureCollection","features":[`...)
	return nil
}

func (g *geoJSONWriter) Row(cells []sqlite.Value) error {
	if g.some {
		g.line = append(g.line, ",\n"...)
		if _, err := g.w.Write(g.line); err != nil {
			return err
		}
		g.line, g.value = g.line[:0], nil
	} else {
		g.line, g.value = append(g.line, '\n'), collection(cells)
	}
	g.some = true
	g.line = g.appendFeature(g.line, cells)
	return nil
}

// collection returns the only value of a row if it is a FeatureCollection.
func collection(cells []sqlite.Value) []byte {
	var c struct {
		Type     string            `json:"type"`
		Features []json.RawMessage `json:"features"`
	}
	if len(cells) > 1 || cells[0].Type() != sqlite.Text || json.Unmarshal(cells[0].Bytes(), &c) != nil || c.Type != "FeatureCollection" || c.Features == nil {
		return nil
	}
	return bytes.Clone(cells[0].Bytes())
}

func (g *geoJSONWriter) End(whole bool) error {
	switch {
	case whole && g.value != nil:
		g.line = append(g.line[:0], g.value...)
	case whole:
		g.line = append(g.line, "]}"...)
	}
	g.line = append(g.line, '\n')
	_, err := g.w.Write(g.line)
	return err
}

func (g *geoJSONWriter) appendFeature(b []byte, cells []sqlite.Value) []byte {
	shape, used := g.shape(cells)
	if shape == nil {
		shape = []byte("null")
	}
	b = append(append(b, `{"type":"Feature","geometry":`...), shape...)
	b = append(b, `,"properties":{`...)
	first := true
	for i := range cells {
		if used(i) || g.isGeometry(i) && cells[i].Type() == sqlite.Null {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendJSONValue(append(b, g.names[i]...), &cells[i])
	}
	return append(b, "}}"...)
}

// isGeometry reports whether a column is a part of the geometry.
func (g *geoJSONWriter) isGeometry(column int) bool {
	return column == g.lat || column == g.lon || column == g.wkt
}

// shape returns the geometry of a row as JSON, nil if it has none, and which columns it was
// made of. A location that is none, such as text, stays with the properties.
func (g *geoJSONWriter) shape(cells []sqlite.Value) (shape []byte, used func(column int) bool) {
	switch {
	case g.lat >= 0:
		shape = pointOf(&cells[g.lat], &cells[g.lon])
	case g.wkt >= 0:
		shape = shapeOf(&cells[g.wkt])
	default:
		shape = g.findWKT(cells)
	}
	if shape == nil {
		return nil, func(int) bool { return false }
	}
	return shape, g.isGeometry
}

// findWKT returns the geometry of the first column that holds WKT, and notes which that is.
func (g *geoJSONWriter) findWKT(cells []sqlite.Value) []byte {
	for i := range cells {
		if shape := shapeOf(&cells[i]); shape != nil {
			g.wkt = i
			return shape
		}
	}
	return nil
}

// pointOf returns the point of two numbers as JSON, nil if they are none in degrees.
func pointOf(lat, lon *sqlite.Value) []byte {
	y, x := degrees(lat), degrees(lon)
	if !(math.Abs(y) <= 90 && math.Abs(x) <= 180) {
		return nil
	}
	b := appendNumber([]byte(`{"type":"Point","coordinates":[`), lon)
	return append(appendNumber(append(b, ','), lat), "]}"...)
}

// degrees returns a number, NaN if it is none.
func degrees(v *sqlite.Value) float64 {
	switch v.Type() {
	case sqlite.Integer:
		return float64(v.Int())
	case sqlite.Float:
		return v.Float()
	default:
		return math.NaN()
	}
}

// shapeOf returns the geometry of a text in WKT as JSON, nil if it is none.
func shapeOf(v *sqlite.Value) []byte {
	if v.Type() != sqlite.Text {
		return nil
	}
	text := strings.TrimSpace(v.Text())
	if !strings.HasSuffix(text, ")") { // tells most texts from WKT
		return nil
	}
	shape, err := wkt.Unmarshal(text)
	if err != nil {
		return nil
	}
	b, err := json.Marshal(geometry(shape))
	if err != nil { // a coordinate is no number
		return nil
	}
	return b
}

// geometry returns a shape as an object of GeoJSON. The types of its coordinates are the
// nested arrays that the format wants.
func geometry(shape orb.Geometry) any {
	type object struct {
		Type        string `json:"type"`
		Coordinates any    `json:"coordinates,omitempty"`
		Geometries  []any  `json:"geometries,omitempty"`
	}
	collection, ok := shape.(orb.Collection)
	if !ok {
		return object{Type: shape.GeoJSONType(), Coordinates: shape}
	}
	o := object{Type: shape.GeoJSONType()}
	for _, member := range collection {
		o.Geometries = append(o.Geometries, geometry(member))
	}
	return o
}
