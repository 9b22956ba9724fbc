package scalar

import "math"

// A Deviation returns the distance, in the unit of [Query.Radius], within which the true answer of a release lies with a
// probability. For releases of the same value, it never grows with the divisor. It is not safe for concurrent use.
type Deviation func(Release) float64

// A deviating law has releases that tell more about their accuracy than its radius does.
type deviating interface {
	deviation(p float64) Deviation
}

// Deviation returns how far releases are from the true answers with probability p at least,
// 0 < p < 1. It reports false if that depends on the readings.
func (q *Query) Deviation(p float64) (d Deviation, known bool) {
	if l, tells := q.law.(deviating); tells {
		return l.deviation(p), true
	}
	r, err := q.Radius(p, 0)
	return func(Release) float64 { return r }, err == nil
}

// deviation knows the number of readings, which is public: it is the divisor.
func (v *mean) deviation(p float64) Deviation {
	return func(r Release) float64 {
		if math.IsInf(r.Divisor, 1) {
			return 0
		}
		return v.distance(p, int64(r.Divisor))
	}
}

// A recordsDeviation is that of averages of records.
type recordsDeviation struct {
	mean *recordsMean
	p    float64

	// spreads holds Q + c, see recordsradius.go, at multiples of n/spreadSteps; 0 where it has not been asked for.
	spreads [spreadSteps + 1]float64
}

const spreadSteps = 16

func (v *recordsMean) deviation(p float64) Deviation { return (&recordsDeviation{mean: v, p: p}).of }

// of comes nearer to the least distance from above: from (Q(n)+c)/D on, which is too far, every step comes nearer and stays
// above it.
func (d *recordsDeviation) of(r Release) float64 {
	u := d.mean.universe
	n := float64(u.last)
	z := float64(math.Abs(2*(r.Value-u.lo)/(u.hi-u.lo)-1) * n)
	distance := d.spread(n) / r.Divisor
	for range 2 {
		distance = d.spread(min(n, z+distance)) / r.Divisor
	}
	return d.mean.inUnit(distance)
}

// spread returns Q + c at y, 0 <= y <= n, or a little more.
func (d *recordsDeviation) spread(y float64) float64 {
	last := float64(d.mean.universe.last)
	i := math.Ceil(y / last * spreadSteps)
	q := &d.spreads[int(i)]
	if *q == 0 {
		*q = d.mean.spread(d.p, i/spreadSteps*last)
	}
	return *q
}
