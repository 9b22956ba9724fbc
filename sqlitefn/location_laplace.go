package sqlitefn

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/planar"
)

// geoindLaplace releases a location with the planar Laplace mechanism.
var geoindLaplace = &locationRelease{
	epsilon: locationNext,
	name:    locationNext + 1,
	mechanism: func(s *session, c call, public locationArgs) (mechanism.Location, error) {
		domain, err := s.domain(c, locationNext+1)
		if err != nil {
			return nil, err
		}
		return s.laplace(domain, public.epsilon)
	},
}

type laplaceKey struct {
	domain  *planar.Domain
	epsilon float64
}

// laplace returns the planar Laplace mechanism of a domain at epsilon per metre.
func (s *session) laplace(domain *planar.Domain, epsilon float64) (*planar.Laplace, error) {
	key := laplaceKey{domain, epsilon}
	if l := s.laplaces[key]; l != nil {
		return l, nil
	}
	l, err := domain.Laplace(budget.Decimal(epsilon))
	if err == nil {
		remember(s.laplaces, key, l)
	}
	return l, err
}
