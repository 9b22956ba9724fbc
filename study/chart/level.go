package chart

import (
	"math"
	"strconv"
)

// LevelName returns what a legend calls a privacy level: "ln 4" for the logarithm of a
// number if that is shorter than the level itself, and else "l = 8.6". Other levels have
// other names.
func LevelName(level float64) string {
	digits := strconv.FormatFloat(level, 'g', -1, 64)
	factor := math.Round(math.Exp(level))
	if text := strconv.FormatFloat(factor, 'f', -1, 64); math.Log(factor) == level && len(text) < len(digits) {
		return "ln " + text
	}
	return "l = " + digits
}
