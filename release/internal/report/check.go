package report

import (
	"errors"
	"fmt"
	"math"
)

// The smallest and the largest epsilon that a ledger can charge.
const (
	minEpsilon = 1e-12
	maxEpsilon = 9_000_000
)

// maxNumber bounds levels and lengths so that everything computed from them is finite. It
// is far above the error at the smallest epsilon.
const maxNumber = 1e15

// check refuses data for which the page would be wrong.
func (d Data) check() error {
	if err := d.Public.check(); err != nil {
		return err
	}
	if d.Owner == nil {
		return nil
	}
	return d.Owner.check(d.Public)
}

func (p Public) check() error {
	if !(p.Epsilon >= minEpsilon && p.Epsilon <= maxEpsilon) {
		return fmt.Errorf("epsilon %v is not between %v and %v", p.Epsilon, minEpsilon, maxEpsilon)
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"step", p.Step}, {"mean error", p.MeanError}, {"error of 95 %", p.Error95}} {
		if !positive(v.value) {
			return fmt.Errorf("%s %v is not between 0 and %v", v.name, v.value, maxNumber)
		}
	}
	requested := p.Level != 0 || p.Radius != 0
	if requested && !(positive(p.Level) && positive(p.Radius)) {
		return fmt.Errorf("level %v and radius %v are not both between 0 and %v", p.Level, p.Radius, maxNumber)
	}
	if p.Rows < 0 {
		return fmt.Errorf("%d rows", p.Rows)
	}
	if len(p.Locations) == 0 {
		return errors.New("no location is released")
	}
	return p.checkLocations()
}

func positive(x float64) bool { return x > 0 && x <= maxNumber }

func (p Public) checkLocations() error {
	for _, l := range p.Locations {
		if err := checkGrid(l.Released, p.Box, l); err != nil {
			return err
		}
		if l.Recovered != nil {
			if err := checkGrid(l.Recovered, p.Box, l); err != nil {
				return err
			}
		}
		if n := l.Released.Total(); n > p.Rows {
			return fmt.Errorf("columns %s, %s: %d locations in %d rows", l.Lat, l.Lon, n, p.Rows)
		}
	}
	return nil
}

func (o *Owner) check(p Public) error {
	if len(o.Locations) != len(p.Locations) {
		return fmt.Errorf("%d of %d locations are compared", len(o.Locations), len(p.Locations))
	}
	for i, l := range o.Locations {
		public := p.Locations[i]
		if err := checkGrid(l.Raw, p.Box, public); err != nil {
			return err
		}
		if l.Moved == nil || l.Moved.width != binWidth(p.noise()) {
			return fmt.Errorf("columns %s, %s: the distances are not counted for this epsilon", public.Lat, public.Lon)
		}
		released, raw, moved := public.Released.Total(), l.Raw.Total(), l.Moved.Total()
		if raw != released || moved != released {
			return fmt.Errorf("columns %s, %s: %d locations released, of %d raw ones, with %d distances",
				public.Lat, public.Lon, released, raw, moved)
		}
		if !(l.Moved.sum >= 0 && l.Moved.sum <= math.MaxFloat64) {
			return fmt.Errorf("columns %s, %s: the distances sum to %v", public.Lat, public.Lon, l.Moved.sum)
		}
	}
	return nil
}

func checkGrid(g *Grid, box Box, l Location) error {
	if g == nil || g.box != box {
		return fmt.Errorf("columns %s, %s: the map is not of this box", l.Lat, l.Lon)
	}
	return nil
}
