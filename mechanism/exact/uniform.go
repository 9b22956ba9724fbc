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
// decisions in float64 and here agree on the same bits.
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

// A Probability is a real number in [0,1] that can be computed to any precision.
type Probability interface {
	// Bounds returns rationals 0 <= lo <= p <= hi around the number p with
	// hi - lo <= 2^-prec.
	Bounds(prec uint) (lo, hi *big.Rat)
}

// A Uniform is a real number, uniform on (0,1), that is read as far as its comparisons
// need. It is made by [Source.Uniform].
type Uniform struct {
	src  *Source
	word uint64   // the first 64 bits
	all  *uniform // nil unless they left a comparison open
}

// Uniform returns a new number, and reads 64 bits of it.
func (s *Source) Uniform() Uniform { return Uniform{src: s, word: s.Uint64()} }

// Below reports whether u is at most p, which it is with probability p. low and high bound
// p from below and above. They need not be close, but p is computed only if they leave the
// answer open.
func (u *Uniform) Below(low, high float64, p Probability) bool {
	const unit = 0x1p-53
	known := float64(u.word>>11) * unit // known <= u <= known+unit, without rounding
	if !u.src.certify {
		if known+unit <= low {
			return true
		}
		if known >= high {
			return false
		}
	}
	if u.all == nil {
		u.all = newUniform(u.src, u.word, 64)
	}
	return u.all.below(enclosed{p})
}
