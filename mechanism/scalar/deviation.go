package scalar

import (
	"math"

	"github.com/geosql/geosql/mechanism/exact"
)

// A Release is a released answer, and what has been released with it about its accuracy.
type Release struct {
	Value float64

	// Divisor is what a noisy sum was divided by for an average: the number of readings
	// under d1 and dinf, where it is public, and the noisy number under nd1 and dh. It is
	// infinite for an average without readings under d1 and dinf, which has no noise, and 1
	// for other aggregates.
	Divisor float64
}

// Release draws as [Query.Draw] does. Its result is a function of public facts and of what
// was drawn.
func (q *Query) Release(src *exact.Source, a *Accumulator) Release {
	switch {
	case q.mean != nil:
		return q.mean.draw(src, a)
	case q.variance != nil:
		x, _ := q.variance.draw(src, a).Float64()
		if q.agg == StdDev {
			x = math.Sqrt(x)
		}
		return Release{x, 1}
	case q.byScore(len(a.indices)):
		return Release{q.lattice.number(fromInt64(q.choose(src, a))), 1}
	}
	z := q.noise.add(src, q.answer(a))
	return Release{q.lattice.number(q.lattice.clamp(z)), 1}
}

// A Deviation is how far releases of a query are from the true answers, with a probability.
// It is not safe for concurrent use.
type Deviation struct {
	query  *Query
	p      float64
	radius float64 // the same for all releases, but for averages

	// spreads holds Q of averages of records, see meanradius.go, at multiples of n/spreadSteps;
	// 0 where it has not been asked for.
	spreads [spreadSteps + 1]float64
}

const spreadSteps = 16

// Deviation returns how far releases are from the true answers with probability p at least,
// 0 < p < 1. It reports false if that depends on the readings, as it does for percentiles
// under d1, nd1 and dh and for variances.
func (q *Query) Deviation(p float64) (d *Deviation, known bool) {
	d = &Deviation{query: q, p: p}
	if q.mean != nil {
		return d, true
	}
	r, err := q.Radius(p, 0)
	d.radius = r
	return d, err == nil
}

// Of returns the distance, in the unit of Radius, within which the true answer of a release
// lies. For releases of the same value, it never grows with the divisor.
func (d *Deviation) Of(r Release) float64 {
	v := d.query.mean
	switch {
	case v == nil:
		return d.radius
	case v.records:
		return v.inUnit(d.ofRecords(r))
	case math.IsInf(r.Divisor, 1):
		return 0
	}
	return v.radius(d.p, int64(r.Divisor))
}

// ofRecords returns the distance for an average of records, in half steps. From Q(n)/D on,
// which is too far, every step comes nearer to the least distance and stays above it.
func (d *Deviation) ofRecords(r Release) float64 {
	u := d.query.universe
	n := float64(u.last)
	z := float64(math.Abs(2*(r.Value-u.lo)/(u.hi-u.lo)-1) * n)
	distance := d.spread(n) / r.Divisor
	for range 2 {
		distance = d.spread(min(n, z+distance)) / r.Divisor
	}
	return distance
}

// spread returns Q at y, 0 <= y <= n, or a little more.
func (d *Deviation) spread(y float64) float64 {
	i := math.Ceil(y / float64(d.query.universe.last) * spreadSteps)
	q := &d.spreads[int(i)]
	if *q == 0 {
		*q = d.query.mean.spread(d.p, i/spreadSteps*float64(d.query.universe.last))
	}
	return *q
}
