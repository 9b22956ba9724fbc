package cip

import (
	"encoding/json"
	"fmt"

	"github.com/geosql/geosql/mechanism/cip"
)

// Settings are those of a study: a row for each family, length scale and variance of the
// noise.
type Settings struct {
	Times []float64 // of the points, all different, in any order

	Kernel   string  // as in a policy's text
	Variance float64 // of a coordinate under the prior
	Period   float64 // of a periodic kernel; 0 for others

	LengthScales []float64
	Maxima       bool // whether each stands for all length scales up to it

	Radius, Lambda float64
	Families       []string // as in a policy's text: names, or lists of indices as JSON
	Sigma2         []float64
}

// checkTimes returns an error if the times are invalid.
func (s *Settings) checkTimes() error {
	text, err := json.Marshal(s.Times)
	if err == nil {
		_, err = cip.ParseTimes(string(text))
	}
	return err
}

// policy returns the policy of one row. It parses the policy's text, which checks it.
func (s *Settings) policy(family string, lengthScale, sigma2 float64) (cip.Policy, error) {
	values := map[string]any{
		"kernel": s.Kernel, "variance": s.Variance, "radius": s.Radius, "lambda": s.Lambda,
		"sigma2": sigma2, "family": family,
	}
	if json.Valid([]byte(family)) { // not a name
		values["family"] = json.RawMessage(family)
	}
	if s.Period != 0 {
		values["period"] = s.Period
	}
	if s.Maxima {
		values["length_scale_max"] = lengthScale
	} else {
		values["length_scale"] = lengthScale
	}
	text, err := json.Marshal(values)
	if err != nil {
		return cip.Policy{}, fmt.Errorf("a number cannot be used: %w", err)
	}
	return cip.ParsePolicy(string(text))
}
