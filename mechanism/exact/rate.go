package exact

import (
	"fmt"
	"math"
	"math/big"
)

// RateFloor returns the largest float64 that is not above r, so that a mechanism
// run at this rate never spends more than r. It returns an error if r is not
// positive, or so small that the result would be 0.
func RateFloor(r *big.Rat) (float64, error) {
	if r.Sign() <= 0 {
		return 0, fmt.Errorf("rate %s is not positive", r.RatString())
	}
	rate, _ := r.Float64() // the nearest
	if math.IsInf(rate, 1) || new(big.Rat).SetFloat64(rate).Cmp(r) > 0 {
		rate = math.Nextafter(rate, 0)
	}
	if rate == 0 {
		return 0, fmt.Errorf("rate is below the smallest positive number %g", math.SmallestNonzeroFloat64)
	}
	return rate, nil
}

// RateTimes returns a rate that is not above n*rate, and less than 2^-50 of it below,
// for n >= 1 and a rate of at least 1e-300, as long as the product is finite. It turns
// the rate of one small unit of epsilon into that of n units, without rational
// arithmetic.
//
// Each of three roundings adds at most one part in 2^53; the last factor takes four
// away.
func RateTimes(rate float64, n int64) float64 {
	return rate * float64(n) * (1 - 0x1p-51)
}
