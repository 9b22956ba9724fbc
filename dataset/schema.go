package dataset

import (
	"math"
	"slices"
	"strings"
)

// A Point gives the numbers of two fields that form a location, in degrees of WGS 84.
type Point struct{ Lat, Lon int }

// A Schema describes a data set to write.
type Schema struct {
	Name   string  // of the layer, if the format has layers
	Fields []Field // with distinct names
	// Points holds the locations. In a format with geometries the first becomes the
	// geometry, and its two fields are left out. The others stay fields.
	Points []Point
	// EscapeFormulas puts an apostrophe before the names and cells of CSV that a spreadsheet
	// program would take for a formula. Other formats ignore it.
	EscapeFormulas bool
}

// Location returns the first point of row i. It is NULL if a coordinate is NULL.
func (s *Schema) Location(rows *Rows, i int) (lat, lon float64, null bool, err error) {
	p := s.Points[0]
	lat, noLat, ok := rows.Columns[p.Lat].Real(i)
	if !ok || !finite(lat) {
		return 0, 0, false, rows.MisfitError(i, p.Lat, Field{s.Fields[p.Lat].Name, Real})
	}
	lon, noLon, ok := rows.Columns[p.Lon].Real(i)
	if !ok || !finite(lon) {
		return 0, 0, false, rows.MisfitError(i, p.Lon, Field{s.Fields[p.Lon].Name, Real})
	}
	return lat, lon, noLat || noLon, nil
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// Attributes returns the numbers of the fields that the geometry does not replace.
func (s *Schema) Attributes() []int {
	var list []int
	for i := range s.Fields {
		if i != s.Points[0].Lat && i != s.Points[0].Lon {
			list = append(list, i)
		}
	}
	return list
}

// isCoordinate reports whether a field is a coordinate of a location.
func (s *Schema) isCoordinate(field int) bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool { return field == p.Lat || field == p.Lon })
}

// FreeName returns name, lengthened until it differs from all attributes, ignoring case.
func (s *Schema) FreeName(name string) string {
	for _, i := range s.Attributes() {
		if strings.EqualFold(s.Fields[i].Name, name) {
			return s.FreeName(name + "_")
		}
	}
	return name
}
