package exact

import (
	"math"
	"math/big"
)

// RoundedNormal returns the integer nearest to c + sigma*Z, exactly, for a
// standard normal variate Z: a real number, which is rounded once, so that
//
//	P(k) = Phi((k+1/2-c)/sigma) - Phi((k-1/2-c)/sigma).
//
// This is post-processing of Gaussian noise, unlike the discrete Gaussian of
// Canonne, Kamath and Steinke (2020), which is a different law. Both numbers
// are taken as the rationals that they are, finite, sigma positive. A result beyond
// int64 is moved to the nearest int64 after it is drawn.
//
// As in Karney, Sampling Exactly from the Normal Distribution (2016), Z is a
// string of digits, and only as many are drawn as the answer needs. It is
// proposed as z = k/64 + x/64, k geometric of rate 1/64 and x uniform on (0,1),
// and accepted with probability e^-t, where
//
//	t = (z^2+1)/2 - k/64 >= (k/64-1)^2/2 >= 0,
//
// so accepted values have a density proportional to e^(-k/64) e^-t, which is
// e^(-z^2/2) up to a constant: that is |Z|, and a fair sign makes it Z. 3 in 4
// proposals are accepted, hardly fewer than by rejection from the exponential law
// itself. k is exact, the acceptance test is E > t for a standard exponential E, and
// both it and the rounding are decided only when they are the same for every x with
// the digits read so far.
func (s *Source) RoundedNormal(c, sigma float64) int64 {
	for {
		// Geometric moves k to MaxInt64 only after 2^57 leading zeros of U,
		// more than any memory holds.
		p := proposal{k: normalSteps.Draw(s), x: s.Uint64()}
		if accepted, point := s.accept(p); accepted {
			if s.Bool() {
				sigma = -sigma
			}
			return s.round(p, point, c, sigma)
		}
	}
}

// stepBits is the logarithm of the number of steps in a standard deviation.
const stepBits = 6

var normalSteps = Geometric{inversion{rate: 1. / (1 << stepBits), inverse: 1 << stepBits}}

// accept returns true with probability e^-t. If that took more digits of x than p
// has, it also returns them.
func (s *Source) accept(p proposal) (accepted bool, point *lazyProposal) {
	t, scale := p.exponent()
	w := s.Uint32()
	if answer, decided := enclose32(w).exceeds(t, scale); decided && !s.certify {
		return answer, nil
	}
	point = p.lazy(s)
	return resume(s, w, 32, t, scale, point), point
}

// round returns the integer nearest to c + sigma*z for an accepted z, given as
// point or, if that is nil, as p.
func (s *Source) round(p proposal, point *lazyProposal, c, sigma float64) int64 {
	if point == nil {
		if k, decided := p.nearest(c, sigma); decided {
			return k
		}
		point = p.lazy(s)
	}
	return point.nearest(c, sigma)
}

// A proposal is a z for which the first 64 digits of x are known:
// (k + x/2^64)/64 <= z <= (k + (x+1)/2^64)/64.
type proposal struct {
	k int64
	x uint64
}

// z returns z rounded: a conversion and a sum leave it within 2 units of 2^-53
// of itself and 2^-70, the range.
func (p proposal) z() float64 {
	return (float64(p.k) + float64(p.x)*0x1p-64) * (1. / (1 << stepBits))
}

// exponent returns t to within scale*2^-49, on the whole range, for a
// scale = (z+1)^2/2, which exceeds t and all its terms.
//
// In units of 2^-53 scale, rounding moves z^2/2 by at most 5 and the range by
// less than 1, each of two sums adds 1 and the conversion of k 1: 9 of 16.
func (p proposal) exponent() (t, scale float64) {
	z := p.z()
	far := z + 1
	return (z*z+1)/2 - float64(p.k)*(1./(1<<stepBits)), far * far / 2
}

// nearest returns the integer nearest to c + sigma*z, and reports whether it is the
// same on the whole range; sigma may be negative.
//
// In units of 2^-53 (|c| + |sigma| z), the product is off by at most 3 and the
// sum by 1, and the range is |sigma| 2^-70; the margin is twice that. Below 1/2,
// it keeps the sum under 2^49, so that its fraction is exact and the conversion
// in range. Underflow loses far less than the margin of any sum near a half, and
// overflow decides nothing.
func (p proposal) nearest(c, sigma float64) (k int64, decided bool) {
	noise := sigma * p.z()
	y := c + noise
	margin := (math.Abs(c)+math.Abs(noise))*0x1p-50 + math.Abs(sigma)*0x1p-69
	integer := math.RoundToEven(y)
	if !(0.5-math.Abs(y-integer) > margin) {
		return 0, false
	}
	return int64(integer), true
}

// lazy returns p with a digit string that extends without limit.
func (p proposal) lazy(s *Source) *lazyProposal {
	return &lazyProposal{k: p.k, x: newUniform(s, p.x, 64)}
}

// A lazyProposal is a z = (k+x)/64.
type lazyProposal struct {
	k int64
	x *uniform
}

// bounds encloses e^-t. The enclosure is as wide as that of the uniform it is
// compared with: x is read that far and no further, so that float64 and integer
// arithmetic read the same bits.
func (l *lazyProposal) bounds(precision uint) (lo, hi *big.Int) {
	for l.x.n+extraPrecision < precision {
		l.x.extend()
	}
	near, far := l.ends() // t grows with z
	_, hi = expFixed(l.exponent(near, precision), precision)
	lo, _ = expFixed(l.exponent(far, precision), precision)
	return lo, hi
}

// places is the number of binary places to which z is known.
func (l *lazyProposal) places() uint { return l.x.n + stepBits }

// ends encloses z, times 2^places.
func (l *lazyProposal) ends() (near, far *big.Int) {
	near = big.NewInt(l.k)
	near.Lsh(near, l.x.n).Or(near, l.x.bits)
	return near, new(big.Int).Add(near, one)
}

// exponent returns floor(t 2^precision) for z = end/2^places.
func (l *lazyProposal) exponent(end *big.Int, precision uint) *big.Int {
	places := l.places()
	t := new(big.Int).Mul(end, end)
	t.Add(t, new(big.Int).Lsh(one, 2*places))
	linear := big.NewInt(l.k)
	t.Sub(t, linear.Lsh(linear, 2*places+1-stepBits))
	return shift(t, int(precision)-int(2*places+1))
}

// nearest returns the integer nearest to c + sigma*z, or the int64 nearest to that.
// It reads as many digits as it needs; sigma may be negative.
func (l *lazyProposal) nearest(c, sigma float64) int64 {
	for {
		lo, hi := l.rounded(c, sigma)
		switch {
		case lo.Cmp(hi) != 0:
			l.x.extend()
		case lo.IsInt64():
			return lo.Int64()
		case lo.Sign() < 0:
			return math.MinInt64
		default:
			return math.MaxInt64
		}
	}
}

// rounded returns the integers nearest to c + sigma*z at either end of the known
// range of z. The ends themselves have probability 0: an end halfway between two
// integers is rounded to the side on which z is.
func (l *lazyProposal) rounded(c, sigma float64) (lo, hi *big.Int) {
	center, centerExponent := split(c)
	factor, factorExponent := split(sigma)
	factorExponent -= int(l.places())
	// Everything is an integer in units of 2^-fraction.
	fraction := max(1, -centerExponent, -factorExponent)
	shift(factor, factorExponent+fraction)
	shift(center, centerExponent+fraction)
	center.Add(center, new(big.Int).Lsh(one, uint(fraction-1))) // floor now rounds

	near, far := l.ends()
	lo = near.Add(near.Mul(near, factor), center)
	hi = far.Add(far.Mul(far, factor), center)
	if sigma < 0 {
		lo, hi = hi, lo
	}
	hi.Sub(hi, one) // the last unit before the end: ceil - 1 instead of floor
	return shift(lo, -fraction), shift(hi, -fraction)
}
