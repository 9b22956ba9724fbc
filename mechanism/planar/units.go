package planar

// InUnits moves a location, in degrees, to the box, as [Domain.Cell] does, and returns it in whole
// units of 1e-7 degrees, the resolution of printed coordinates. They lie in the box too, unless
// that is narrower than a unit. lat must be within 90 and lon within 180 degrees of 0.
func (d *Domain) InUnits(lat, lon float64) (latUnits, lonUnits int32) {
	return d.latitudeUnits(lat), d.longitudeUnits(lon)
}

func (d *Domain) latitudeUnits(lat float64) int32 {
	u := toUnits(max(d.box.south, min(lat, d.box.north)))
	switch rounded := float64(u) / perDegree; {
	case rounded < d.box.south:
		u++
	case rounded > d.box.north:
		u--
	}
	return int32(u)
}

func (d *Domain) longitudeUnits(lon float64) int32 {
	if inside := d.hasLongitude(lon); !inside && d.frame.offset(lon) < 0 {
		lon = d.box.west
	} else if !inside {
		lon = d.box.east
	}
	u := toUnits(lon)
	for _, near := range [...]int64{u, u + 1, u - 1} {
		if d.hasLongitude(float64(near) / perDegree) {
			return int32(near)
		}
	}
	return int32(u)
}

// hasLongitude reports whether a longitude is one of the box's.
func (d *Domain) hasLongitude(lon float64) bool { return d.box.contains(d.box.south, lon) }
