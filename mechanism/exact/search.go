package exact

import "math"

// lastReached returns the largest n from 0 to MaxInt64 that is 0 or reached. All
// numbers below a reached one are reached too. It takes doubling steps away from
// guess, which is in the same range, and then bisects: the guess affects only the time
// this takes.
func lastReached(guess uint64, reached func(n uint64) bool) int64 {
	const limit = math.MaxInt64 + 1
	lo, hi := guess, guess+1
	for step := uint64(1); lo > 0 && !reached(lo); step *= 2 {
		lo, hi = lo-min(step, lo), lo
	}
	for step := uint64(1); hi < limit && reached(hi); step *= 2 {
		lo, hi = hi, min(hi+step, limit)
	}
	for hi-lo > 1 { // lo is 0 or reached; hi is not, or is the limit
		if mid := lo + (hi-lo)/2; reached(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return int64(lo)
}
