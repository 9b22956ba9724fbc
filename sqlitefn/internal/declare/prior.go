package declare

import (
	"fmt"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argPriorLat    = &frame.Arg{Name: "lat", Is: "latitude of a place, degrees (**public** from now on)", Kind: frame.OrNull(frame.Latitude)}
	argPriorLon    = &frame.Arg{Name: "lon", Is: "longitude of a place, degrees (**public** from now on)", Kind: frame.OrNull(frame.Longitude)}
	argPriorWeight = &frame.Arg{Name: "weight", Is: "how often people are at the place, above 0; only ratios matter (**public** from now on)", Kind: frame.Positive}

	argPriorName = &frame.Arg{Name: "name", Is: "TEXT", Kind: frame.Name}
	argPrior     = &frame.Arg{Name: "prior", Is: "BLOB that prior_build or geoind_prior returned", Kind: frame.AnswerOf("prior_build or geoind_prior", "there was no place to build it from")}
)

var priorFunctions = []*frame.Function{
	{
		Name: "prior_build", Section: frame.DeclaredByOwner, Returns: "BLOB", Flags: frame.OwnerOnly, Reads: true,
		Args: []*frame.Arg{argPriorLat, argPriorLon, argPriorWeight, frame.ArgDomain},
		Does: "Builds a prior, a public belief about where people are, from places with weights; returns a BLOB for prior_store.",
		Notes: "**A prior is public, and building it adds no noise: building it from secrets releases them.** " +
			"A place is the lattice point of its location; rows with the same one add up. There are at most 1048576 places. The order of rows does not matter. " +
			"A row with NULL as location contributes nothing; if there is no other row, the result is NULL. domain must be constant within a group.",
		Examples: []string{
			"WITH square(lat, lon, visitors) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT typeof(prior_build(lat, lon, visitors, 'haidian')) FROM square",
		},
		Aggregate: newPriorGroup,
	},
	{
		Name: "prior_store", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argPriorName, argPrior},
		Does: "Stores a prior under a name, for geoind_remap.",
		Notes: "Returns one line. **A prior is public**: its places and weights can be read. " +
			"A prior cannot change; storing it again unchanged is harmless.",
		Examples: []string{
			"WITH square(lat, lon, visitors) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT prior_store('squares', prior_build(lat, lon, visitors, 'haidian')) FROM square",
		},
		Scalar: priorStore,
	},
}

// priorGroup builds a prior. Nothing is charged or drawn, since the prior makes its places
// public.
type priorGroup struct {
	builder *planar.PriorBuilder
	places  bool
}

func newPriorGroup(*frame.Session) frame.Group { return new(priorGroup) }

func (g *priorGroup) Begin(c frame.Call) error {
	domain, err := declared.Domain(c, frame.ArgDomain)
	if err == nil {
		g.builder = planar.NewPriorBuilder(domain)
	}
	return err
}

func (g *priorGroup) Row(c frame.Call) error {
	if lat, lon, absent := c.Location(argPriorLat, argPriorLon); !absent {
		g.builder.Add(lat, lon, c.Number(argPriorWeight))
		g.places = true
	}
	return nil
}

// Final answers the prior, or NULL if no row had a location.
func (g *priorGroup) Final(c frame.Call) error {
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
func priorStore(c frame.Call) error {
	s, name, data := c.Session, c.Text(argPriorName), c.Bytes(argPrior)
	prior, err := planar.ParsePrior(data, declared.DomainResolver(s))
	if err != nil {
		return c.Errorf(argPrior, "cannot be used: %v", err)
	}
	if err := declared.Priors.Store(s, name, data); err != nil {
		return err
	}
	c.ResultString(0, fmt.Sprintf("prior '%s': %d places in domain '%s'; it is public: building it from secrets releases them",
		name, prior.Len(), prior.Domain().Name()))
	return nil
}
