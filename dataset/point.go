package dataset

import (
	"encoding/binary"
	"math"
	"strings"
)

// A box is the bounding box of points. The zero value is that of none.
type box struct {
	some                     bool
	west, south, east, north float64
}

func (b *box) add(lat, lon float64) {
	if !b.some {
		*b = box{true, lon, lat, lon, lat}
		return
	}
	b.west, b.east = min(b.west, lon), max(b.east, lon)
	b.south, b.north = min(b.south, lat), max(b.north, lat)
}

func (b *box) merge(o box) {
	if o.some {
		b.add(o.south, o.west)
		b.add(o.north, o.east)
	}
}

// geometry is the location of row i, NULL if a coordinate is.
func (s *Schema) geometry(rows *Rows, i int) (lat, lon float64, null bool, err error) {
	p := s.Points[0]
	lat, noLat, ok := rows.Columns[p.Lat].Real(i)
	if !ok || !finite(lat) {
		return 0, 0, false, misfit(rows, i, Field{s.Fields[p.Lat].Name, Real}, p.Lat)
	}
	lon, noLon, ok := rows.Columns[p.Lon].Real(i)
	if !ok || !finite(lon) {
		return 0, 0, false, misfit(rows, i, Field{s.Fields[p.Lon].Name, Real}, p.Lon)
	}
	return lat, lon, noLat || noLon, nil
}

// properties are the numbers of the fields which the geometry does not replace.
func (s *Schema) properties() []int {
	var list []int
	for i := range s.Fields {
		if i != s.Points[0].Lat && i != s.Points[0].Lon {
			list = append(list, i)
		}
	}
	return list
}

const wkbSize = 1 + 4 + 8 + 8

// appendWKB appends a point as well-known binary (OGC 06-103r4, section 8.2).
func appendWKB(out []byte, lat, lon float64) []byte {
	out = append(out, 1)                           // little-endian
	out = binary.LittleEndian.AppendUint32(out, 1) // point
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(lon))
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(lat))
}

// free is name, lengthened until no property has it.
func (s *Schema) free(name string) string {
	for _, i := range s.properties() {
		if strings.EqualFold(s.Fields[i].Name, name) {
			return s.free(name + "_")
		}
	}
	return name
}
