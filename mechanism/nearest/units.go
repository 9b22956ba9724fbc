package nearest

import "math"

// perDegree is the number of units in a degree: printed coordinates have 7 decimals.
const perDegree = 1e7

// toUnits returns degrees in units, rounded to the nearest one.
func toUnits(degrees float64) int64 { return int64(math.RoundToEven(degrees * perDegree)) }

// InUnits moves a location, in degrees, to the box, and returns it in whole
// units of 1e-7 degrees. They lie in the box too, unless
// that is narrower than a unit. lat must be within 90 and lon within 180 degrees of 0.
func (b *Box) InUnits(lat, lon float64) (latUnits, lonUnits int32) {
	return b.latitudeUnits(lat), b.longitudeUnits(lon)
}

func (b *Box) latitudeUnits(lat float64) int32 {
	u := toUnits(max(b.South, min(lat, b.North)))
	switch rounded := float64(u) / perDegree; {
	case rounded < b.South:
		u++
	case rounded > b.North:
		u--
	}
	return int32(u)
}

func (b *Box) longitudeUnits(lon float64) int32 {
	if _, centre := b.Centre(); b.hasLongitude(lon) {
	} else if Wrap(lon-centre) < 0 {
		lon = b.West
	} else {
		lon = b.East
	}
	u := toUnits(lon)
	for _, near := range [...]int64{u, u + 1, u - 1} {
		if b.hasLongitude(float64(near) / perDegree) {
			return int32(near)
		}
	}
	return int32(u)
}
