package scalar

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
)

// EpsilonFor returns the smallest epsilon at which a query's Radius(p, rows) is at most
// radius, as [budget.LeastEpsilon] rounds it up; at returns the query for an epsilon. It
// returns an error if Radius does, if radius is not above 0, or if the largest epsilon has a
// larger radius. No radius grows with epsilon, but for a step or so where noise
// becomes a staircase; for averages of records that is not proved. The radius at the epsilon that is returned has been computed.
func EpsilonFor(radius, p float64, rows int64, at func(eps *big.Rat) (*Query, error)) (*big.Rat, error) {
	best, err := at(budget.Max.Rat())
	if err != nil {
		return nil, err
	}
	least, err := best.Radius(p, rows)
	if err != nil {
		return nil, err
	}
	if !(radius > 0) {
		return nil, errors.New("radius must be above 0")
	}
	eps, ok := budget.LeastEpsilon(func(eps *big.Rat) bool {
		q, err := at(eps)
		if err != nil {
			return false // the steps are too fine for an epsilon as small
		}
		r, err := q.Radius(p, rows)
		return err == nil && r <= radius
	})
	if !ok {
		return nil, fmt.Errorf("radius must be at least %v: no epsilon up to %v allows less", least, budget.Max)
	}
	return eps, nil
}
