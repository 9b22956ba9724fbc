package scalar

import "math"

// A Deviation returns how far a release may be from the true answer with a probability, or NaN where that depends on the
// readings. It is not safe for concurrent use.
type Deviation func(Release) float64

// A deviating law has releases that tell more about their accuracy than its radius does.
type deviating interface {
	deviation(p float64) Deviation
}

// Expected returns, of the releases over so many readings, what public facts tell of their accuracy: all but the value and what
// is drawn with it.
func (q *Query) Expected(readings int64) Release {
	if l, scored := q.law.(*scored); scored {
		return Release{Readings: l.readings(int(readings))}
	}
	return Release{Readings: 1}
}

// Deviation returns within which distance, in the unit of [Query.Radius], the true answer lies with probability p at least,
// 0 < p < 1. For releases of the same value, it never grows with the number of readings.
func (q *Query) Deviation(p float64) Deviation {
	if l, tells := q.law.(deviating); tells {
		return l.deviation(p)
	}
	r, err := q.Radius(p, 0)
	if err != nil {
		r = math.NaN()
	}
	return func(Release) float64 { return r }
}

// A rankDeviating law has answers that are few ranks off.
type rankDeviating interface {
	rankDeviation(p float64) Deviation
}

// RankDeviation returns how many readings lie between the release of a percentile and the true one with probability p at
// most, 0 < p < 1, the true one and its equals among them. It never falls with the number of readings.
func (q *Query) RankDeviation(p float64) Deviation {
	if l, tells := q.law.(rankDeviating); tells {
		return l.rankDeviation(p)
	}
	return func(Release) float64 { return math.NaN() }
}

// deviation knows the number of readings, which is public: it is the divisor.
func (v *mean) deviation(p float64) Deviation {
	return func(r Release) float64 {
		if math.IsInf(r.Readings, 1) {
			return 0
		}
		return v.distance(p, int64(r.Readings))
	}
}

// deviation knows the number of readings, which is public. A root s of it is within s - sqrt(s^2-r) of the true one if its
// square is within r, and within sqrt(r) if that is more than s^2; these never grow with s, so that they allow for rounding.
func (v *variance) deviation(p float64) Deviation {
	limit, _ := v.limit().Float64()
	return func(released Release) float64 {
		if math.IsInf(released.Readings, 1) {
			return 0
		}
		r, rounding := v.distance(p, released.Readings)
		if v.of.root {
			s := max(released.Value-rounding, math.Sqrt(r))
			r = s - math.Sqrt(max(0, float64(s*s)-r))
		}
		return min(r+rounding, limit)
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
	distance := d.spread(n) / r.Readings
	for range 2 {
		distance = d.spread(min(n, z+distance)) / r.Readings
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
