package cli

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Rational reads a decimal within the range of a float64, exactly.
func Rational(text string) (*big.Rat, error) {
	if _, err := Number(text); err != nil {
		return nil, err
	}
	x, ok := new(big.Rat).SetString(TrimBlanks(text))
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal number", text)
	}
	return x, nil
}

// RationalLevel reads a decimal, or the logarithm of a decimal, which it rounds down.
func RationalLevel(text string) (*big.Rat, error) {
	x, err := Level(text)
	if err != nil || !strings.HasPrefix(TrimBlanks(text), "ln") {
		return Rational(text)
	}
	units := math.Floor(x*1e12) - 1 // one less, since rounding may have added one
	return new(big.Rat).SetFrac(big.NewInt(int64(units)), big.NewInt(1e12)), nil
}

// FormatRational returns a decimal fraction as text.
func FormatRational(x *big.Rat) string {
	n, exact := x.FloatPrec()
	if !exact {
		n = 15
	}
	return x.FloatString(n)
}
