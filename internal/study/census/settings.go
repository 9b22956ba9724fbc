package census

import (
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/internal/study/noise"
)

// MetresPerMile is the length of the international mile.
const MetresPerMile = 1609.344

// A Setting states how well homes are protected.
type Setting struct {
	// Level is the privacy level l: for homes within Radius the probabilities of a
	// released one differ by a factor of at most e^l (thesis, section 5.1).
	Level  float64
	Radius float64 // miles
}

// Published are the settings of figure 5.13. The levels of part (a) appear only in the
// picture; here they are those of table 5.1.
var Published = []Setting{
	{math.Ln2, 1.22}, {math.Log(4), 1.22}, {math.Log(6), 1.22},
	{2.15, 3.86}, {4.3, 3.86}, {8.6, 3.86},
}

// Each returns the settings for every radius with every level; levels run fastest.
func Each(levels, radii []float64) (settings []Setting) {
	for _, radius := range radii {
		for _, level := range levels {
			settings = append(settings, Setting{level, radius})
		}
	}
	return settings
}

// Epsilon returns the epsilon of a home, per metre.
func (s Setting) Epsilon() float64 { return s.Level / s.Radius / MetresPerMile }

// Check returns an error if the settings are invalid.
func Check(settings []Setting) error {
	if len(settings) == 0 {
		return errors.New("level and radius must be given")
	}
	for _, s := range settings {
		switch e := s.Epsilon(); {
		case !(s.Level > 0 && s.Level <= math.MaxFloat64):
			return fmt.Errorf("level must be above 0, not %v", s.Level)
		case !(s.Radius > 0 && s.Radius <= math.MaxFloat64):
			return fmt.Errorf("radius must be above 0, not %v", s.Radius)
		case !(e >= noise.MinEpsilon && e <= noise.MaxEpsilon):
			return fmt.Errorf("level %v within %v miles is an epsilon of %.3g per metre, which must be between 1e-9 and 1000", s.Level, s.Radius, e)
		}
	}
	return nil
}
