package sqlitefn

import (
	"math"
	"strings"

	"github.com/geosql/geosql/mechanism/planar"
)

var (
	argLevel      = &argument{name: "level", is: "level of distinguishability allowed within the radius, such as 1.386 (ln 4: a factor of 4)", kind: kindPositive}
	argWithin     = &argument{name: "radius_m", is: "radius, metres", kind: kindPositive}
	argRadius     = &argument{name: "radius_m", is: argWithin.is, kind: kindNotNegative}
	argHolds      = &argument{name: "p", is: "probability, 0 <= p < 1", kind: kindProbability}
	argConfidence = &argument{name: "confidence", is: "probability that everything of interest is found, 0 <= c < 1", kind: kindProbability}
	argInterest   = &argument{name: "radius_m", is: "radius of interest around the true location, metres", kind: kindNotNegative}
	argNoise      = &argument{name: "mechanism", is: "'" + strings.Join(planar.Mechanisms(), "', '") + "': which noise; 'laplace' if it is not given. For 'gauss', epsilon stands for rho per square metre", kind: kindText, optional: true}
	argFrame      = &argument{name: "domain", is: "name of a domain whose lattice and frame are taken into account", kind: kindText, optional: true}
)

var accuracyOfLocations = []*function{
	&function{
		name: "geoind_epsilon", section: free, flags: pure,
		args:    []*argument{argLevel, argWithin},
		does:    "Returns the epsilon per metre that allows this level within this radius: level/radius_m.",
		example: []string{"SELECT geoind_epsilon(1.386, 200)"},
		scalar:  geoindEpsilon,
	},
	&function{
		name: "geoind_radius", section: free,
		args:    []*argument{argEpsMetre, argHolds, argFrame, argNoise},
		does:    "Returns the radius in metres around the true location that contains the released point with probability p.",
		example: []string{"SELECT geoind_radius(0.005, 0.95)", "SELECT geoind_radius(0.005, 0.95, 'beijing')"},
		notes:   "Without a domain it describes the continuous mechanism; with one it adds half a cell's diagonal (for 'gauss', 0.013 steps more) and the frame's scale error.",
		scalar:  geoindRadius,
	},
	&function{
		name: "geoind_epsilon_for", section: free,
		args: []*argument{argWithin, argHolds, argFrame, argNoise},
		does: "Returns the smallest epsilon per metre with which the released point lies within a radius of the true location with probability p.",
		notes: "The inverse of geoind_radius. " + leastEpsilonNote +
			"On a domain a radius that its lattice does not allow, whatever epsilon is, is an error that says the least.",
		example: []string{"SELECT geoind_epsilon_for(500, 0.95)", "SELECT geoind_epsilon_for(2000, 0.95, 'beijing')"},
		scalar:  geoindEpsilonFor,
	},
	&function{
		name: "geoind_confidence", section: free,
		args:    []*argument{argEpsMetre, argRadius, argFrame, argNoise},
		does:    "Returns the probability that the released point lies within a radius of the true location.",
		notes:   "The inverse of geoind_radius.",
		example: []string{"SELECT geoind_confidence(0.005, 1000)"},
		scalar:  geoindConfidence,
	},
	&function{
		name: "lbs_radius", section: free,
		args: []*argument{argEpsMetre, argConfidence, argInterest, argFrame, argNoise},
		does: "Returns the radius in metres around the released point to ask a location service for.",
		notes: "The radius depends on the arguments only, never on the noise: a radius that followed the distance between the true location and the released point " +
			"would reveal the true location.",
		example: []string{"SELECT lbs_radius(0.005, 0.95, 300)"},
		scalar:  lbsRadius,
	},
}

func geoindEpsilon(c call) error {
	eps := c.number(argLevel) / c.number(argWithin)
	if eps == 0 || math.IsInf(eps, 0) {
		return c.argErrorf(argLevel, "divided by radius_m is not a number that a float can hold")
	}
	c.ResultFloat(0, eps)
	return nil
}

// law returns how far the mechanism that the call names moves locations, and the domain that
// the call names. Without a domain, which is nil then, it describes the continuous mechanism.
func (c call) law() (law *planar.Law, d *planar.Domain, err error) {
	law = planar.LaplaceLaw
	if c.given(argNoise) {
		if law, err = planar.LawOf(c.text(argNoise)); err != nil {
			return nil, nil, c.argErrorf(argNoise, "%w", err)
		}
	}
	if c.given(argFrame) {
		d, err = c.domain(argFrame)
	}
	return law, d, err
}

// accuracy returns how far the mechanism moves locations at the epsilon of the call.
func (c call) accuracy() (planar.Accuracy, error) {
	law, d, err := c.law()
	switch {
	case err != nil:
		return planar.Accuracy{}, err
	case d == nil:
		return law.Plane(c.number(argEpsMetre)), nil
	}
	return law.On(d, c.decimal(argEpsMetre)), nil
}

func geoindEpsilonFor(c call) error {
	law, d, err := c.law()
	if err != nil {
		return err
	}
	eps, err := law.EpsilonFor(d, c.number(argWithin), c.number(argHolds))
	if err != nil {
		return c.argErrorf(argWithin, "%w", err)
	}
	c.resultEpsilon(eps)
	return nil
}

func geoindRadius(c call) error {
	a, err := c.accuracy()
	if err != nil {
		return err
	}
	r, err := a.Radius(c.number(argHolds))
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
	return nil
}

func geoindConfidence(c call) error {
	a, err := c.accuracy()
	if err != nil {
		return err
	}
	c.ResultFloat(0, a.Confidence(c.number(argRadius)))
	return nil
}

func lbsRadius(c call) error {
	a, err := c.accuracy()
	if err != nil {
		return err
	}
	r, err := a.RetrievalRadius(c.number(argConfidence), c.number(argInterest))
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
	return nil
}
