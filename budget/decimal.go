package budget

import (
	"math/big"
	"strconv"
)

// Decimal returns the decimal that people mean by x: the shortest one that reads back
// as x. Decimal(0.1) is 1/10 and not the binary fraction next to it, so that ten
// charges of 0.1 make exactly 1. It is monotone in x, and nil if x is not finite.
func Decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		return nil
	}
	return r
}
