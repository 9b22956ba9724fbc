package release

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/planar"
)

// A method is how locations are drawn: with which mechanism, and where.
type method struct {
	mechanism.Location
	domain  *planar.Domain
	epsilon *big.Rat // as it was asked for
}

func newMethod(ctx context.Context, s *Spec) (*method, error) {
	d, err := planar.NewDomain("release", s.Box.South, s.Box.West, s.Box.North, s.Box.East, s.Step)
	if err != nil {
		return nil, fmt.Errorf("domain: %w", err)
	}
	if s.Region != "" {
		if d, err = d.WithRegion(ctx, s.Region); err != nil {
			return nil, fmt.Errorf("region: %w", err)
		}
	}
	l, err := d.Laplace(s.Epsilon)
	if err != nil {
		return nil, err
	}
	return &method{l, d, s.Epsilon}, nil
}

// errors returns how far from its location, in metres, a released one is expected to be
// at most, in the mean and in 95 of 100 cases, before a region moves it. The mean follows
// from the bound of [planar.Domain.Radius]: that of the continuous mechanism, 2/epsilon
// (the mean of a Gamma distribution of shape 2), and half a cell's diagonal.
func (m *method) errors() (mean, most float64, err error) {
	most, err = m.domain.Radius(m.epsilon, 0.95)
	epsilon, _ := m.epsilon.Float64()
	return 2*(1+m.domain.Kappa())/epsilon + m.domain.Step()/math.Sqrt2, most, err
}

// outside reports whether a location is not where released ones may be.
func (m *method) outside(lat, lon float64) bool {
	if m.domain.Outside(lat, lon) {
		return true
	}
	if !m.domain.HasRegion() {
		return false
	}
	cell := m.domain.Cell(lat, lon)
	return m.domain.Admissible(cell) != cell
}
