package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// noBreak keeps a number and its unit on one line.
const noBreak = "\u00a0"

// roundUp returns the smallest m*10^k, k an integer and m one of the ascending
// mantissas, the first of which is 1, that is at least x > 0.
func roundUp(x float64, mantissas ...float64) float64 {
	power := math.Floor(math.Log10(x))
	for _, m := range mantissas {
		if v := decimal(m, power); v >= x {
			return v
		}
	}
	return decimal(1, power+1)
}

// decimal returns m*10^power, as the nearest number to its decimals.
func decimal(m, power float64) float64 {
	if power < 0 {
		return m / math.Pow(10, -power)
	}
	return m * math.Pow(10, power)
}

// count prints an integer with separators of thousands.
func count(n int64) string { return group(strconv.FormatInt(n, 10)) }

// plainly prints a number exactly, without an exponent.
func plainly(x float64) string { return group(strconv.FormatFloat(x, 'f', -1, 64)) }

// about prints a number to so many significant digits.
func about(x float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return plainly(rounded)
}

// atMost prints a bound of three significant digits that is not below x > 0.
func atMost(x float64) string {
	unit := decimal(1, math.Floor(math.Log10(x))-2)
	rounded := math.Ceil(x/unit) * unit
	return about(rounded, 3)
}

// fixed prints a number with so many decimals.
func fixed(x float64, decimals int) string {
	return group(strconv.FormatFloat(x, 'f', decimals, 64))
}

// group separates the thousands of a decimal number.
func group(number string) string {
	sign, digits := "", number
	if strings.HasPrefix(digits, "-") {
		sign, digits = "−", digits[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	var groups []string
	for len(whole) > 3 {
		groups = append(groups, whole[len(whole)-3:])
		whole = whole[:len(whole)-3]
	}
	groups = append(groups, whole)
	slices.Reverse(groups)
	text := sign + strings.Join(groups, ",")
	if fraction != "" {
		text += "." + fraction
	}
	return text
}

// length prints metres to three significant digits, long ones in kilometres.
func length(metres float64) string {
	if metres >= 10_000 {
		return about(metres/1000, 3) + noBreak + "km"
	}
	return about(metres, 3) + noBreak + "m"
}

// percent prints a share with one decimal.
func percent(share float64) string { return fixed(100*share, 1) + noBreak + "%" }

// exactLength prints a declared or round length in metres without rounding it.
func exactLength(metres float64) string {
	if metres >= 10_000 {
		return plainly(metres/1000) + noBreak + "km"
	}
	return plainly(metres) + noBreak + "m"
}

// superscript prints an integer that is not negative above the line.
func superscript(n float64) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	return strings.Map(func(r rune) rune { return digits[r-'0'] }, strconv.FormatFloat(n, 'f', 0, 64))
}
