package cip

import (
	"slices"
	"strconv"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Fix is a point of a trace. Its location, in degrees, is secret; its time is not.
type Fix struct {
	Time     time.Time
	Lat, Lon float64
}

// Price returns the price of a trace released under the policy of that name: its
// epsilon, in a unit of the policy's own. An account gets one trace under a policy: losses
// of two do not add up under a Gaussian-process prior.
func (p Policy) Price(name string) budget.Price {
	return budget.Price{Unit: "cip:" + budget.Unit(name), Amount: p.Epsilon}
}

// Draw draws the release of a trace with the noise of [Policy.Noise] for its times.
func Draw(src *exact.Source, noise *planar.Gaussian, trace []Fix) []Fix {
	released := slices.Clone(trace)
	for i := range released {
		z := &released[i]
		z.Lat, z.Lon = noise.Draw(src, z.Lat, z.Lon)
	}
	return released
}

// AppendTrace appends a released trace as a JSON array of objects: t, in seconds since
// 1970, lat and lon.
func AppendTrace(b []byte, trace []Fix) []byte {
	b = append(b, '[')
	for i, z := range trace {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"t":`...)
		b = strconv.AppendFloat(b, float64(z.Time.UnixMicro())/perSecond, 'f', -1, 64)
		b = append(b, `,"lat":`...)
		b = strconv.AppendFloat(b, z.Lat, 'f', 7, 64)
		b = append(b, `,"lon":`...)
		b = strconv.AppendFloat(b, z.Lon, 'f', 7, 64)
		b = append(b, '}')
	}
	return append(b, ']')
}
