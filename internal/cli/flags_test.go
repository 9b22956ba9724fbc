package cli

import (
	"flag"
	"math"
	"slices"
	"testing"
)

func TestLevelsFlag(t *testing.T) {
	for text, want := range map[string][]float64{
		"1.386": {1.386}, " 8.6 ": {8.6}, "ln4": {math.Log(4)}, "ln 4": {math.Log(4)}, " ln 4 ,ln1.5, 2": {math.Log(4), math.Log(1.5), 2},
		"ln1": {0}, "-1": {-1}, // which the studies refuse
		"": nil, "ln": nil, "ln0": nil, "ln-2": nil, "lnln4": nil, "log4": nil, "4ln": nil, "LN4": nil, "two": nil,
		"ln4,": nil, "ln4;ln6": nil, "inf": nil, "nan": nil, "lnInf": nil, "ln nan": nil,
	} {
		var levels []float64
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		LevelsVar(fs, &levels, "level", "")
		err := fs.Set("level", text)
		if err == nil != (want != nil) || err == nil && !slices.Equal(levels, want) {
			t.Errorf("%q: %v (%v), not %v", text, levels, err, want)
		}
	}
}
