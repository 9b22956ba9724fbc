package report

import "math"

// A tick is a mark on an axis.
type tick struct {
	At    float64 // position in the picture
	Label string
}

// tickStep returns a round distance between marks such that a range has at most most
// of them.
func tickStep(span float64, most int) float64 {
	return roundUp(span/float64(most), 1, 2, 5)
}

// decimals returns the number of decimals that distinguish the multiples of a step.
func decimals(step float64) int {
	return max(0, int(-math.Floor(math.Log10(step)+1e-9)))
}

// multiples returns the multiples of step in [low, high].
func multiples(low, high, step float64) []float64 {
	var values []float64
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	for k := int64(first); k <= int64(last); k++ { // integers have no -0
		values = append(values, float64(k)*step)
	}
	return values
}
