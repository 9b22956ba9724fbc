package meters

import (
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
)

// Settings are those of a study.
type Settings struct {
	Universe *scalar.Universe
	Epsilons []float64 // per unit of the universe; of a reading, or of a sum
	Repeat   int       // how often every signature and every sum is released

	// Only for signatures.
	Window  time.Duration // length of a signature
	Period  time.Duration // between two reports; divides Window
	Windows int           // greatest number of signatures of a device

	// Only for predictions.
	Alphas []float64 // accuracies of the noise, in the unit
	Etas   []float64 // ratios of an accuracy to that of its test
}

// maxSamples bounds the reports of a signature.
const maxSamples = 10_000

func (s *Settings) check() error {
	switch {
	case len(s.Epsilons) == 0:
		return errors.New("epsilon must be given")
	case s.Repeat < 1:
		return fmt.Errorf("repeat must be at least 1, not %d", s.Repeat)
	case s.Windows < 1:
		return fmt.Errorf("windows must be at least 1, not %d", s.Windows)
	case s.Period < time.Microsecond:
		return fmt.Errorf("period must be at least a microsecond, not %v", s.Period)
	case s.Window%s.Period != 0 || s.Window/s.Period < 2 || s.Window/s.Period > maxSamples:
		return fmt.Errorf("window must be 2 to %d whole periods of %v, not %v", maxSamples, s.Period, s.Window)
	}
	return nil
}

// samples returns the number of reports in a signature.
func (s *Settings) samples() int { return int(s.Window / s.Period) }

// A mechanism releases an aggregate at one epsilon.
type mechanism struct {
	epsilon float64
	query   *scalar.Query
	radius  float64 // within which a release stays with probability Confidence
}

// Confidence is the probability that a radius is promised with.
const Confidence = 0.95

// mechanisms returns one for each epsilon.
func (s *Settings) mechanisms(agg scalar.Aggregate) (all []mechanism, err error) {
	for _, epsilon := range s.Epsilons {
		m := mechanism{epsilon: epsilon}
		if m.query, err = scalar.NewQuery(agg, s.Universe, budget.D1, budget.Decimal(epsilon)); err != nil {
			return nil, err
		}
		if m.radius, err = m.query.Radius(Confidence, 0); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
