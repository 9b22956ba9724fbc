package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/mechanism/planar"
)

var (
	argPriorLat    = &argument{name: "lat", is: "latitude of a place, degrees (**public** from now on)", kind: orNull(kindLatitude)}
	argPriorLon    = &argument{name: "lon", is: "longitude of a place, degrees (**public** from now on)", kind: orNull(kindLongitude)}
	argPriorWeight = &argument{name: "weight", is: "how often people are at the place, above 0; only ratios matter (**public** from now on)", kind: kindPositive}

	argPriorName = &argument{name: "name", is: "TEXT", kind: kindName}
	argPrior     = &argument{name: "prior", is: "BLOB that prior_build returned", kind: answerOf("prior_build", "there was no place to build it from")}
)

var priorFunctions = []*function{
	&function{
		name: "prior_build", section: declared, flags: ownerOnly, reads: true,
		args: []*argument{argPriorLat, argPriorLon, argPriorWeight, argDomain},
		does: "Builds a prior, a public belief about where people are, from places with weights; returns a BLOB for prior_store.",
		notes: "**A prior is public, and building it adds no noise: building it from secrets releases them.** " +
			"A place is the lattice point of its location; rows with the same one add up. There are at most 1048576 places. The order of rows does not matter. " +
			"A row whose location is NULL contributes nothing; if there is no other row, the result is NULL. domain must be constant within a group. Charges nothing.",
		example: []string{
			"WITH square(lat, lon, visitors) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT typeof(prior_build(lat, lon, visitors, 'haidian')) FROM square",
		},
		aggregate: newPriorGroup,
	},
	&function{
		name: "prior_store", section: declared, flags: ownerOnly,
		args: []*argument{argPriorName, argPrior},
		does: "Stores a prior under a name, for geoind_remap.",
		notes: "Returns one line. **A prior is public**: its places and weights can be read. " +
			"A prior cannot change; storing it again unchanged is harmless.",
		example: []string{
			"WITH square(lat, lon, visitors) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT prior_store('squares', prior_build(lat, lon, visitors, 'haidian')) FROM square",
		},
		scalar: priorStore,
	},
}

// priorGroup builds a prior. Nothing is charged or drawn, since the prior makes its places
// public.
type priorGroup struct {
	builder *planar.PriorBuilder
	places  bool
}

func newPriorGroup(*session) group { return new(priorGroup) }

func (g *priorGroup) begin(c call) error {
	domain, err := c.domain(argDomain)
	if err == nil {
		g.builder = planar.NewPriorBuilder(domain)
	}
	return err
}

func (g *priorGroup) row(c call) error {
	if lat, lon, absent := c.location(argPriorLat, argPriorLon); !absent {
		g.builder.Add(lat, lon, c.number(argPriorWeight))
		g.places = true
	}
	return nil
}

// final answers the prior, or NULL if no row had a location.
func (g *priorGroup) final(c call) error {
	if !g.places {
		return nil
	}
	prior, err := g.builder.Prior()
	if err != nil {
		return err
	}
	data, err := prior.AppendBinary(nil)
	if err != nil {
		return err
	}
	c.ResultBlob(0, data)
	return nil
}

// priorStore stores a prior under a name.
func priorStore(c call) error {
	s, name, data := c.session, c.text(argPriorName), c.bytes(argPrior)
	prior, err := planar.ParsePrior(data, s.resolveDomain)
	if err != nil {
		return c.argErrorf(argPrior, "cannot be used: %v", err)
	}
	if err := storedPriors.store(s, name, data); err != nil {
		return err
	}
	c.ResultString(0, fmt.Sprintf("prior '%s': %d places in domain '%s'; it is public: building it from secrets releases them",
		name, prior.Len(), prior.Domain().Name()))
	return nil
}

var storedPriors = blobs{kind: "prior", table: "geosql_prior", column: "prior"}

var priors = newMemo[string, *planar.Prior]()

// prior returns the prior that an argument names.
func (c call) prior(a *argument) (*planar.Prior, error) {
	data, err := storedPriors.read(c.session, c.text(a))
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, c.undeclared(a, "prior")
	}
	p, err := parseStored(c.session, priors, data, planar.ParsePrior, (*planar.Prior).Domain)
	if err != nil {
		return nil, fmt.Errorf("prior %s: %w", quoted(c.bytes(a)), err)
	}
	return p, nil
}
