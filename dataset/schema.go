package dataset

import (
	"math"
	"strings"
)

// A Point names two fields, by number, that are one location: degrees in WGS 84.
type Point struct{ Lat, Lon int }

// A Schema describes a data set that is to be written.
type Schema struct {
	Name   string  // of the layer, where the format has one
	Fields []Field // with distinct names
	// Points are the locations. The first is the geometry of a format that has
	// one, and its two fields are then left out; the others stay fields.
	Points []Point
	// EscapeFormulas puts an apostrophe before the names and cells of CSV that a spreadsheet
	// program would take for a formula. Other formats do without.
	EscapeFormulas bool
}

// Location returns the first point of row i, which is NULL if a coordinate is.
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

// Attributes returns the numbers of the fields that a geometry does not replace.
func (s *Schema) Attributes() []int {
	var list []int
	for i := range s.Fields {
		if i != s.Points[0].Lat && i != s.Points[0].Lon {
			list = append(list, i)
		}
	}
	return list
}

// FreeName returns name, lengthened until no attribute has it, whatever its case.
func (s *Schema) FreeName(name string) string {
	for _, i := range s.Attributes() {
		if strings.EqualFold(s.Fields[i].Name, name) {
			return s.FreeName(name + "_")
		}
	}
	return name
}
