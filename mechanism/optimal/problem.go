package optimal

import (
	"errors"
	"fmt"
	"math"
)

// Bounds on the number of places, and of outputs. For more than some hundred places
// the constraints of all pairs need more memory than [Solve] takes, so that there must be a
// dilation above 1.
const (
	MinPlaces  = 2
	MaxPlaces  = 1024
	MaxOutputs = 1024
)

// minExponent is the least epsilon*distance of two places: e^minExponent must differ from
// 1 by far more than a rounding error.
const minExponent = 0x1p-30

// A Problem asks for the mechanism from n places, the secrets, to outputs that loses least
// on average among the private ones: thesis, definition 6.1. The outputs are often
// the places themselves.
type Problem struct {
	// Prior has a weight for each place: how often it is the secret. None is negative, and
	// some are above 0. Only ratios matter. It is public. The optimum rests on it, privacy
	// does not: a place of weight 0 is protected like any other.
	Prior []float64

	// Quality is the loss dQ(x,z) of output z for secret x, not negative: a row for each
	// place, a column for each of 1 to 1,024 outputs.
	Quality Matrix

	// Privacy is the metric dX on the places. Its numbers are taken as the rationals that they are: a
	// distance that is rounded up weakens the promise.
	Privacy Matrix

	// Epsilon is positive, per unit of Privacy, and taken as the rational that it is:
	// [exact.RateFloor] returns one that is not above a given rational.
	Epsilon float64
}

// check returns an error if p is wrong.
func (p Problem) check() error {
	n := len(p.Prior)
	if err := checkPrivacy(p.Epsilon, p.Privacy, n); err != nil {
		return err
	}
	if err := checkOutputs(p.Quality.columns()); err != nil {
		return err
	}
	if err := p.Quality.check("quality loss", n, p.Quality.columns()); err != nil {
		return err
	}
	return checkPrior(p.Prior)
}

// checkOutputs returns an error unless a mechanism can have so many outputs.
func checkOutputs(n int) error {
	if n < 1 || n > MaxOutputs {
		return fmt.Errorf("%d outputs: want 1 to %d", n, MaxOutputs)
	}
	return nil
}

// checkPrior returns an error if the weights of a prior are wrong.
func checkPrior(prior []float64) error {
	sum := 0.0
	for x, w := range prior {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("prior weight of place %d is %g, not a finite number >= 0", x, w)
		}
		sum += w
	}
	switch {
	case sum == 0:
		return errors.New("prior weights are all 0")
	case math.IsInf(sum, 1):
		return fmt.Errorf("prior weights add up to more than %g", math.MaxFloat64)
	}
	return nil
}

// checkPrivacy returns an error if epsilon or the privacy metric is wrong
// on n places.
func checkPrivacy(epsilon float64, d Matrix, n int) error {
	if n < MinPlaces || n > MaxPlaces {
		return fmt.Errorf("%d places: want %d to %d", n, MinPlaces, MaxPlaces)
	}
	if !(epsilon > 0 && epsilon <= math.MaxFloat64) {
		return fmt.Errorf("epsilon %g is not a positive number", epsilon)
	}
	if err := d.checkMetric("privacy distance", n); err != nil {
		return err
	}
	for x, row := range d {
		for z, v := range row[:x] {
			if epsilon*v < minExponent {
				return fmt.Errorf("places %d and %d are too close for epsilon: epsilon times distance is %g, below 2^-30", z, x, epsilon*v)
			}
		}
	}
	return nil
}

// probabilities returns the weights divided by their sum.
func probabilities(weights []float64) []float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	p := make([]float64, len(weights))
	for x, w := range weights {
		p[x] = w / sum
	}
	return p
}
