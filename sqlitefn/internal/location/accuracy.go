package location

import (
	"math"
	"math/big"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argLevel      = &frame.Arg{Name: "level", Is: "level of distinguishability allowed within the radius, such as 1.386 (ln 4: a factor of 4)", Kind: frame.Positive}
	argWithin     = &frame.Arg{Name: "radius_m", Is: "radius, metres", Kind: frame.Positive}
	argRadius     = &frame.Arg{Name: "radius_m", Is: argWithin.Is, Kind: frame.NotNegative}
	argHolds      = &frame.Arg{Name: "p", Is: "probability, 0 <= p < 1", Kind: frame.Probability}
	argConfidence = &frame.Arg{Name: "confidence", Is: "probability that everything of interest is found, 0 <= c < 1", Kind: frame.Probability}
	argInterest   = &frame.Arg{Name: "radius_m", Is: "radius of interest around the true location, metres", Kind: frame.NotNegative}
	argNoise      = &frame.Arg{Name: "mechanism", Is: "'" + strings.Join(planar.Mechanisms(), "', '") + "': which noise; 'laplace' if it is not given. For 'gauss', epsilon stands for rho per square metre", Kind: frame.Text, Optional: true}
	argBetween    = &frame.Arg{Name: "distance_m", Is: "how far two locations are apart, metres", Kind: frame.NotNegative}
	argFrame      = &frame.Arg{Name: "domain", Is: "name of a domain; its lattice and frame are taken into account", Kind: frame.Text, Optional: true}
)

var accuracyFunctions = []*frame.Function{
	{
		Name: "geoind_epsilon", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args:     []*frame.Arg{argLevel, argWithin},
		Does:     "Returns the epsilon per metre that allows this level within this radius: level/radius_m.",
		Examples: []string{"SELECT geoind_epsilon(1.386, 200)"},
		Scalar:   geoindEpsilon,
	},
	{
		Name: "geoind_factor", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args:     []*frame.Arg{frame.ArgEpsMetre, argBetween},
		Does:     "Returns how much likelier an answer may be from one location than from another at this distance: e^(epsilon*distance_m).",
		Accuracy: "rounded up",
		Notes:    "Locations are first moved to the lattice: add a cell's diagonal to their distance for what a release on a domain may reveal.",
		Examples: []string{"SELECT geoind_factor(0.005, 200)"},
		Scalar:   geoindFactor,
	},
	{
		Name: "geoind_radius", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{frame.ArgEpsMetre, argHolds, argFrame, argNoise},
		Does:     "Returns the radius in metres around the true location that contains the released point with probability p.",
		Accuracy: frame.RadiusAccuracy,
		Examples: []string{"SELECT geoind_radius(0.005, 0.95)", "SELECT geoind_radius(0.005, 0.95, 'beijing')"},
		Notes:    "Without a domain it describes the continuous mechanism; with one it adds half a cell's diagonal (for 'gauss', 0.013 steps more) and the frame's scale error.",
		Scalar:   geoindRadius,
	},
	{
		Name: "geoind_epsilon_for", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{argWithin, argHolds, argFrame, argNoise},
		Does:     "Returns the smallest epsilon per metre with which the released point lies within a radius of the true location with probability p.",
		Accuracy: frame.EpsilonAccuracy,
		Notes: "The inverse of geoind_radius. " +
			"On a domain a radius that its lattice does not allow, whatever epsilon is, is an error that says the least.",
		Examples: []string{"SELECT geoind_epsilon_for(500, 0.95)", "SELECT geoind_epsilon_for(2000, 0.95, 'beijing')"},
		Scalar:   geoindEpsilonFor,
	},
	{
		Name: "geoind_confidence", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{frame.ArgEpsMetre, argRadius, argFrame, argNoise},
		Does:     "Returns the probability that the released point lies within a radius of the true location.",
		Notes:    "The inverse of geoind_radius.",
		Examples: []string{"SELECT geoind_confidence(0.005, 1000)"},
		Scalar:   geoindConfidence,
	},
	{
		Name: "lbs_radius", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{frame.ArgEpsMetre, argConfidence, argInterest, argFrame, argNoise},
		Does:     "Returns the radius in metres around the released point to ask a location service for.",
		Accuracy: frame.RadiusAccuracy,
		Notes: "The radius depends on the arguments only, never on the noise: a radius that followed the distance between the true location and the released point " +
			"would reveal the true location.",
		Examples: []string{"SELECT lbs_radius(0.005, 0.95, 300)"},
		Scalar:   lbsRadius,
	},
}

// geoindEpsilon divides the decimals that people wrote: 1.4/200 is 0.007, and not the quotient of floats.
func geoindEpsilon(c frame.Call) error {
	eps, _ := new(big.Rat).Quo(c.Decimal(argLevel), c.Decimal(argWithin)).Float64()
	if eps == 0 || math.IsInf(eps, 0) {
		return c.Errorf(argLevel, "divided by radius_m is not a number that a float can hold")
	}
	c.ResultFloat(0, eps)
	return nil
}

func geoindFactor(c frame.Call) error {
	factor := budget.Factor(c.Decimal(frame.ArgEpsMetre), c.Decimal(argBetween))
	if math.IsInf(factor, 1) {
		return c.Errorf(argBetween, "times epsilon allows a factor that no float can hold")
	}
	c.ResultFloat(0, factor)
	return nil
}

// law returns how far the mechanism that the call names moves locations, and the domain that
// the call names. Without a domain, which is nil then, it describes the continuous mechanism.
func law(c frame.Call) (law *planar.Law, d *planar.Domain, err error) {
	law = planar.LaplaceLaw
	if c.Given(argNoise) {
		if law, err = planar.LawOf(c.Text(argNoise)); err != nil {
			return nil, nil, c.Errorf(argNoise, "%w", err)
		}
	}
	if c.Given(argFrame) {
		d, err = declared.Domain(c, argFrame)
	}
	return law, d, err
}

// accuracy returns how far the mechanism moves locations at the epsilon of the call.
func accuracy(c frame.Call) (planar.Accuracy, error) {
	law, d, err := law(c)
	switch {
	case err != nil:
		return planar.Accuracy{}, err
	case d == nil:
		return law.Plane(c.Number(frame.ArgEpsMetre)), nil
	}
	return law.On(d, c.Decimal(frame.ArgEpsMetre)), nil
}

func geoindEpsilonFor(c frame.Call) error {
	law, d, err := law(c)
	if err != nil {
		return err
	}
	eps, err := law.EpsilonFor(d, c.Number(argWithin), c.Number(argHolds))
	if err != nil {
		return c.Errorf(argWithin, "%w", err)
	}
	c.ResultEpsilon(eps)
	return nil
}

func geoindRadius(c frame.Call) error {
	a, err := accuracy(c)
	if err != nil {
		return err
	}
	r, err := a.Radius(c.Number(argHolds))
	if err != nil {
		return err
	}
	c.ResultRadius(r)
	return nil
}

func geoindConfidence(c frame.Call) error {
	a, err := accuracy(c)
	if err != nil {
		return err
	}
	c.ResultFloat(0, a.Confidence(c.Number(argRadius)))
	return nil
}

func lbsRadius(c frame.Call) error {
	a, err := accuracy(c)
	if err != nil {
		return err
	}
	r, err := a.RetrievalRadius(c.Number(argConfidence), c.Number(argInterest))
	if err != nil {
		return err
	}
	c.ResultRadius(r)
	return nil
}
