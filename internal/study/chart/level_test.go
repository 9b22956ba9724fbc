package chart

import (
	"math"
	"testing"
)

func TestLevelName(t *testing.T) {
	for level, want := range map[float64]string{
		math.Ln2: "ln 2", math.Log(4): "ln 4", math.Log(6): "ln 6", math.Log(5432): "ln 5432",
		8.6: "l = 8.6", 1: "l = 1", 40: "l = 40", 1.386294361: "l = 1.386294361", math.Log(1.5): "l = 0.4054651081081644",
		1e-9: "l = 1e-09", math.MaxFloat64: "l = 1.7976931348623157e+308",
	} {
		if got := LevelName(level); got != want {
			t.Errorf("%v: %s, not %s", level, got, want)
		}
	}
}
