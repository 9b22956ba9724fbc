package budget

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

const (
	// One is an epsilon of 1.
	One Amount = 1_000_000_000_000

	// Max is the largest amount: an epsilon of 9,000,000.
	Max = 9_000_000 * One
)

// An Amount is an epsilon, counted in quanta of 1e-12. Amounts add exactly, as
// integers. Their meaning depends on a [Unit].
type Amount int64

// Cost returns the charge for an epsilon: eps rounded up to a multiple of 1e-12, so
// that a charge is never below the loss it pays for. It returns an error if eps is
// not above 0 or exceeds [Max].
func Cost(eps *big.Rat) (Amount, error) {
	if eps.Sign() <= 0 {
		return 0, errors.New("epsilon must be above 0")
	}
	if eps.Cmp(maxEpsilon) > 0 {
		return 0, fmt.Errorf("epsilon must be at most %v", Max)
	}
	n := new(big.Int).Mul(eps.Num(), big.NewInt(int64(One)))
	n.Add(n, eps.Denom())
	n.Sub(n, big.NewInt(1))
	n.Quo(n, eps.Denom())
	return Amount(n.Int64()), nil
}

// Limit returns the limit that an epsilon sets: eps rounded down to a multiple of
// 1e-12, so that a limit never grows. Zero is a limit that blocks. It returns an
// error if eps is negative or exceeds [Max].
func Limit(eps *big.Rat) (Amount, error) {
	if eps.Sign() < 0 {
		return 0, errors.New("epsilon must not be below 0")
	}
	if eps.Cmp(maxEpsilon) > 0 {
		return 0, fmt.Errorf("epsilon must be at most %v", Max)
	}
	n := new(big.Int).Mul(eps.Num(), big.NewInt(int64(One)))
	return Amount(n.Quo(n, eps.Denom()).Int64()), nil
}

var maxEpsilon = Max.Rat()

// String returns a as a plain decimal: no exponent, no trailing zeros.
func (a Amount) String() string {
	sign, u := "", uint64(a)
	if a < 0 {
		sign, u = "-", -u
	}
	whole := sign + strconv.FormatUint(u/uint64(One), 10)
	if u%uint64(One) == 0 {
		return whole
	}
	return whole + "." + strings.TrimRight(fmt.Sprintf("%012d", u%uint64(One)), "0")
}

// Times returns the cost of n charges of a. It reports false if that exceeds [Max],
// or if a or n is negative.
func (a Amount) Times(n int64) (Amount, bool) {
	if a < 0 || n < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(n))
	if hi != 0 || lo > uint64(Max) {
		return 0, false
	}
	return Amount(lo), true
}

// Rat returns a as a rational number.
func (a Amount) Rat() *big.Rat { return big.NewRat(int64(a), int64(One)) }

// Float64 returns the float64 nearest to a, which prints as a does when a has at
// most 15 significant digits.
func (a Amount) Float64() float64 {
	// One correctly rounded conversion; float64(a)/float64(One) would round twice.
	f, _ := strconv.ParseFloat(a.String(), 64) // a plain decimal always parses
	return f
}
