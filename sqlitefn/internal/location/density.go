package location

import (
	"context"

	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argDensityLat = &frame.Arg{Name: "lat", Is: "latitude of a released point, degrees", Kind: frame.OrNull(frame.Latitude)}
	argDensityLon = &frame.Arg{Name: "lon", Is: "longitude of the point, degrees", Kind: frame.OrNull(frame.Longitude)}
	argDensityEps = &frame.Arg{Name: "epsilon", Is: "epsilon that each of the points was released with; for 'gauss', their rho", Kind: frame.Positive, Setting: true}
	argPriorEps   = &frame.Arg{Name: "epsilon", Is: "epsilon that each of the points was released with, per metre", Kind: frame.Positive, Setting: true}
	argDensityOn  = &frame.Arg{Name: "domain", Is: "name of the domain of the points; NULL for the only one", Kind: frame.OrNull(frame.Text), Setting: true}
	argPriorOn    = &frame.Arg{Name: "domain", Is: "name of the domain of the points; may be left out if only one is declared", Kind: frame.Text, Optional: true, Setting: true}
	argDensity    = &frame.Arg{Name: "cell_m", Is: "side of a square cell, metres: at most the box, and 65536 cells", Kind: frame.Positive, Setting: true}
	argDensityOf  = &frame.Arg{Name: "mechanism", Is: "which noise the points have, 'gauss', 'laplace' (if it is not given) or 'laplace_l1'", Kind: frame.Text, Optional: true, Setting: true}
)

// densityNotes holds for both functions.
const densityNotes = "It costs nothing, since it is computed from releases: noise spreads points by a law that is known, and this finds the population under which the points are likeliest (expectation maximisation), " +
	"in a number of steps that cross-validation chooses. **epsilon must be that of the points**, and the points independent of each other, as those of geoind_laplace are, but not those of predictive_step. Points of another epsilon need a group of their own. " +
	"The order of points makes no difference. Given true locations it answers about these, as avg does. A row with NULL as location contributes nothing. "

var densityFunctions = []*frame.Function{
	{
		Name: "geoind_density", Section: frame.Free, Returns: "TEXT", Scoped: true,
		Args:     []*frame.Arg{argDensityLat, argDensityLon, argDensityEps, argDensityOn, argDensity, argDensityOf},
		Does:     "Estimates how many true locations are in the cells of a grid, from released points, as GeoJSON.",
		Accuracy: "no error bars, as the points of one person are not independent of each other",
		Notes: densityNotes +
			"The answer is a FeatureCollection as that of dx_heatmap, over the same grid, with a count rounded to hundredths; cells with less than 0.005 are left out. The members cell_m, epsilon, points and steps say how it was made. " +
			"Choose cell_m by the purpose of the map, not by the points; cells much smaller than 1/epsilon only follow the noise. " +
			"With epsilon = ln 4 at 200 m and cells of 250 m the total variation from the truth is three quarters of that of the points themselves, and counts in squares of 1 km have half the error.",
		Examples: []string{
			"WITH released AS MATERIALIZED (SELECT g.lat, g.lon FROM (SELECT 39.98 AS lat, 116.31 AS lon UNION SELECT 39.99, 116.32) p, geoind_laplace('ana', p.lat, p.lon, 0.005, 'haidian') g) " +
				"SELECT value ->> '$.properties.count' AS count, value ->> '$.geometry.coordinates[0][0]' AS corner FROM json_each((SELECT geoind_density(lat, lon, 0.005, 'haidian', 1000) FROM released), '$.features') ORDER BY count DESC LIMIT 3",
		},
		Aggregate: newDensityGroup,
	}, {
		Name: "geoind_prior", Section: frame.Free, Returns: "BLOB", Scoped: true,
		Args:     []*frame.Arg{argDensityLat, argDensityLon, argPriorEps, argPriorOn},
		Does:     "Estimates where people are from released points, as a prior for prior_store and geoind_remap.",
		Accuracy: "no error bars, as the points of one person are not independent of each other",
		Notes: densityNotes +
			"The places are the middles of the cells of a grid: of 1/epsilon, or more where the domain's box would have more than 16384 of them. " +
			"With it geoind_remap moves the points of geoind_laplace, the very same or others of the domain, to where people probably are: see docs/accuracy.md for when that gains. Without a point the result is NULL.",
		Examples: []string{
			"WITH released(lat, lon) AS (VALUES (39.9871, 116.3004), (39.9793, 116.3161), (39.9912, 116.3152)) SELECT prior_store('around', geoind_prior(lat, lon, 0.005, 'haidian')) FROM released",
		},
		Aggregate: newPriorGroup,
	},
}

// planeKey identifies a law between cells.
type planeKey struct {
	latticeKey
	cellM float64 // 0 for priors
}

// A plane may take megabytes.
var planes = &frame.Memo[planeKey, *density.Plane]{Limit: 16}

// A densityGroup counts released points by where they are, and answers about the population behind them.
type densityGroup struct {
	session *frame.Session
	open    func(frame.Call) (*density.Plane, error)
	answer  func(frame.Call, *density.Population) error
	plane   *density.Plane
	points  map[int]int64 // by bin
}

func newDensityGroup(s *frame.Session) frame.Group {
	return &densityGroup{session: s, open: densityPlane, answer: func(c frame.Call, p *density.Population) error {
		c.ResultText(0, p.AppendGeoJSON(nil))
		return nil
	}}
}

func newPriorGroup(s *frame.Session) frame.Group {
	return &densityGroup{session: s, open: priorPlane, answer: func(c frame.Call, p *density.Population) error {
		if p.Points() == 0 {
			return nil
		}
		prior, err := p.Prior()
		if err != nil {
			return err
		}
		data, err := prior.AppendBinary(nil)
		c.ResultBlob(0, data)
		return err
	}}
}

// densityPlane returns the plane that a call of geoind_density names.
func densityPlane(c frame.Call) (*density.Plane, error) {
	name := "laplace"
	if c.Given(argDensityOf) {
		name = c.Text(argDensityOf)
	}
	domain, err := declared.Domain(c, argDensityOn)
	if err != nil {
		return nil, err
	}
	return planes.Get(c.Session, planeKey{latticeKey{name, domain, c.Number(argDensityEps)}, c.Number(argDensity)}, func() (*density.Plane, error) {
		m, err := latticeMechanismOn(c, name, domain, argDensityEps)
		if err != nil {
			return nil, err
		}
		return density.NewPlane(m, c.Number(argDensity))
	})
}

// priorPlane returns the plane for the settings of a call of geoind_prior.
func priorPlane(c frame.Call) (*density.Plane, error) {
	domain, err := declared.Domain(c, argPriorOn)
	if err != nil {
		return nil, err
	}
	return planes.Get(c.Session, planeKey{latticeKey: latticeKey{"laplace", domain, c.Number(argPriorEps)}}, func() (*density.Plane, error) {
		m, err := latticeMechanismOn(c, "laplace", domain, argPriorEps)
		if err != nil {
			return nil, err
		}
		return density.NewPriorPlane(m)
	})
}

func (g *densityGroup) Begin(c frame.Call) (err error) {
	g.points = map[int]int64{}
	g.plane, err = g.open(c)
	return err
}

func (g *densityGroup) Row(c frame.Call) error {
	if lat, lon, absent := c.Location(argDensityLat, argDensityLon); !absent {
		g.points[g.plane.Bin(lat, lon)]++
	}
	return nil
}

// Final answers the estimate. It depends on released points and on public facts only.
func (g *densityGroup) Final(c frame.Call) error {
	var population *density.Population
	err := g.session.Interruptibly(func(ctx context.Context) (err error) {
		population, err = g.plane.Population(ctx, g.points)
		return err
	})
	if err != nil {
		return err
	}
	return g.answer(c, population)
}
