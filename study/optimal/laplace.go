package optimal

import (
	"context"
	"math"
	"runtime"

	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/study/parallel"
)

// planarLaplace returns the continuous planar Laplace mechanism (thesis, section
// 5.2) whose report moves to the nearest place. It ends early with the cause of ctx.
//
// It integrates over the length of the noise exactly: a ray from the secret meets
// the Voronoi cell of each place in at most one interval. Over the direction it
// integrates numerically, sector by sector; within a sector the integrand is smooth.
func planarLaplace(ctx context.Context, epsilon float64, places []Place) (optimal.Matrix, error) {
	k := optimal.NewMatrix(len(places))
	cells := newVoronoi(places)
	work := func(_, x int) {
		along := make([]ahead, len(places))
		cells.integrate(places[x], func(cos, sin, weight float64) {
			for z, q := range places {
				dx, dy := q.X-places[x].X, q.Y-places[x].Y
				along[z] = ahead{dx*dx + dy*dy, dx*cos + dy*sin}
			}
			spread(along, epsilon, weight, x, k[x])
		})
	}
	return k, parallel.Each(ctx, runtime.GOMAXPROCS(0), len(places), work, func() {})
}

// spread adds the probability of a ray, that of its sector, to those of the places
// whose cells it goes through, beginning in that of z.
func spread(along []ahead, epsilon, probability float64, z int, row []float64) {
	r, survival := 0.0, 1.0
	for survival > 0 {
		next, until := leave(along, z, r)
		// That the noise is longer than this (thesis, section 5.2.1).
		beyond := 0.0
		if e := epsilon * until; e < math.MaxFloat64 {
			beyond = (1 + e) * math.Exp(-e)
		}
		row[z] += (survival - beyond) * probability
		z, r, survival = next, until, beyond
	}
}

// ahead is where a place is, seen from the secret: its squared distance, and how far
// it lies in the direction of a ray. At r along the ray the squared distance from
// the place is square - 2 r forward + r^2.
type ahead struct{ square, forward float64 }

// leave returns where a ray leaves the cell of z, which it is in at r, and the place
// whose cell it enters; infinity, and any place, if it stays.
func leave(along []ahead, z int, r float64) (next int, until float64) {
	until = math.Inf(1)
	for y, a := range along {
		lead := a.forward - along[z].forward
		if lead <= 0 {
			continue
		}
		meet := max(r, (a.square-along[z].square)/(2*lead))
		if meet < until || meet == until && a.forward > along[next].forward {
			next, until = y, meet
		}
	}
	return next, until
}
