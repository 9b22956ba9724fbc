package pim

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/geosql/geosql/mechanism/pim"
)

// Settings are those of a study.
type Settings struct {
	Epsilons []float64 // per step; other parameters vary at the first
	Deltas   []float64 // of the location sets; likewise
	MinSet   int       // least number of cells in a location set

	CellMetres float64       // side of a cell
	Period     time.Duration // of a step
	Break      time.Duration // the longest gap within a test trajectory
	Personal   bool          // a model for every user, instead of one for all
	KnownStart bool          // the first cell of every test trajectory is public

	Traces int   // greatest number of test trajectories
	Steps  int   // greatest number of steps of each
	Repeat int   // runs of each
	KNN    []KNN // queries at each step, if there are places
}

// A KNN is a query for the nearest places: the K nearest to the truth are wanted, and the
// Returned nearest to the report are returned (k and k' in the paper).
type KNN struct{ K, Returned int }

// String returns k/k'.
func (q KNN) String() string { return fmt.Sprintf("%d/%d", q.K, q.Returned) }

// MinSteps is the least number of steps of a test trajectory.
const MinSteps = 20

// mechanisms are the mechanisms compared, in the order of the rows.
var mechanisms = []string{pim.PIM, pim.Laplace, pim.LaplaceTight}

func (s *Settings) check(places int) error {
	switch {
	case len(s.Epsilons) == 0 || len(s.Deltas) == 0:
		return fmt.Errorf("epsilon and delta must be given")
	case s.Traces < 1:
		return fmt.Errorf("traces must be at least 1, not %d", s.Traces)
	case s.Steps < MinSteps:
		return fmt.Errorf("steps must be at least %d, not %d", MinSteps, s.Steps)
	case s.Repeat < 1:
		return fmt.Errorf("repeat must be at least 1, not %d", s.Repeat)
	case s.Period <= 0 || s.Period%time.Microsecond != 0:
		return fmt.Errorf("period must be a positive number of microseconds, not %v", s.Period)
	}
	if s.Break < s.Period {
		return fmt.Errorf("break must be at least the period of %v, not %v", s.Period, s.Break)
	}
	for _, q := range s.KNN {
		switch {
		case q.K < 1 || q.Returned < q.K:
			return fmt.Errorf("knn must be k/k' with 1 <= k <= k', not %v", q)
		case places > 0 && q.Returned > places:
			return fmt.Errorf("knn %v returns more than the %d places", q, places)
		}
	}
	return nil
}

// A setting is that of one row of each mechanism.
type setting struct {
	epsilon, delta float64
	policy         pim.Policy
}

// sweep returns the settings: every epsilon at the first delta, then the other deltas at the
// first epsilon.
func (s *Settings) sweep() (all []setting, err error) {
	for _, epsilon := range s.Epsilons {
		all = append(all, setting{epsilon: epsilon, delta: s.Deltas[0]})
	}
	for _, delta := range s.Deltas[1:] {
		all = append(all, setting{epsilon: s.Epsilons[0], delta: delta})
	}
	for k := range all {
		if all[k].policy, err = s.policy(all[k].epsilon, all[k].delta); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *Settings) policy(epsilon, delta float64) (pim.Policy, error) {
	text, err := json.Marshal(map[string]any{
		"model": "study", "epsilon": epsilon, "delta": delta, "min_set": s.MinSet,
	})
	if err != nil { // infinite or not a number
		return pim.Policy{}, err
	}
	return pim.ParsePolicy(text)
}
