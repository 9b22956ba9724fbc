package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for _, c := range [][2]string{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "−1,234,567"},
		{plainly(0.0069314718056), "0.0069314718056"}, {plainly(9_000_000), "9,000,000"}, {plainly(1e-12), "0.000000000001"},
		{about(1234567, 3), "1,230,000"}, {about(0.012345, 2), "0.012"},
		{atMost(4.0391), "4.04"}, {atMost(4.04), "4.04"}, {atMost(1.001), "1.01"}, {atMost(999.1), "1,000"},
		{length(288.539), "289\u00a0m"}, {length(12_345), "12.3\u00a0km"}, {length(0), "0\u00a0m"},
		{exactLength(1963.25), "1,963.25\u00a0m"}, {exactLength(20_000), "20\u00a0km"},
		{percent(0.1234), "12.3\u00a0%"}, {percent(1), "100.0\u00a0%"},
		{superscript(1230), "¹²³⁰"}, {factorAtMost(math.Log(1e7) - 1e-9), "10⁷"}, {factorAtMost(1e4), "10⁴³⁴³"},
		{angle(-77.05, 2, "E", "W"), "77.05°\u00a0W"}, {angle(-0.001, 1, "N", "S"), "0.0°"}, {angle(38.9, 1, "N", "S"), "38.9°\u00a0N"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}

// A printed bound holds, and is at most a hundredth too large.
func TestAtMostIsABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(0, math.Log(vast)).Draw(t, "exponent"))
		printed, err := strconv.ParseFloat(strings.ReplaceAll(atMost(x), ",", ""), 64)
		if err != nil || printed < x*(1-1e-12) || printed > x*1.0101 {
			t.Fatalf("%v is printed as %v (%v)", x, atMost(x), err)
		}
	})
}

func TestRoundUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-40, 40).Draw(t, "logarithm"))
		if v := roundUp(x, 1, 2, 5); v < x || v > 2.5001*x {
			t.Fatalf("%v is rounded up to %v", x, v)
		}
	})
}

// The marks of any axis are within it and as many as asked for at most, and their
// labels differ.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := math.Exp(rapid.Float64Range(-12, 12).Draw(t, "span"))
		low := span * rapid.Float64Range(-50, 50).Draw(t, "low")
		most := rapid.IntRange(1, 8).Draw(t, "most")
		step := tickStep(span, most)
		values, seen := multiples(low, low+span, step), map[string]bool{}
		if len(values) > most+1 {
			t.Fatalf("%d marks, at most %d asked for", len(values), most)
		}
		for _, v := range values {
			label := fixed(v, decimals(step))
			if v < low-1e-6*span || v > low+span*(1+1e-6) || seen[label] || label == "−0" {
				t.Fatalf("%v of [%v, %v] with label %q", v, low, low+span, label)
			}
			seen[label] = true
		}
	})
}
