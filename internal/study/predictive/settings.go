package predictive

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/geosql/geosql/mechanism/trace"
)

// Settings are those of a study: every manager with every skip speed, every predictor
// and every jump.
type Settings struct {
	Epsilon    float64   // of a run, per metre
	Managers   []string  // trace.FixedRate, trace.FixedUtility
	Steps      int64     // points planned by the fixed-rate manager
	Alpha      float64   // accuracy of the fixed-utility manager's noise, in metres
	SkipSpeeds []float64 // metres per second; with 0 every prediction is tested
	Predictors []string  // trace.Parrot, trace.Linear, trace.Mixture
	Jumps      []float64 // probabilities that the next query is an hour away
	Repeat     int       // how often each track is sampled
}

func (s *Settings) check() error {
	if s.Repeat < 1 {
		return fmt.Errorf("repeat must be at least 1, not %d", s.Repeat)
	}
	for _, p := range s.Jumps {
		if !(0 <= p && p <= 1) {
			return fmt.Errorf("jump must be between 0 and 1, not %v", p)
		}
	}
	return nil
}

// A variant is a budget manager with the mechanisms that use it.
type variant struct {
	manager     string
	independent *trace.Mechanism
	predictive  []*trace.Mechanism // in the order of the rows
}

// variants returns the variants of the settings.
func (s *Settings) variants(space trace.Space) (variants []variant, err error) {
	for _, manager := range s.Managers {
		v := variant{manager: manager}
		if v.independent, err = s.mechanism(space, trace.Independent, manager, nil); err != nil {
			return nil, err
		}
		for _, speed := range s.SkipSpeeds {
			for _, predictor := range s.Predictors {
				m, err := s.mechanism(space, trace.Predictive, manager, map[string]any{
					"predictor": predictor, "skip_speed": speed,
				})
				if err != nil {
					return nil, err
				}
				v.predictive = append(v.predictive, m)
			}
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// mechanism returns a mechanism, with its defaults for settings that the study lacks.
func (s *Settings) mechanism(space trace.Space, name, manager string, more map[string]any) (*trace.Mechanism, error) {
	policy := map[string]any{"epsilon": s.Epsilon, "manager": manager}
	if manager == trace.FixedRate {
		policy["steps"] = s.Steps
	} else {
		policy["alpha"] = s.Alpha
	}
	maps.Copy(policy, more)
	text, err := json.Marshal(policy)
	if err != nil { // infinite or not a number
		return nil, err
	}
	p, err := trace.ParsePolicy(name, text)
	if err != nil {
		return nil, err
	}
	return trace.New(space, p)
}
