package planar

import (
	"fmt"
	"math"
)

// A box is a closed range of latitudes and of longitudes, in degrees.
type box struct {
	south, west, north, east float64
	half                     float64 // half the width in longitude, at most 90
}

func newBox(south, west, north, east float64) (box, error) {
	for _, v := range []struct {
		name         string
		value, limit float64
	}{{"south", south, 90}, {"west", west, 180}, {"north", north, 90}, {"east", east, 180}} {
		if !(math.Abs(v.value) <= v.limit) {
			return box{}, fmt.Errorf("%s must be within %v degrees of 0, not %v", v.name, v.limit, v.value)
		}
	}
	width := east - west
	if west > east {
		width += 360
	}
	switch {
	case south >= north:
		return box{}, fmt.Errorf("south %v must be less than north %v", south, north)
	case width == 0:
		return box{}, fmt.Errorf("west %v and east %v are the same meridian", west, east)
	case width > 180:
		return box{}, fmt.Errorf("the box from west %v to east %v is more than 180 degrees wide", west, east)
	}
	return box{south, west, north, east, float64(width / 2)}, nil
}

func (b *box) crossesAntimeridian() bool { return b.west > b.east }

// centre returns the middle of the latitudes and of the longitudes.
func (b box) centre() (lat, lon float64) {
	return b.south + float64((b.north-b.south)/2), wrap(b.west + b.half)
}

// corners returns the corners as pairs of a latitude and an offset from the
// centre's longitude.
func (b box) corners() [4][2]float64 {
	return [4][2]float64{
		{b.south, -b.half}, {b.south, b.half}, {b.north, b.half}, {b.north, -b.half},
	}
}

// contains reports whether a location lies in the box as it was declared; 180 and -180
// are one meridian.
func (b *box) contains(lat, lon float64) bool {
	if !(b.south <= lat && lat <= b.north) {
		return false
	}
	return b.containsLongitude(lon) || math.Abs(lon) == 180 && b.containsLongitude(-lon)
}

func (b *box) containsLongitude(lon float64) bool {
	if b.crossesAntimeridian() {
		return b.west <= lon && lon <= 180 || -180 <= lon && lon <= b.east
	}
	return b.west <= lon && lon <= b.east
}
