package release

import (
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/mechanism/planar"
)

// That the true locations lie on a grid is a fact about secrets, as is how many lie outside the
// box. It is told to the user who runs the release and never goes into published files, not even
// into the owner's section of the report, which somebody may publish by mistake.

const (
	unitsPerDegree = 1e7 // coordinates are compared to 7 decimals
	decimals       = 7
	// griddedShare is the share of the coordinates that have to lie on a grid.
	griddedShare = 0.99
	// leastReturned is the share of released locations nearest to their true point of the grid from
	// which there is something to tell. In the plane it is 0.2 where the points are as far apart
	// as half of the locations move; on a lattice as coarse as the grid it is less.
	leastReturned = 0.1
	// griddedValues is how many different coordinates show a grid. Fewer have a common step
	// by chance: the chance that k random numbers have a common divisor of n or more is about
	// n^(1-k).
	griddedValues = 4
)

// A grain finds the step of the grid on which the coordinates of a column lie. The step divides
// all their differences, so the grid need not have a point at 0, as that of the middles of cells.
// Coordinates are kept apart by their number of decimals, so that a few that lie elsewhere do not
// hide the grid of the others. Grids that are not in degrees, such as those of a map projection
// or of hexagons, are not found.
type grain struct {
	counts   [decimals + 2]int64 // by the number of decimals; the last one counts all beyond 7
	first    [decimals + 1]int64 // a coordinate with that many decimals, in units
	step     [decimals + 1]int64 // the greatest common divisor of their differences; 0 if all are equal
	distinct []int64             // the first different coordinates
}

// add counts a coordinate in degrees.
func (g *grain) add(degrees float64) {
	units := math.RoundToEven(degrees * unitsPerDegree)
	if math.Abs(degrees*unitsPerDegree-units) > 1e-4 {
		g.counts[decimals+1]++
		return
	}
	x, unit, d := int64(units), int64(1), decimals
	for ; d > 0 && x%(10*unit) == 0; d-- {
		unit *= 10
	}
	g.addUnits(x, unit, d)
	g.counts[d]++
}

// addUnits adds a coordinate of d decimals. The last one stands for unit.
func (g *grain) addUnits(x, unit int64, d int) {
	if len(g.distinct) < griddedValues && !slices.Contains(g.distinct, x) {
		g.distinct = append(g.distinct, x)
	}
	switch {
	case g.counts[d] == 0:
		g.first[d] = x
	case g.step[d] != unit: // otherwise it cannot become less
		g.step[d] = divisor(g.step[d], x-g.first[d])
	}
}

func (g *grain) merge(other *grain) {
	for d, n := range other.counts {
		if d <= decimals && n > 0 {
			if g.counts[d] == 0 {
				g.first[d], g.step[d] = other.first[d], other.step[d]
			} else {
				g.step[d] = divisor(divisor(g.step[d], other.step[d]), g.first[d]-other.first[d])
			}
		}
		g.counts[d] += n
	}
	for _, x := range other.distinct {
		if len(g.distinct) < griddedValues && !slices.Contains(g.distinct, x) {
			g.distinct = append(g.distinct, x)
		}
	}
}

// degrees returns the step of the coarsest grid that nearly all coordinates lie on, or 0 if they
// show none.
func (g *grain) degrees() float64 { return float64(g.units()) / unitsPerDegree }

// units returns the same in units.
func (g *grain) units() int64 {
	if len(g.distinct) < griddedValues {
		return 0
	}
	var total, covered, step, first int64
	for _, n := range g.counts {
		total += n
	}
	for d, n := range g.counts[:decimals+1] {
		if n == 0 {
			continue
		}
		if covered == 0 {
			first = g.first[d]
		}
		step = divisor(divisor(step, g.step[d]), g.first[d]-first)
		if covered += n; float64(covered) >= griddedShare*float64(total) {
			return step
		}
	}
	return 0
}

// divisor returns the greatest common divisor, which is not negative.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// Gridded reports that the true locations of a pair of columns lie on a grid with points farther
// apart than the noise moves half of the locations. Then the released locations cluster around
// the points of the grid. It is for the owner of the raw data only.
type Gridded struct {
	Lat, Lon         string  // names of the columns
	LatStep, LonStep float64 // between points of the grid, degrees
	North, East      float64 // the same in metres, in the middle of the box
	Median           float64 // distance in metres that half of the locations do not exceed
	Returned         float64 // least share of the released locations that are nearest to their true point of the grid
	Epsilon          float64 // at which half of the locations would move farther than the points are apart
}

// String explains that, in one line.
func (g Gridded) String() string {
	return fmt.Sprintf("%s, %s: the true locations lie on a grid of %s by %s degrees (%.0f by %.0f m), and half of them move less than %.0f m: "+
		"at least %.0f %% of the released ones are nearest to the point of the grid that they come from and cluster around it, so the noise does little to hide which point that is; "+
		"with --epsilon %v, half of them would move farther than to the next point",
		printable.Text(g.Lat), printable.Text(g.Lon), decimal.Format(g.LatStep), decimal.Format(g.LonStep), g.North, g.East, g.Median,
		math.Floor(100*g.Returned), decimal.Format(g.Epsilon))
}

// gridded returns the pairs of columns with locations on a grid that is coarser than the noise.
func (r *run) gridded() (all []Gridded, err error) {
	a := r.mechanism.Accuracy()
	median, err := a.Radius(0.5)
	if err != nil {
		return nil, err
	}
	for k, s := range r.found.surveyors {
		g := Gridded{Lat: r.spec.Lat[k], Lon: r.spec.Lon[k], LatStep: s.lats.degrees(), LonStep: s.lons.degrees(), Median: median}
		if s.steps != nil {
			g.LatStep, g.LonStep = float64(s.steps[0])/unitsPerDegree, float64(s.steps[1])/unitsPerDegree
		}
		if g.LatStep == 0 || g.LonStep == 0 {
			continue
		}
		lat, lon := (s.box.South+s.box.North)/2, s.box.West
		g.North = g.LatStep / s.height() * planar.Distance(s.box.South, lon, s.box.North, lon)
		g.East = g.LonStep / s.width * planar.Distance(lat, lon, lat, lon+s.width)
		g.Returned = a.Confidence(min(g.North, g.East) / 2)
		if min(g.North, g.East) <= median || g.Returned < leastReturned {
			continue
		}
		epsilon, err := a.Law().EpsilonFor(nil, max(g.North, g.East), 0.5)
		if err != nil {
			return nil, err
		}
		least, _ := epsilon.Float64()
		g.Epsilon = floorTo(least, 2)
		all = append(all, g)
	}
	return all, nil
}

// floorTo rounds a number above 0 down to some significant digits.
func floorTo(x float64, digits int) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))+1-float64(digits))
	return decimal.Round(math.Floor(x/unit)*unit, digits)
}
