package scalar

import "math/big"

// A lattice is the public set of numbers that a query can release: (first + z*step)/scale for integers z from low to
// high.
type lattice struct {
	first, step int64 // in quanta
	scale       float64
	low, high   int128
}

// maxCount is where counts saturate; every count up to there is a float64.
const maxCount = 1 << 53

// counts is the lattice of numbers of rows.
var counts = lattice{step: 1, scale: 1, high: fromInt64(maxCount)}

// lattice returns the values of the universe.
func (u *Universe) lattice() lattice {
	return lattice{first: u.first, step: u.stride, scale: u.scale, high: fromInt64(u.last)}
}

// totals returns the lattice of sums. They are not negative where no value is. The other end stays open: a clamp at m*hi
// would show m, the number of readings.
func (u *Universe) totals() lattice {
	l := lattice{step: u.grain(), scale: u.scale, low: lowest, high: highest}
	if u.first >= 0 {
		l.low = int128{}
	}
	return l
}

// clamp returns the point nearest to z.
func (l *lattice) clamp(z int128) int128 {
	if z.less(l.low) {
		return l.low
	}
	if l.high.less(z) {
		return l.high
	}
	return z
}

// number returns the float64 nearest to the decimal at z.
func (l *lattice) number(z int128) float64 {
	const limit = 1 << 52 // with first, which is below 2^50, it stays below 2^53
	if v, ok := z.int64(); ok && -limit/l.step <= v && v <= limit/l.step {
		return float64(v*l.step+l.first) / l.scale // both exact: rounded once
	}
	quanta := z.big()
	quanta.Mul(quanta, big.NewInt(l.step))
	quanta.Add(quanta, big.NewInt(l.first))
	f, _ := new(big.Rat).SetFrac(quanta, integer(l.scale)).Float64()
	return f
}

// integer returns x, a whole number.
func integer(x float64) *big.Int {
	n, _ := new(big.Float).SetFloat64(x).Int(nil)
	return n
}
