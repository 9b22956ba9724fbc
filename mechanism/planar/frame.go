package planar

import (
	"math"

	"github.com/geosql/geosql/mechanism/nearest"
)

// A frame is an oblique stereographic projection of WGS 84 by way of the
// conformal sphere (Snyder, USGS 1395, chapter 21), centred on a box and scaled
// to be secant over the region that the privacy bound needs. Both maps are
// conformal, so the point scale is the same in every direction,
//
//	k = (diameter / 2a) * sphereScale(phi) / cos^2(c/2)
//
// with c the angular distance from the centre on the conformal sphere. Frame
// coordinates are metres, x to the east and y to the north of the centre. The
// whole Earth except the centre's antipode has an image, and every point of
// the plane is the image of a location.
type frame struct {
	lon0       float64 // longitude of the centre, degrees in [-180, 180]
	chi0       float64 // conformal latitude of the centre, degrees
	sin0, cos0 float64 // of chi0
	diameter   float64 // of the sphere, times the secant factor; metres
	near       nearCentre
}

// centredFrame returns the frame of diameter 1 about a location in degrees.
func centredFrame(lat0, lon0 float64) frame {
	up, out, norm := conformal(sincos(lat0))
	sin0, cos0 := up/norm, out/norm
	return frame{lon0: lon0, chi0: bearing(cos0, sin0), sin0: sin0, cos0: cos0, diameter: 1, near: newNearCentre(lat0)}
}

// project maps a latitude and a longitude *difference* from the centre, both in
// degrees, to metres. Snyder's equations 21-2 to 21-4 are expanded by the norm of
// conformal, which leaves one division. Near the centre another formula takes less time,
// see [nearCentre].
func (f *frame) project(lat, dlon float64) (x, y float64) {
	if dlat := lat - f.near.lat0; math.Abs(dlat) <= f.near.most && math.Abs(dlon) <= nearLongitude {
		return f.projectNear(dlat, dlon)
	}
	up, out, norm := conformal(sincos(lat))
	sinL, cosL := sincos(dlon)
	east, out := out*sinL, out*cosL
	north := float64(f.cos0*up) - float64(f.sin0*out)
	below := norm + float64(f.sin0*up) + float64(f.cos0*out)
	k := f.diameter / below
	return k * east, k * north
}

// projectNear maps differences of latitude and longitude from the centre, in degrees, to metres.
func (f *frame) projectNear(dlat, dlon float64) (x, y float64) {
	u, v := f.near.halfTangent.at(dlat), halfTan(dlon)
	re, im := 1+float64(f.sin0*u), v*(u+f.sin0)
	east, north := float64(v*re)-float64(u*im), float64(u*re)+float64(v*im)
	scale, below := f.diameter*f.cos0, float64(re*re)+float64(im*im)
	k := scale / below
	return k * east, k * north
}

// unproject is the inverse of project, for every point of the plane: lat in
// [-90, 90], dlon in [-180, 180] degrees. With c the angle from the centre,
// tan^2(c/2) = (x^2 + y^2)/diameter^2, and the half-angle formulas turn Snyder's
// equations 20-14 and 20-15 into the angles of a vector with rational components,
// whose length is their common denominator, diameter^2 + x^2 + y^2. At a pole every
// longitude is right.
func (f *frame) unproject(x, y float64) (lat, dlon float64) {
	if lat, dlon, near := f.unprojectNear(x, y); near {
		return lat, dlon
	}
	east, north := 2*f.diameter*x, 2*f.diameter*y
	square, r2 := float64(f.diameter*f.diameter), float64(x*x)+float64(y*y)
	axis, norm := square-r2, 1/(square+r2)
	up := float64(axis*f.sin0) + float64(north*f.cos0)
	out := float64(axis*f.cos0) - float64(north*f.sin0)
	level := math.Sqrt(float64(out*out) + float64(east*east))
	if level != 0 {
		dlon = bearing(out/level, east/level)
	}
	return max(-90, min(latitude(up*norm, level*norm), 90)), dlon
}

// unprojectNear is the inverse of projectNear. It reports whether the location is near the centre.
func (f *frame) unprojectNear(x, y float64) (lat, dlon float64, near bool) {
	p, q := y/f.diameter, x/f.diameter
	r := float64(p*p) + float64(q*q)
	m := 2 * (float64(f.cos0*p) - float64(f.sin0*r)) / (float64(f.cos0*(f.cos0-float64(2*f.sin0*p))) + float64((1+float64(f.sin0*f.sin0))*r))
	out := float64(f.cos0*(1-r)) - float64(2*f.sin0*p) // not above 0 on the other half of the Earth
	t := 2 * q / out
	if !(out > 0 && math.Abs(m) <= nearLatitude && math.Abs(t) <= nearTangent) {
		return 0, 0, false
	}
	return f.near.lat0 + f.near.latitude.at(m), nearArctan(t), true
}

// angle returns the angular distance c from the centre, in degrees, of a point
// r metres from the centre of the frame.
func (f *frame) angle(r float64) float64 {
	tan := min(r/f.diameter, 0x1p60) // of c/2; its square must not overflow
	cos := 1 / math.Sqrt(1+float64(tan*tan))
	return 2 * bearing(cos, tan*cos)
}

// offset returns the longitude difference lon - lon0 in [-180, 180], for a
// longitude in [-180, 180].
func (f *frame) offset(lon float64) float64 { return nearest.Wrap(lon - f.lon0) }
