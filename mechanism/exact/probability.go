package exact

import (
	"math"
	"math/big"
)

// A probability is a real number in [0,1] that can be computed to any precision.
type probability interface {
	// bounds encloses the number, times 2^precision, within a few units. A number that
	// is itself read lazily is enclosed as narrowly as the uniform it is compared with.
	bounds(precision uint) (lo, hi *big.Int)
}

// rational is the probability e^-x for a rational x >= 0.
type rational struct{ x *big.Rat }

func (r rational) bounds(precision uint) (lo, hi *big.Int) {
	n := new(big.Int).Lsh(r.x.Num(), precision)
	return expFixed(n.Quo(n, r.x.Denom()), precision)
}

// ratio is the probability e^-(rate num/den).
type ratio struct {
	rate     float64
	num, den uint64
}

// bounds rounds down once, since floor(floor(y)/den) = floor(y/den).
func (r ratio) bounds(precision uint) (lo, hi *big.Int) {
	mantissa, exponent := split(r.rate)
	n := new(big.Int).SetUint64(r.num)
	shift(n.Mul(n, mantissa), exponent+int(precision))
	if r.den > 1 {
		n.Quo(n, new(big.Int).SetUint64(r.den))
	}
	return expFixed(n, precision)
}

// excess is the probability e^-(rate*sqrt(i^2+j^2) - a*(|i|+|j|)).
type excess struct {
	rate, a float64
	i, j    int64
}

// bounds takes the integer square root of rate^2 (i^2+j^2), scaled. This rounds down
// once, since floor(sqrt(floor(y))) = floor(sqrt(y)). Each term is less than one unit
// above its floor, so with one unit subtracted the difference is not above the true
// one, and less than two units below it.
func (e excess) bounds(precision uint) (lo, hi *big.Int) {
	root := scaledRoot(e.rate, e.i, e.j, precision)
	i, j := big.NewInt(e.i), big.NewInt(e.j)
	manhattan := i.Add(i.Abs(i), j.Abs(j))
	mantissa, exponent := split(e.a)
	linear := shift(manhattan.Mul(manhattan, mantissa), exponent+int(precision))
	return expFixed(root.Sub(root.Sub(root, linear), one), precision)
}

// square is the probability e^-((2*rate*k - a)^2/(4*rate)).
type square struct {
	rate, a float64
	k       uint64
}

// bounds computes the square exactly and rounds down once.
func (q square) bounds(precision uint) (lo, hi *big.Int) {
	rate, exponent := split(q.rate)
	a, aExponent := split(q.a)
	unit := min(exponent+1, aExponent) // of 2*rate*k and of a
	root := new(big.Int).SetUint64(q.k)
	shift(root.Mul(root, rate), exponent+1-unit)
	root.Sub(root, shift(a, aExponent-unit))
	n := root.Mul(root, root)
	shift(n, 2*unit-exponent-2+int(precision))
	return expFixed(n.Quo(n, rate), precision)
}

// overshoot is the probability e^-max(0, x) for x = c - rate*sqrt(i^2+j^2), or
// for -x when negated.
type overshoot struct {
	rate, c float64
	i, j    int64
	negated bool
}

// bounds rounds as for excess: two floors, one unit subtracted. If x is negative by
// more than rounding may hide, the event is certain, and known to be so without
// another bit.
func (o overshoot) bounds(precision uint) (lo, hi *big.Int) {
	root := scaledRoot(o.rate, o.i, o.j, precision)
	mantissa, exponent := split(o.c)
	x := shift(mantissa, exponent+int(precision))
	x.Sub(x, root)
	if o.negated {
		x.Neg(x)
	}
	if x.Sub(x, one); x.Cmp(minusTwo) <= 0 {
		unit := new(big.Int).Lsh(one, precision)
		return unit, new(big.Int).Set(unit)
	}
	return expFixed(x, precision)
}

var minusTwo = big.NewInt(-2)

// scaledRoot returns floor(rate*sqrt(i^2+j^2)*2^precision).
func scaledRoot(rate float64, i, j int64, precision uint) *big.Int {
	bi, bj := big.NewInt(i), big.NewInt(j)
	squares := bi.Add(bi.Mul(bi, bi), bj.Mul(bj, bj))
	mantissa, exponent := split(rate)
	squares.Mul(squares, mantissa.Mul(mantissa, mantissa))
	return squares.Sqrt(shift(squares, 2*(exponent+int(precision))))
}

// tail is the probability 2 q^n/(1+q), q = e^-rate, n >= 1.
type tail struct {
	rate float64
	n    uint64
}

func (t tail) bounds(precision uint) (lo, hi *big.Int) {
	unit := new(big.Int).Lsh(one, precision)
	qlo, qhi := ratio{t.rate, 1, 1}.bounds(precision)
	lo, hi = ratio{t.rate, t.n, 1}.bounds(precision)
	lo.Quo(lo.Lsh(lo, precision+1), qhi.Add(qhi, unit))
	hi.Quo(hi.Lsh(hi, precision+1), qlo.Add(qlo, unit))
	return lo, hi.Add(hi, one)
}

// enclosed is a probability that another package computes.
type enclosed struct{ p Probability }

// bounds rounds outwards, which adds less than two units to the one between the bounds.
func (e enclosed) bounds(precision uint) (lo, hi *big.Int) {
	l, h := e.p.Bounds(precision)
	lo = new(big.Int).Lsh(l.Num(), precision)
	hi = new(big.Int).Lsh(h.Num(), precision)
	hi.Add(hi, h.Denom())
	return lo.Quo(lo, l.Denom()), hi.Quo(hi, h.Denom()) // neither is negative
}

// split writes x exactly as mantissa * 2^exponent.
func split(x float64) (mantissa *big.Int, exponent int) {
	fraction, exponent := math.Frexp(x)
	return big.NewInt(int64(fraction * (1 << 53))), exponent - 53
}

// shift sets x to floor(x 2^n) and returns it.
func shift(x *big.Int, n int) *big.Int {
	if n < 0 {
		return x.Rsh(x, uint(-n))
	}
	return x.Lsh(x, uint(n))
}
