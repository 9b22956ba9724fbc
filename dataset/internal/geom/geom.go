// Package geom provides the common parts of the formats with geometries: points as
// well-known binary, and bounding boxes.
package geom

import (
	"encoding/binary"
	"math"
)

// Bounds is the bounding box of points. The zero value is that of no points.
type Bounds struct {
	Some                     bool // there is at least one point
	West, South, East, North float64
}

// Add extends the box to a point.
func (b *Bounds) Add(lat, lon float64) {
	if !b.Some {
		*b = Bounds{true, lon, lat, lon, lat}
		return
	}
	b.West, b.East = min(b.West, lon), max(b.East, lon)
	b.South, b.North = min(b.South, lat), max(b.North, lat)
}

// Merge extends the box to another one.
func (b *Bounds) Merge(other Bounds) {
	if other.Some {
		b.Add(other.South, other.West)
		b.Add(other.North, other.East)
	}
}

// WKBSize is the number of bytes that AppendWKB appends.
const WKBSize = 1 + 4 + 8 + 8

// AppendWKB appends a point as well-known binary (OGC 06-103r4, section 8.2).
func AppendWKB(out []byte, lat, lon float64) []byte {
	out = append(out, 1)                           // little-endian
	out = binary.LittleEndian.AppendUint32(out, 1) // point
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(lon))
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(lat))
}
