package lbs

import (
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/internal/study/noise"
)

// Settings are those of the studies.
type Settings struct {
	// Levels are privacy levels l: for places within PrivacyRadius the probabilities
	// of a report differ by a factor of at most e^l (thesis, section 5.1).
	Levels         []float64
	PrivacyRadius  float64 // metres
	InterestRadius float64 // metres
	Confidences    []float64
	RowKB          float64 // size of the data about a POI
	Reports        int     // of every user; only for a Study
}

// A Place is a point of interest, or where a user is, in degrees.
type Place struct{ Lat, Lon float64 }

// Epsilon returns epsilon per metre at a level.
func (s *Settings) Epsilon(level float64) float64 { return level / s.PrivacyRadius }

// areaRatio returns the ratio of an area of retrieval to the area of interest.
func (s *Settings) areaRatio(retrieval float64) float64 {
	ratio := retrieval / s.InterestRadius
	return ratio * ratio
}

// Check returns an error if the settings are invalid.
func (s *Settings) Check() error {
	for _, x := range []struct {
		name  string
		value float64
	}{{"radius", s.PrivacyRadius}, {"interest", s.InterestRadius}, {"row-kb", s.RowKB}} {
		if !(x.value > 0 && x.value <= math.MaxFloat64) {
			return fmt.Errorf("%s must be above 0, not %v", x.name, x.value)
		}
	}
	switch {
	case s.Reports < 1:
		return fmt.Errorf("reports must be at least 1, not %d", s.Reports)
	case len(s.Levels) == 0:
		return errors.New("level must be given")
	case len(s.Confidences) == 0:
		return errors.New("confidence must be given")
	}
	for _, x := range s.Levels {
		if !(x > 0 && x <= math.MaxFloat64) {
			return fmt.Errorf("level must be above 0, not %v", x)
		}
		if e := s.Epsilon(x); !(e >= noise.MinEpsilon && e <= noise.MaxEpsilon) {
			return fmt.Errorf("level %v within %v m is an epsilon of %.3g per metre, which must be between 1e-9 and 1000", x, s.PrivacyRadius, e)
		}
	}
	for _, c := range s.Confidences {
		if !(c >= 0 && c < 1) {
			return fmt.Errorf("confidence must be at least 0 and less than 1, not %v", c)
		}
	}
	return nil
}
