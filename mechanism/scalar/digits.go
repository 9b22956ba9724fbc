package scalar

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/geosql/geosql/mechanism/nearest"
)

// An answer that is a quotient or a root would print digits that are noise alone. It is rounded to a multiple of the
// largest power of ten that is at most a thousandth of a scale: that of its noise, or the width of its range where that is
// less. The scale is a function of public facts and of draws, so that rounding spends nothing. It moves an answer
// by a 2000th of the scale at most, which the radii include, and moving the answer back into its range only makes that less.
const roundoff = 1. / 2000

// decimalsOfNoise returns how many decimals the digits of an answer are rounded to. They are negative above the units.
func decimalsOfNoise(scale float64) int {
	text := strconv.FormatFloat(scale, 'e', -1, 64) // with the exponent of the number as it prints
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	return 3 - exponent
}

// rounded returns the float64 nearest to num/den as rounded for a scale above 0, den > 0. Halves are rounded up.
func rounded(num, den *big.Int, scale float64) float64 {
	decimals := decimalsOfNoise(scale)
	grain := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(decimals, -decimals))), nil)
	whole, part := grain, big.NewInt(1) // a grain is part/whole
	if decimals < 0 {
		whole, part = part, grain
	}
	// floor((2*num*whole + den*part) / (2*den*part))
	den = new(big.Int).Mul(den, part)
	num = new(big.Int).Mul(num, whole)
	num.Lsh(num, 1).Add(num, den)
	grains := num.Div(num, den.Lsh(den, 1))
	if 0 <= decimals && decimals <= nearest.MaxDecimals && grains.BitLen() <= 53 { // both operands are exact, so the division rounds once
		return float64(grains.Int64()) / math.Pow10(decimals)
	}
	x, _ := new(big.Rat).SetFrac(grains.Mul(grains, part), whole).Float64()
	return x
}
