package exact

import "math"

// An enclosure bounds a standard exponential variate E = -ln U:
// |E - mid| <= err, where err includes the slack that the methods below need
// for their own rounding.
//
// The bounds take math.Log, Log1p and Expm1 to be within 4 units in the last
// place (their authors prove 1; the tests check this platform) and an
// operation to be within half a unit, 2^-53 relative. A fused multiply-add
// only removes roundings.
type enclosure struct {
	mid, err float64
}

// enclose32 is enclose for 32 bits.
func enclose32(w uint32) enclosure { return enclose(w, 32) }

// enclose returns an enclosure of E for a U whose first n <= 32 bits are w.
//
// Counted in 2^-n, U lies within 1/2 of m = w + 1/2, which is exact, so E
// lies between -ln m - 1/(2m) and -ln m + 1/(2w); for w = 0 err is infinite.
// Of err = 9/16w the part 1/16w > 2^-36 is slack, and mid is within 2^-45.
func enclose(w uint32, n int) enclosure {
	return enclosure{
		mid: -halfLog(w, n),
		err: 0.5625 / float64(w),
	}
}

// enclose64 returns an enclosure of E for a U whose first 64 bits are w.
//
// E lies between -ln((w+1) 2^-64) and -ln(w 2^-64), which are at most 1/w
// apart. Converting w moves its logarithm by less than 2^-52, the logarithm
// itself is within 2^-50 mid; half of (1 + mid) 2^-47 covers both and leaves
// the other half as slack.
func enclose64(w uint64) enclosure {
	f := float64(w)
	mid := -math.Log(f * 0x1p-64)
	return enclosure{
		mid: mid,
		err: 1.125/f + (1+mid)*0x1p-47,
	}
}

// quotient returns floor((E+offset)/rate) for inverse = 1/rate, and reports whether
// it is the same on the whole enclosure. 0 <= offset < rate and offset <= ln 2, and
// the offset is within 16 * 2^-53 of its true value.
//
// Offset, sum, inverse and product are rounded: in units of 2^-53 inverse that
// is at most 16 + 3(mid + ln 2) < 19 + 3 mid, less than the slack, which is
// 32(1 + mid) or more. When the margin is 1/2 or more, or not a number,
// nothing is decided; below 1/2, the slack in it keeps x under 2^46, so the
// conversion is in range, and frac and 1-frac are as good as exact. An inverse
// which underflows belongs to a rate so large that k is 0 either way.
func (e enclosure) quotient(offset, inverse float64) (k int64, decided bool) {
	x := (e.mid + offset) * inverse
	margin := e.err * inverse
	k = int64(x)
	frac := x - float64(k)
	return k, frac > margin && 1-frac > margin
}

// exceeds reports whether E > x, and whether that is decided: the same on the whole
// enclosure. x is known to within scale*2^-49, where |x| <= scale. The rest of the
// margin and the slack cover the rounding of the difference.
func (e enclosure) exceeds(x, scale float64) (answer, decided bool) {
	difference := e.mid - x
	margin := e.err + scale*0x1p-48
	return difference > 0, math.Abs(difference) > margin
}
