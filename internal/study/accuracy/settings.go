package accuracy

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
)

// Settings are those of a study.
type Settings struct {
	Universe *scalar.Universe
	Metric   string    // d1 or dh; or d1/noise, d1/score or d1/window, with percentiles only
	Epsilons []float64 // per unit of the universe under d1, per record under dh
	Draws    int       // of every answer

	metric budget.Metric // of Metric
}

// maxLast bounds the last index of a universe: the rank exponential mechanism visits all of its values.
const maxLast = 10_000_000

func (s *Settings) check() (err error) {
	s.metric, _, err = scalar.ParseMetric(s.Metric, scalar.Median)
	switch {
	case err != nil:
		return err
	case s.metric != budget.D1 && s.metric != budget.DH:
		return fmt.Errorf("metric must be d1 or dh, not %v", s.metric)
	case len(s.Epsilons) == 0:
		return errors.New("epsilon must be given")
	case s.Draws < 1:
		return fmt.Errorf("draws must be at least 1, not %d", s.Draws)
	case s.Universe.Last() > maxLast:
		return fmt.Errorf("universe must have at most %d steps, not %d", maxLast, s.Universe.Last())
	}
	return nil
}
