package cip

import (
	"math"
	"math/big"
)

// newFloat returns 0 with the given precision.
func newFloat(bits uint) *big.Float { return new(big.Float).SetPrec(bits) }

// bigExp returns e^-x for x >= 0, with an absolute error below 2^-bits if x has a
// relative error of at most 2^-(bits+40).
//
// x is halved until the Taylor series needs few terms, and the result is squared as often.
// Squaring doubles the relative error, which begins at no more than 2^8 units of the last
// place for the fewer than 2^7 terms; the additional bits cover all of it. An error of x
// counts as an absolute one, and x is at most bits here.
func bigExp(x *big.Float, bits uint) *big.Float {
	if x.Cmp(new(big.Float).SetUint64(uint64(bits))) > 0 {
		return newFloat(bits) // e^-bits < 2^-bits
	}
	small := int(math.Sqrt(float64(bits)))
	halvings := max(0, x.MantExp(nil)+small)
	work := bits + uint(halvings) + 32

	y := newFloat(work).Set(x)
	y.SetMantExp(y, -halvings).Neg(y)
	sum, term := newFloat(work).SetInt64(1), newFloat(work).SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) >= -int(work); k++ {
		term.Mul(term, y).Quo(term, newFloat(work).SetInt64(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetPrec(bits + 8)
}

// bigSinPi returns sin(pi*y) for 0 <= y <= 1/2 with a relative error below 2^-bits,
// if pi has one below 2^-(bits+32).
//
// The terms of the series alternate, none is above twice the result (pi*y at
// most, and sin(x) >= 2x/pi), and there are fewer than 2^12 for the bits allowed.
func bigSinPi(y *big.Rat, pi *big.Float, bits uint) *big.Float {
	work := bits + 32
	x := newFloat(work).SetRat(y)
	x.Mul(x, pi)
	square := newFloat(work).Mul(x, x)
	sum, term := newFloat(work).Set(x), newFloat(work).Set(x)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) >= x.MantExp(nil)-int(work); k++ {
		term.Mul(term, square).Quo(term, newFloat(work).SetInt64(-2*k*(2*k+1)))
		sum.Add(sum, term)
	}
	return sum
}

// bigPi returns pi with a relative error below 2^-bits, by the arithmetic-geometric
// mean (Brent, Salamin 1976), which doubles the number of right digits in each of
// fewer than 20 rounds.
func bigPi(bits uint) *big.Float {
	work := bits + 32
	a, b := newFloat(work).SetInt64(1), newFloat(work).SetFloat64(0.5)
	b.Sqrt(b)
	sum, power := newFloat(work).SetFloat64(0.25), 0
	for {
		diff := newFloat(work).Sub(a, b)
		if diff.Sign() == 0 || diff.MantExp(nil) < -int(work)/2 {
			break
		}
		product := newFloat(work).Mul(a, b)
		a.Add(a, b)
		a.SetMantExp(a, -1)
		b.Sqrt(product)
		// 2^power * (a_k - a_(k+1))^2, where the difference is half of diff.
		diff.Mul(diff, diff)
		sum.Sub(sum, diff.SetMantExp(diff, power-2))
		power++
	}
	a.Add(a, b)
	a.Mul(a, a)
	return a.Quo(a, sum.SetMantExp(sum, 2))
}
