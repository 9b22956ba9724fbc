package optimal

import (
	"context"
	"math"
	"runtime"

	"github.com/geosql/geosql/internal/workers"
	"github.com/geosql/geosql/mechanism/optimal"
)

// PlanarLaplaceMatrix returns the continuous planar Laplace mechanism (thesis, section 5.2)
// with reports moved to the nearest of the places, which are all different. Their weights do
// not matter. It ends early with the cause of ctx, uses all processors, and suits up to a few
// hundred places, since it examines all their triples.
//
// It integrates over the length of the noise exactly: a ray from the secret meets
// the Voronoi cell of each place in at most one interval. Over the direction it
// integrates numerically, sector by sector; within a sector the integrand is smooth.
func PlanarLaplaceMatrix(ctx context.Context, epsilon float64, places []Place) (optimal.Matrix, error) {
	k := optimal.NewMatrix(len(places), len(places))
	cells := newVoronoi(places)
	work := func(_, x int) error {
		r := ray{cells: cells, seen: make([]sight, len(places))}
		for z, q := range places {
			dx, dy := q.X-places[x].X, q.Y-places[x].Y
			r.seen[z] = sight{dx, dy, dx*dx + dy*dy}
		}
		cells.integrate(places[x], func(cos, sin, weight float64) {
			r.cos, r.sin = cos, sin
			r.spread(epsilon, weight, x, k[x])
		})
		return nil
	}
	return k, workers.Each(ctx, runtime.GOMAXPROCS(0), len(places), work, func() {})
}

// A ray begins at a secret.
type ray struct {
	cells    *voronoi
	seen     []sight // the places
	cos, sin float64
}

// A sight is the position of a place as seen from the secret: to the east, to the north, and
// its squared distance.
type sight struct{ x, y, square float64 }

// forward returns how far a place lies in the direction of r. At t along r, the squared
// distance from the place is square - 2 t forward + t^2.
func (r *ray) forward(p sight) float64 { return p.x*r.cos + p.y*r.sin }

// spread distributes the probability of r, that of its sector, over the places of the cells that it passes through,
// beginning in that of z.
func (r *ray) spread(epsilon, probability float64, z int, row []float64) {
	t, survival := 0.0, 1.0
	for survival > 0 {
		next, until := r.leave(z, t)
		// That the noise is longer than this (thesis, section 5.2.1).
		beyond := 0.0
		if e := epsilon * until; e < math.MaxFloat64 {
			beyond = (1 + e) * math.Exp(-e)
		}
		row[z] += (survival - beyond) * probability
		z, t, survival = next, until, beyond
	}
}

// leave returns where r leaves the cell of z, in which it is at t, and the neighbouring place of the cell that it
// enters. It returns infinity and any place if r stays.
func (r *ray) leave(z int, t float64) (next int, until float64) {
	until = math.Inf(1)
	here, forward, furthest := r.seen[z], r.forward(r.seen[z]), 0.0
	for _, y := range r.cells.neighbours[z] {
		there := r.seen[y]
		lead := r.forward(there) - forward
		if lead <= 0 {
			continue
		}
		meet := max(t, (there.square-here.square)/(2*lead))
		if meet < until || meet == until && lead > furthest {
			next, until, furthest = y, meet, lead
		}
	}
	return next, until
}
