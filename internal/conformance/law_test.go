package conformance

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A law is a distribution that a statement's rows must follow.
type law interface{ judge(rows [][]string) error }

// alarm bounds the probability that a correct host fails one bin of one law. There
// are fewer than 20 laws of at most 40 bins and fewer than 10 hosts, so that a whole
// run fails falsely with a probability below 20*40*10*1e-11 < 1e-7.
const alarm = 1e-11

// unlikely reports whether a bin with probability p, which is known up to
// tolerance, is hit k times of n with a probability of at most alarm. It is the
// Chernoff bound with the relative entropy (Hoeffding, Probability Inequalities
// for Sums of Bounded Random Variables, 1963, theorem 1), which holds for every n.
func unlikely(k, n int, p, tolerance float64) bool {
	q := float64(k) / float64(n)
	p = min(max(q, p-tolerance), p+tolerance) // the nearest that is possible
	p = min(max(p, 0), 1)
	return float64(n)*entropy(q, p) > math.Log(2/alarm)
}

// entropy returns the relative entropy of two coins.
func entropy(q, p float64) float64 {
	term := func(q, p float64) float64 {
		if q == 0 {
			return 0
		}
		return q * math.Log(q/p)
	}
	return term(q, p) + term(1-q, 1-p)
}

// judgeBins compares the numbers of hits of bins with their probabilities.
func judgeBins[K comparable](hits map[K]int, bins map[K]float64, n int, tolerance float64) error {
	for bin := range hits {
		if _, ok := bins[bin]; !ok {
			return fmt.Errorf("%v is impossible", bin)
		}
	}
	for bin, p := range bins {
		if k := hits[bin]; unlikely(k, n, p, tolerance) {
			return fmt.Errorf("of %d rows %d are in bin %v, which has probability %.4g", n, k, bin, p)
		}
	}
	return nil
}

// parseLaw reads a law:
//
//	geometric 0.5 about 5                the law of dx_ functions, on whole numbers
//	geometric 0.5 about 5 within 0 10    moved into this range
//	staircase 5 of 10 from 1 about 4 within 0 99   the law of sums of records: a rate for stairs of 10, of which 1 is inner
//	laplace 0.01 about 39.9 116.3        points, as lat and lon or as WKT
//	laplace_l1 0.01 about 39.9 116.3     the same under the L1 norm
//	gauss 0.00005 about 39.9 116.3       the same with Gaussian noise of this rho
//	chance 0.25                          1 with this probability, else 0
func parseLaw(says string) (law, error) {
	words := len(strings.Fields(says))
	scans := func(format string, into ...any) bool {
		_, err := fmt.Sscanf(says, format, into...)
		return err == nil && words == len(strings.Fields(format))
	}
	g := geometric{width: 1, inner: 1, lo: math.MinInt, hi: math.MaxInt}
	var l laplace
	var c chance
	switch {
	case scans("geometric %g about %d within %d %d", &g.rate, &g.about, &g.lo, &g.hi),
		scans("geometric %g about %d", &g.rate, &g.about),
		scans("staircase %g of %d from %d about %d within %d %d", &g.rate, &g.width, &g.inner, &g.about, &g.lo, &g.hi):
		return g, nil
	case scans("laplace %g about %g %g", &l.epsilon, &l.lat, &l.lon):
		return l, nil
	case scans("laplace_l1 %g about %g %g", &l.epsilon, &l.lat, &l.lon):
		l.l1 = true
		return l, nil
	case scans("gauss %g about %g %g", &l.epsilon, &l.lat, &l.lon):
		l.gauss = true
		return l, nil
	case scans("chance %g", &c.p):
		return c, nil
	}
	return nil, fmt.Errorf("no law is %q", says)
}

// A geometric is the law of about + z, moved into lo..hi, with P(z) proportional to exp(-rate*i), where i counts the stairs of
// a width up to |z|, and one more beyond their inner numbers: exp(-rate*|z|) if stairs are one wide.
type geometric struct {
	rate          float64
	width, inner  int
	about, lo, hi int
}

// judge compares each number within ten of the middle, and all numbers below and above
// these.
func (g geometric) judge(rows [][]string) error {
	const reach = 10
	alpha := math.Exp(-g.rate)
	all := 2*(float64(g.inner)+alpha*float64(g.width-g.inner))/(1-alpha) - 1
	bins, beyond := map[int]float64{}, 0.5
	for z := 0; z < reach; z++ {
		p := math.Pow(alpha, float64(z/g.width)) / all
		if z%g.width >= g.inner {
			p *= alpha
		}
		if z == 0 {
			p /= 2 // it is met twice
		}
		bins[min(max(g.about+z, g.lo), g.hi)] += p
		bins[min(max(g.about-z, g.lo), g.hi)] += p
		beyond -= p
	}
	bins[min(max(g.about+reach, g.lo), g.hi)] += beyond
	bins[min(max(g.about-reach, g.lo), g.hi)] += beyond
	hits := map[int]int{}
	for _, row := range rows {
		x, err := strconv.ParseFloat(row[0], 64)
		if err != nil || x != math.Trunc(x) {
			return fmt.Errorf("%s is no whole number", row[0])
		}
		z := min(max(int(x)-g.about, -reach), reach)
		hits[min(max(g.about+z, g.lo), g.hi)]++
	}
	return judgeBins(hits, bins, len(rows), 1e-12)
}

// A laplace is the planar Laplace law, or another of the plane, in metres on the Earth.
type laplace struct {
	epsilon, lat, lon float64
	l1, gauss         bool
}

// judge compares five rings with a fifth of the probability each, which reveal a wrong
// epsilon, and their four sectors, which reveal a wrong place. A lattice step of a metre,
// the frame's scale and the use of the radii of curvature at the middle move less than
// 0.002 of the probability across the borders while epsilon is at most 0.01 per metre, or
// rho at most 0.00005 per square metre.
func (l laplace) judge(rows [][]string) error {
	const rings, tolerance = 5, 0.002
	type bin struct {
		ring   int
		sector string // "" is all of the ring
	}
	bins, hits := map[bin]float64{}, map[bin]int{}
	for ring := range rings {
		bins[bin{ring, ""}] = 1. / rings
		for _, sector := range []string{"NE", "NW", "SE", "SW"} {
			bins[bin{ring, sector}] = 1. / rings / 4
		}
	}
	for _, row := range rows {
		x, y, err := l.offset(row)
		if err != nil {
			return err
		}
		er := l.epsilon * math.Hypot(x, y)
		if l.l1 {
			er = l.epsilon / math.Sqrt2 * (math.Abs(x) + math.Abs(y)) // has the same law
		}
		within := 1 - (1+er)*math.Exp(-er) // C(r) of planar Laplace
		if l.gauss {
			within = 1 - math.Exp(-l.epsilon*(x*x+y*y))
		}
		ring := min(int(within*rings), rings-1)
		hits[bin{ring, ""}]++
		hits[bin{ring, sector(x, y)}]++
	}
	return judgeBins(hits, bins, len(rows), tolerance)
}

func sector(x, y float64) string {
	name := []byte("NE")
	if y < 0 {
		name[0] = 'S'
	}
	if x < 0 {
		name[1] = 'W'
	}
	return string(name)
}

// offset returns how many metres east and north of the middle a row is, on WGS 84.
func (l laplace) offset(row []string) (x, y float64, err error) {
	lat, lon, err := point(row)
	if err != nil {
		return 0, 0, err
	}
	const a, e2 = 6378137, 0.0066943799901413165
	sin, cos := math.Sincos(l.lat * math.Pi / 180)
	w := 1 - e2*sin*sin
	prime, meridian := a/math.Sqrt(w), a*(1-e2)/(w*math.Sqrt(w))
	return (lon - l.lon) * math.Pi / 180 * prime * cos, (lat - l.lat) * math.Pi / 180 * meridian, nil
}

// point parses lat and lon, or a WKT point.
func point(row []string) (lat, lon float64, err error) {
	text := strings.Join(row, " ")
	if len(row) == 1 {
		_, err = fmt.Sscanf(text, "'POINT(%g %g)'", &lon, &lat)
	} else {
		_, err = fmt.Sscanf(text, "%g %g", &lat, &lon)
	}
	if err != nil {
		err = fmt.Errorf("%s is no point", text)
	}
	return lat, lon, err
}

// A chance is the law of a coin.
type chance struct{ p float64 }

// judge allows the probability to be off by a thousandth, since mechanisms from a solver
// are repaired to keep epsilon.
func (c chance) judge(rows [][]string) error {
	hits := map[string]int{}
	for _, row := range rows {
		hits[row[0]]++
	}
	return judgeBins(hits, map[string]float64{"1": c.p, "0": 1 - c.p}, len(rows), 0.001)
}
