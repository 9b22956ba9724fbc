package exact

import (
	"math"
	"math/big"
)

// A uniform is a real number U in (0,1) whose first n bits are known:
// bits/2^n <= U <= (bits+1)/2^n.
type uniform struct {
	src  *Source
	bits *big.Int
	n    uint
}

func newUniform(src *Source, word uint64, n uint) *uniform {
	return &uniform{src: src, bits: new(big.Int).SetUint64(word), n: n}
}

// extend reads 64 more bits of U.
func (u *uniform) extend() {
	u.bits.Lsh(u.bits, 64)
	u.bits.Or(u.bits, new(big.Int).SetUint64(u.src.Uint64()))
	u.n += 64
}

// extraPrecision is the number of bits that the bounds of a probability carry beyond
// those known of U, so that reading more of U, not computing more digits,
// settles all but the closest calls. It exceeds the slack of every enclosure:
// what is settled in float64 is settled here on the same bits.
const extraPrecision = 64

// below reports whether U <= p. It reads as many bits of U as it needs.
func (u *uniform) below(p probability) bool {
	for {
		lo, hi := p.bounds(u.n + extraPrecision)
		floor := new(big.Int).Lsh(u.bits, extraPrecision)
		if floor.Cmp(hi) >= 0 {
			return false
		}
		ceil := new(big.Int).Add(u.bits, one)
		if ceil.Lsh(ceil, extraPrecision).Cmp(lo) <= 0 {
			return true
		}
		u.extend()
	}
}

// exponential returns an approximation of -ln U.
func (u *uniform) exponential() float64 {
	mantissa := new(big.Float).SetInt(u.bits)
	shift := mantissa.MantExp(mantissa)
	fraction, _ := mantissa.Float64()
	if fraction == 0 {
		fraction = 0.5
	}
	return float64(int(u.n)-shift)*math.Ln2 - math.Log(fraction)
}
