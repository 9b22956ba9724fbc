package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// DefaultMechanism is the mechanism of a [Spec] that names none.
const DefaultMechanism = "laplace"

// CheckMechanism returns an error unless there is a mechanism of that name.
func CheckMechanism(name string) error {
	if names := planar.Mechanisms(); !slices.Contains(names, name) {
		return fmt.Errorf("must be one of %s", strings.Join(names, ", "))
	}
	return nil
}

// newMechanism returns the mechanism that draws the locations of a release.
func newMechanism(ctx context.Context, s *Spec) (planar.Mechanism, error) {
	d, err := planar.NewDomain("release", s.Box.South, s.Box.West, s.Box.North, s.Box.East, s.Step)
	if err != nil {
		return nil, fmt.Errorf("domain: %w", err)
	}
	if s.Region != "" {
		if d, err = d.WithRegion(ctx, s.Region); err != nil {
			return nil, fmt.Errorf("region: %w", err)
		}
	}
	name := cmp.Or(s.Mechanism, DefaultMechanism)
	if err := CheckMechanism(name); err != nil {
		return nil, fmt.Errorf("mechanism %w", err)
	}
	m, err := d.Mechanism(name, s.Epsilon)
	if err == nil && s.Radius != 0 && m.Price().Unit != budget.Metre {
		err = fmt.Errorf("mechanism %s takes no level and radius: give it rho per square metre as epsilon", name)
	}
	return m, err
}

// accuracy returns the distance in metres between a location and its released one: the
// expected distance, and the distance that 95 of 100 do not exceed, both before a region
// moves the released location.
func (r *run) accuracy() (mean, within95 float64, err error) {
	a := r.mechanism.Accuracy()
	within95, err = a.Radius(0.95)
	return a.Mean(), within95, err
}

// noise returns the accuracy of the mechanism in the plane, without a domain.
func (r *run) noise() planar.Accuracy {
	return r.mechanism.Accuracy().Law().Plane(r.mechanism.Price().Amount.Float64())
}

// outside reports whether a location is outside the area of released locations.
func outside(d *planar.Domain, lat, lon float64) bool {
	if d.Outside(lat, lon) {
		return true
	}
	if !d.HasRegion() {
		return false
	}
	cell := d.Cell(lat, lon)
	return d.Admissible(cell) != cell
}
