package pim

import (
	"math/big"
	"sort"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// A knorm is the K-norm law on the lattice (equation 5 of the paper; Hardt, Talwar,
// On the Geometry of Differential Privacy, 2010),
//
//	P(z) proportional to exp(-eps*|z|_K),
//
// for a sensitivity hull K of positive area. The vertices of K are the generators, vectors
// of the lattice, times multiple, and |.|_K is linear on the cone between two neighbouring
// generators:
//
//	z = s*g + t*h  has  eps*|z|_K = rate*(s+t)  with  rate = eps/multiple.
//
// # An exact draw
//
// The plane without the origin is the disjoint union of the half-open cones
// {s*g + t*h: s > 0, t >= 0}. A lattice point of a cone is in exactly one way the sum of
// a point of its fundamental parallelogram (s in (0,1], t in [0,1)) and G*g + H*h with
// G and H >= 0. So: propose the origin or a point of any parallelogram, all with the same
// probability; accept p = s*g + t*h with probability exp(-rate*(s+t)) and add geometric G
// and H, P(k) = (1-q)*q^k with q = e^-rate; accept the origin if G and H are both 0, with
// (1-q)^2. Either way z is drawn with a probability proportional to
// (1-q)^2*exp(-eps*|z|_K), and all probabilities are those of [exact].
//
// A share of about ((1-q)/rate)^2 of the proposals is accepted, whatever the shape of K:
// the finer the lattice for the hull, the nearer it is to 1. No isotropic position of K
// is needed, since the law of K is the same in any position.
type knorm struct {
	generators []vector // one for each vertex of K, counter-clockwise, and the first again
	until      []uint64 // number of lattice points in the parallelograms up to each
	rate       float64
	inner      exact.Geometric
}

// update sets k to the law of the hull. Half of its vertices are multiple*generators,
// at least two of them. It reuses the memory of k.
func (k *knorm) update(generators []vector, multiple int64, eps budget.Amount) {
	k.rate = rateOf(eps, multiple)
	k.inner = mustLaw(exact.NewGeometric, k.rate)
	k.generators = append(k.generators[:0], generators...)
	for _, g := range generators {
		k.generators = append(k.generators, g.negative())
	}
	k.generators = append(k.generators, generators[0])
	k.until = k.until[:0]
	var sum uint64
	for i, g := range k.generators[1:] {
		sum += uint64(cross(k.generators[i], g))
		k.until = append(k.until, sum)
	}
}

func (k *knorm) draw(src *exact.Source) vector {
	origin := k.until[len(k.until)-1]
	for {
		n := src.Below(origin + 1)
		if n == origin {
			if g, h := k.inner.Draw(src), k.inner.Draw(src); g == 0 && h == 0 {
				return vector{}
			}
			continue
		}
		i := sort.Search(len(k.until), func(i int) bool { return n < k.until[i] })
		if i > 0 {
			n -= k.until[i-1]
		}
		g, h := k.generators[i], k.generators[i+1]
		area := cross(g, h)
		s, t := coset(g, h, int64(n))
		if src.BernoulliExpRatio(k.rate, uint64(s+t), uint64(area)) {
			p := vector{(s*g.x + t*h.x) / area, (s*g.y + t*h.y) / area}
			return p.addMultiples(g, k.inner.Draw(src), h, k.inner.Draw(src))
		}
	}
}

// coset returns the n-th lattice point in the fundamental parallelogram of g and h, as
// (s*g + t*h)/area with s in (0,area] and t in [0,area). Their number is the area. They
// represent the cosets of the lattice that g and h span, as do the points of a rectangle
// with the height that is the greatest common divisor of their heights. (s and t are below 2^42,
// the generators below 2^21.)
func coset(g, h vector, n int64) (s, t int64) {
	area := cross(g, h)
	width := area / gcd(g.y, h.y)
	p := vector{n % width, n / width}
	return area - mod(-cross(p, h), area), mod(cross(g, p), area)
}

// addMultiples returns p + a*g + b*h, saturated. Geometric variates are unbounded; one
// above MaxInt64 has a probability below exp(-10^6).
func (p vector) addMultiples(g vector, a int64, h vector, b int64) vector {
	if max(a, b) < saturation {
		return vector{p.x + a*g.x + b*h.x, p.y + a*g.y + b*h.y}
	}
	coordinate := func(p, g, h int64) int64 {
		sum := big.NewInt(p)
		sum.Add(sum, new(big.Int).Mul(big.NewInt(a), big.NewInt(g)))
		sum.Add(sum, new(big.Int).Mul(big.NewInt(b), big.NewInt(h)))
		if !sum.IsInt64() {
			return int64(sum.Sign()) * 2 * saturation
		}
		return clamped(sum.Int64())
	}
	return vector{coordinate(p.x, g.x, h.x), coordinate(p.y, g.y, h.y)}
}

// exponent returns eps*|d|_K.
func (k *knorm) exponent(d vector) float64 {
	if d == (vector{}) {
		return 0
	}
	n := len(k.generators) / 2
	if turn := cross(k.generators[0], d); turn < 0 || turn == 0 && dot(k.generators[0], d) < 0 {
		d = d.negative() // |.|_K is symmetric
	}
	// The last of the half's generators that d is not before.
	i := sort.Search(n, func(i int) bool { return cross(k.generators[i], d) < 0 }) - 1
	g, h := k.generators[i], k.generators[i+1]
	return k.rate * float64(cross(d, h.sub(g))) / float64(cross(g, h))
}

// mod returns a modulo m, from 0 to m-1.
func mod(a, m int64) int64 {
	if a %= m; a < 0 {
		a += m
	}
	return a
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
