package optimal

import (
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/optimal"
)

// Settings are those of a study.
type Settings struct {
	Epsilon   float64   // per unit
	Dilations []float64 // of the optimal mechanism's spanners; 1 means all constraints
	Gap       float64   // between the loss and its lower bound at which a solver stops
}

// A Place is a secret and an output, in units to the east and to the north of any
// origin. Only the ratios of weights matter.
type Place struct{ X, Y, Weight float64 }

// Check returns an error if the settings are invalid.
func (s *Settings) Check() error {
	switch {
	case !(s.Epsilon > 0 && s.Epsilon <= math.MaxFloat64):
		return fmt.Errorf("epsilon must be above 0, not %v", s.Epsilon)
	case !(s.Gap > 0 && s.Gap < 1):
		return fmt.Errorf("gap must be between 0 and 1, not %v", s.Gap)
	case len(s.Dilations) == 0:
		return errors.New("dilation must be given")
	}
	for _, x := range s.Dilations {
		if !(x >= 1 && x <= math.MaxFloat64) {
			return fmt.Errorf("dilation must be at least 1, not %v", x)
		}
	}
	return nil
}

// checkPlaces returns an error for places that no mechanism can be made for.
func checkPlaces(places []Place) error {
	if n := len(places); n < optimal.MinPlaces || n > optimal.MaxPlaces {
		return fmt.Errorf("there must be %d to %d places, not %d", optimal.MinPlaces, optimal.MaxPlaces, n)
	}
	for k, p := range places {
		if !(p.Weight >= 0 && p.Weight <= math.MaxFloat64) {
			return fmt.Errorf("the weight of place %d must be 0 or more, not %v", k+1, p.Weight)
		}
	}
	return nil
}

// distances returns the distances of all pairs of places.
func distances(places []Place) (optimal.Matrix, error) {
	d := optimal.NewMatrix(len(places), len(places))
	for x, p := range places {
		for z, q := range places[:x] {
			d[x][z] = math.Hypot(p.X-q.X, p.Y-q.Y)
			d[z][x] = d[x][z]
			switch {
			case d[x][z] == 0:
				return nil, fmt.Errorf("places %d and %d are the same", z+1, x+1)
			case math.IsInf(d[x][z], 1):
				return nil, fmt.Errorf("places %d and %d are too far from each other", z+1, x+1)
			}
		}
	}
	return d, nil
}
