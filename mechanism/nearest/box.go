package nearest

import "math"

// A Box is a closed range of latitudes and of longitudes, in degrees.
type Box struct {
	South, West, North, East float64
	Half                     float64 // half the width in longitude, at most 90
}

// NewBox returns the box with these borders. West is greater than east across the antimeridian.
func NewBox(south, west, north, east float64) Box {
	width := east - west
	if west > east {
		width += 360
	}
	return Box{south, west, north, east, float64(width / 2)}
}

// CrossesAntimeridian reports whether the box lies on both sides of the meridian 180.
func (b *Box) CrossesAntimeridian() bool { return b.West > b.East }

// Centre returns the middle of the latitudes and of the longitudes.
func (b Box) Centre() (lat, lon float64) {
	return b.South + float64((b.North-b.South)/2), Wrap(b.West + b.Half)
}

// Corners returns the corners as pairs of a latitude and an offset from the
// centre's longitude.
func (b Box) Corners() [4][2]float64 {
	return [4][2]float64{
		{b.South, -b.Half}, {b.South, b.Half}, {b.North, b.Half}, {b.North, -b.Half},
	}
}

// Contains reports whether a location lies in the box as it was declared; 180 and -180
// are one meridian.
func (b *Box) Contains(lat, lon float64) bool {
	return b.South <= lat && lat <= b.North && b.hasLongitude(lon)
}

// hasLongitude reports whether a longitude is one of the box's.
func (b *Box) hasLongitude(lon float64) bool {
	return b.declares(lon) || math.Abs(lon) == 180 && b.declares(-lon)
}

func (b *Box) declares(lon float64) bool {
	if b.CrossesAntimeridian() {
		return b.West <= lon && lon <= 180 || -180 <= lon && lon <= b.East
	}
	return b.West <= lon && lon <= b.East
}

// Wrap brings an angle in [-540, 540] degrees to [-180, 180].
func Wrap(angle float64) float64 {
	switch {
	case angle > 180:
		return angle - 360
	case angle < -180:
		return angle + 360
	}
	return angle
}
