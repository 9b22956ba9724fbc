package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/decimal"
)

// noBreak keeps a number and its unit on one line.
const noBreak = "\u00a0"

// roundUp returns the smallest m*10^k >= x, for x > 0, an integer k and one of the given
// mantissas m. These are ascending, and the first is 1.
func roundUp(x float64, mantissas ...float64) float64 {
	power := math.Floor(math.Log10(x))
	for _, m := range mantissas {
		if v := scaled(m, power); v >= x {
			return v
		}
	}
	return scaled(1, power+1)
}

// scaled returns the float64 nearest to m*10^power.
func scaled(m, power float64) float64 {
	if power < 0 {
		return m / math.Pow(10, -power)
	}
	return m * math.Pow(10, power)
}

// count formats an integer with thousands separators.
func count(n int64) string { return group(strconv.FormatInt(n, 10)) }

// plainly formats a number without rounding it and without an exponent.
func plainly(x float64) string { return group(decimal.Format(x)) }

// about formats a number with the given number of significant digits.
func about(x float64, digits int) string {
	return plainly(decimal.Round(x, digits))
}

// atMost formats a bound of three significant digits that is at least x, for x > 0.
func atMost(x float64) string {
	unit := scaled(1, math.Floor(math.Log10(x))-2)
	rounded := math.Ceil(x/unit) * unit
	return about(rounded, 3)
}

// fixed formats a number with the given number of decimals.
func fixed(x float64, decimals int) string {
	return group(strconv.FormatFloat(x, 'f', decimals, 64))
}

// group adds thousands separators to a decimal number.
func group(number string) string {
	sign, digits := "", number
	if strings.HasPrefix(digits, "-") {
		sign, digits = "−", digits[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	text := sign + decimal.Group(whole)
	if fraction != "" {
		text += "." + fraction
	}
	return text
}

// length formats metres with three significant digits, and long lengths in kilometres.
func length(metres float64) string {
	if metres >= 10_000 {
		return about(metres/1000, 3) + noBreak + "km"
	}
	return about(metres, 3) + noBreak + "m"
}

// percent formats a share in percent, with one decimal.
func percent(share float64) string { return fixed(100*share, 1) + noBreak + "%" }

// exactLength formats a length in metres without rounding it, and long lengths in
// kilometres.
func exactLength(metres float64) string {
	if metres >= 10_000 {
		return plainly(metres/1000) + noBreak + "km"
	}
	return plainly(metres) + noBreak + "m"
}

// superscript formats an integer, which must not be negative, as a superscript.
func superscript(n float64) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	return strings.Map(func(r rune) rune { return digits[r-'0'] }, strconv.FormatFloat(n, 'f', 0, 64))
}
