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
	Metric   budget.Metric // D1 or DH
	Epsilons []float64     // per unit of the universe under D1, per record under DH
	Draws    int           // of every answer
}

// maxLast bounds the last index of a universe: the rank exponential mechanism visits all of its values.
const maxLast = 10_000_000

func (s *Settings) check() error {
	switch {
	case s.Metric != budget.D1 && s.Metric != budget.DH:
		return fmt.Errorf("metric must be d1 or dh, not %v", s.Metric)
	case len(s.Epsilons) == 0:
		return errors.New("epsilon must be given")
	case s.Draws < 1:
		return fmt.Errorf("draws must be at least 1, not %d", s.Draws)
	case s.Universe.Last() > maxLast:
		return fmt.Errorf("universe must have at most %d steps, not %d", maxLast, s.Universe.Last())
	}
	return nil
}
