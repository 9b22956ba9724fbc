// Package filters has functions whose rounding errors are known.
package filters

import "math"

const tenth = 0.1

type line struct{ slope, start float64 }

func product(x, y float64) float64 { return x * y }

func (l line) at(x float64) float64 { return l.slope*x + l.start }

func converted(x, y, z float64) float64 { return float64(x*y) + z }

func named(x, y, z float64) float64 {
	p := x * y
	return z - p
}

func inlined(x, y, z float64) float64 { return product(x, y) + z }

// residue is 0 without fused multiply-add, and with it what the rounding of a product loses.
func residue(x, y float64) float64 { return x*y - x*y }

func compares(x, y float64) bool {
	z := x + y
	if z > 1 {
		z = 1
	}
	return math.Abs(z-tenth) < 3*y
}

func unknowns(list []float64) float64 {
	sum := 1.0
	for _, x := range list {
		sum += x
	}
	return sum * tenth
}

func integers(n, m int64) float64 { return float64(n*m + 1) }
