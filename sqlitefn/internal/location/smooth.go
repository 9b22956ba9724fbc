package location

import (
	"errors"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/smooth"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argSmoothTime  = &frame.Arg{Name: "t", Is: "time of the point, seconds or milliseconds since 1970, or ISO 8601 text", Kind: frame.Time}
	argSmoothLat   = &frame.Arg{Name: "lat", Is: "latitude of a release, degrees", Kind: frame.OrNull(frame.Latitude)}
	argSmoothLon   = &frame.Arg{Name: "lon", Is: "longitude of the release, degrees", Kind: frame.OrNull(frame.Longitude)}
	argSmoothEps   = &frame.Arg{Name: "epsilon", Is: "epsilon of the release, per metre", Kind: frame.Positive}
	argSmoothFrame = &frame.Arg{Name: "domain", Is: "domain of the releases; without one, distances are those around the first", Kind: frame.Text, Optional: true, Setting: true}
)

var smoothFunctions = []*frame.Function{
	{
		Name: "geoind_smooth", Section: frame.Free, Returns: "TEXT", Flags: frame.Pure, Windowed: true,
		Args:     []*frame.Arg{argSmoothTime, argSmoothLat, argSmoothLon, argSmoothEps, argSmoothFrame},
		Does:     "Estimates where a trace was from its released points, as WKT: people move steadily, and the noise does not.",
		Accuracy: "no radius, as it depends on how people move: see docs/study-predictive.md for how much it gains",
		Notes: "It costs nothing, since it is computed from releases. With `ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING` each estimate takes the whole trace into account; " +
			"with `ROWS UNBOUNDED PRECEDING` the last 300 points up to its own. Write ROWS and order by t: peers of a RANGE frame share one answer. FILTER is refused. " +
			"The points must have independent noise: those of geoind_laplace and geoind_laplace_l1, and of geoind_gauss with epsilon = sqrt(6*rho), but not those of predictive_step, which repeat its predictions. " +
			"Rows with a NULL location are bridged. NULL before the first released point of the frame.",
		Examples: []string{
			"WITH released(t, lat, lon) AS (VALUES (0, 39.9871, 116.3004), (60, NULL, NULL), (120, 39.9793, 116.3161), (180, 39.9912, 116.3152)) " +
				"SELECT t, geoind_smooth(t, lat, lon, 0.002) OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM released",
		},
		Aggregate: func(*frame.Session) frame.Group { return new(course) },
	},
}

// A course is a trace as far as the frame of a window has it.
type course struct {
	projection planar.Projection
	placed     bool // whether the projection is known
	first      int64
	points     []smooth.Point
	answered   int               // rows
	positions  []smooth.Position // of all points, for rows before the frame's end
}

// Begin reads the domain, in which the noise is alike in all directions.
func (g *course) Begin(c frame.Call) error {
	if !c.Given(argSmoothFrame) {
		return nil
	}
	domain, err := declared.Domain(c, argSmoothFrame)
	if err == nil {
		g.projection, g.placed = domain.Projection(), true
	}
	return err
}

func (g *course) Row(c frame.Call) error {
	eps, err := budget.Cost(c.Decimal(argSmoothEps)) // as a release is charged
	if err != nil {
		return err
	}
	t := c.Time(argSmoothTime).UnixMicro()
	if len(g.points) == 0 {
		g.first = t
	}
	p := smooth.Point{T: float64(t-g.first) / 1e6, X: math.NaN(), Y: math.NaN(), Epsilon: eps.Float64()}
	if n := len(g.points); n > 0 && !(p.T > g.points[n-1].T) {
		return c.Errorf(argSmoothTime, "is not later than that of the row before: write OVER (PARTITION BY the trace ORDER BY t ROWS ...), with one row for each time")
	}
	if lat, lon, absent := c.Location(argSmoothLat, argSmoothLon); !absent {
		if !g.placed {
			g.projection, g.placed = planar.NewProjection(lat, lon), true
		}
		p.X, p.Y = g.projection.Metres(lat, lon)
	}
	g.points = append(g.points, p)
	return nil
}

// Value answers the rows of the window one after another.
func (g *course) Value(c frame.Call) error {
	if g.answered == len(g.points) {
		return errors.New("cannot tell which row it is asked about: write the frame as ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING " +
			"or ROWS UNBOUNDED PRECEDING, without FILTER and EXCLUDE")
	}
	if at := g.position(g.answered).Rounded(); !math.IsNaN(at.X) {
		lat, lon := g.projection.Location(at.X, at.Y)
		c.ResultPoint(0, lat, lon)
	}
	g.answered++
	return nil
}

// position estimates the position of a row.
func (g *course) position(row int) smooth.Position {
	if len(g.positions) == len(g.points) {
		return g.positions[row]
	}
	if row == len(g.points)-1 {
		return smooth.Last(g.points)
	}
	g.positions = smooth.Course(g.points)
	return g.positions[row]
}

// Final answers a group of one row. A window has been answered already.
func (g *course) Final(c frame.Call) error {
	switch {
	case g.answered > 0:
		return nil
	case len(g.points) == 1:
		return g.Value(c)
	}
	return errors.New("is a window function: write OVER (PARTITION BY the trace ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)")
}
