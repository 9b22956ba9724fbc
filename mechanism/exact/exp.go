package exact

import (
	"math"
	"math/big"
	"math/bits"
)

var one = big.NewInt(1)

// ExpBounds returns rationals lo <= e^-x <= hi with hi - lo <= 2^-prec, for a
// rational x >= 0. Both lie in [0,1], and their denominators are powers of two.
// It panics if x is negative.
func ExpBounds(x *big.Rat, prec uint) (lo, hi *big.Rat) {
	switch x.Sign() {
	case -1:
		panic("exact: ExpBounds of a negative exponent")
	case 0:
		return big.NewRat(1, 1), big.NewRat(1, 1)
	}
	precision := prec + 2 // expFixed leaves at most 4 units between its bounds
	l, h := rational{x}.bounds(precision)
	unit := new(big.Int).Lsh(one, precision)
	return new(big.Rat).SetFrac(l, unit), new(big.Rat).SetFrac(h, unit)
}

// expFixed encloses e^-x in fixed point with p >= 1 bits after the point, for
// every x >= 0 with n <= x 2^p <= n+2, and for x = 0 when n is negative:
//
//	lo <= e^-x 2^p <= hi,  hi - lo <= 4,  0 <= lo,  hi <= 2^p.
//
// With r = x/2^s small enough for a short Taylor series, e^-x = (e^-r)^(2^s).
// The work is done with w = p + s + guard bits. A squaring of bounds on a
// number below 1 at most doubles their distance, and its outward rounding adds
// 2 units; so s of them turn the 4T+4 units which T terms of the series leave
// into less than 2^s (4T+6), which the guard keeps below one unit of p bits:
// T < (p + 2 Len(p) + 6)/c + 4, and 4T+6 <= 2^(Len(p)+6) for every p.
func expFixed(n *big.Int, p uint) (lo, hi *big.Int) {
	if n.Sign() < 0 {
		n = new(big.Int) // n+2 then bounds an x >= 0 all the more
	}
	magnitude := n.BitLen() - int(p) // x < 2^magnitude, and >= half of that
	if magnitude > bits.Len(p) {
		return new(big.Int), big.NewInt(1) // x > p, so e^-x < 2^-p
	}
	c := 1 + int(math.Sqrt(float64(p))) // r < 2^-c balances terms and squarings
	s := uint(max(0, magnitude+c))
	guard := uint(bits.Len(p)) + 6
	w := p + s + guard

	lo, hi = expTaylor(new(big.Int).Lsh(n, guard), w)
	square := new(big.Int)
	for range s {
		lo.Rsh(square.Mul(lo, lo), w)
		hi.Set(square.Mul(hi, hi))
		ceilRsh(hi, w)
	}
	lo.Rsh(lo, w-p)
	ceilRsh(hi, w-p)
	// So far x = n/2^p; e^-x falls by at most 2 units up to (n+2)/2^p.
	lo.Sub(lo, big.NewInt(2))
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	return lo, hi
}

// expTaylor encloses e^-r in fixed point with w bits after the point, for
// r = n/2^w in [0, 1/2].
//
// A term is the one before it times r/k, rounded down, so it falls short of
// the true one by less than 1 + 1/2 + 1/4 + .. = 2 units. The series
// alternates and decreases: the rest is smaller than the first term
// cut off, and that one is below 2 units, as it was computed as 0.
func expTaylor(n *big.Int, w uint) (lo, hi *big.Int) {
	unit := new(big.Int).Lsh(one, w)
	sum := new(big.Int).Set(unit)
	term := new(big.Int).Set(unit)
	product, divisor := new(big.Int), new(big.Int)
	k := int64(1)
	for ; ; k++ {
		product.Rsh(product.Mul(term, n), w)
		term.Quo(product, divisor.SetInt64(k))
		if term.Sign() == 0 {
			break
		}
		if k%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	slack := big.NewInt(2 * k) // 2 for each of k-1 terms, 2 for the rest
	lo = new(big.Int).Sub(sum, slack)
	hi = sum.Add(sum, slack)
	if hi.Cmp(unit) > 0 {
		hi = unit
	}
	return lo, hi
}

// ceilRsh sets x to ceil(x / 2^n).
func ceilRsh(x *big.Int, n uint) {
	x.Neg(x.Rsh(x.Neg(x), n))
}
