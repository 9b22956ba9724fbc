package planar

// InUnits moves a location, in degrees, to the box, as [Domain.Cell] does, and returns it in whole
// units of 1e-7 degrees, the resolution of printed coordinates. They lie in the box too, unless
// that is narrower than a unit. lat must be within 90 and lon within 180 degrees of 0.
func (d *Domain) InUnits(lat, lon float64) (latUnits, lonUnits int32) { return d.box.InUnits(lat, lon) }
