package exact

import (
	"fmt"
	"math"
	"math/big"
)

// RateFloor returns the largest float64 which is not above r, so that a
// mechanism run at this rate never spends more than r. It is an error when r
// is not positive, or so small that the result would be 0.
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
