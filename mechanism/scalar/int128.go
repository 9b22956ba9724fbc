package scalar

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// A uint128 is a sum of indices, each below 2^40, so that no number of rows that an
// int64 can count overflows it.
type uint128 struct{ hi, lo uint64 }

// add returns a + b.
func (a uint128) add(b uint64) uint128 {
	lo, carry := bits.Add64(a.lo, b, 0)
	return uint128{a.hi + carry, lo}
}

// addSquare returns a + b*b.
func (a uint128) addSquare(b uint64) uint128 {
	hi, lo := bits.Mul64(b, b)
	sum := a.add(lo)
	sum.hi += hi
	return sum
}

// times returns a*m; the product must be below 2^127.
func (a uint128) times(m uint64) int128 {
	hi, lo := bits.Mul64(a.lo, m)
	return int128{int64(hi + a.hi*m), lo}
}

// float returns a to within 3 parts in 2^53.
func (a uint128) float() float64 { return float64(float64(a.hi)*0x1p64) + float64(a.lo) }

// big returns a, which is below 2^127.
func (a uint128) big() *big.Int { return int128{int64(a.hi), a.lo}.big() }

// An int128 is a lattice point or a difference of two, in two's complement.
type int128 struct {
	hi int64
	lo uint64
}

func fromInt64(v int64) int128 { return int128{v >> 63, uint64(v)} }

var (
	lowest  = int128{math.MinInt64, 0}
	highest = int128{math.MaxInt64, math.MaxUint64}
)

func (a int128) add(b int128) int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return int128{a.hi + b.hi + int64(carry), lo}
}

func (a int128) neg() int128 {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	return int128{-a.hi - int64(borrow), lo}
}

func (a int128) less(b int128) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}

// int64 returns a, and reports whether it fits.
func (a int128) int64() (int64, bool) {
	v := int64(a.lo)
	return v, v>>63 == a.hi
}

func (a int128) big() *big.Int {
	v := big.NewInt(a.hi)
	v.Lsh(v, 64)
	return v.Add(v, new(big.Int).SetUint64(a.lo))
}

// float returns a to within 3 parts in 2^53.
func (a int128) float() float64 {
	if a.hi < 0 {
		minus := a.neg()
		return -uint128{uint64(minus.hi), minus.lo}.float()
	}
	return uint128{uint64(a.hi), a.lo}.float()
}

// append appends the decimal of a.
func (a int128) append(b []byte) []byte {
	if v, small := a.int64(); small {
		return strconv.AppendInt(b, v, 10)
	}
	return a.big().Append(b, 10)
}
