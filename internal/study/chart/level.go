package chart

import (
	"math"
	"strconv"
)

// LevelName returns the name of a privacy level in a legend: "ln 4" for the logarithm of a
// whole number if that is shorter than the level itself, and otherwise "l = 8.6". Different
// levels have different names.
func LevelName(level float64) string {
	digits := strconv.FormatFloat(level, 'g', -1, 64)
	factor := math.Round(math.Exp(level))
	if text := strconv.FormatFloat(factor, 'f', -1, 64); math.Log(factor) == level && len(text) < len(digits) {
		return "ln " + text
	}
	return "l = " + digits
}
