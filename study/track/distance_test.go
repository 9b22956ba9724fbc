package track

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
)

// Against geodesics of GeographicLib, at all places and scales of the planar
// package's golden file.
func TestDistance(t *testing.T) {
	file, err := os.Open("../../mechanism/planar/testdata/geodesics.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, row := range rows[1:] {
		var v [9]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(row[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		tolerance := 2e-5
		if v[8] > 100e3 {
			tolerance = 1e-3
		}
		if max(math.Abs(v[4]), math.Abs(v[6])) > 60 || v[8] > 500e3 {
			continue
		}
		tested++
		// Coordinates have nine decimals: 1e-4 m.
		if got := Distance(v[4], v[5], v[6], v[7]); math.Abs(got-v[8]) > tolerance*v[8]+2e-4 {
			t.Errorf("%v: %v m, not %v", row[4:8], got, v[8])
		}
	}
	if tested < 100 {
		t.Errorf("%d geodesics tested", tested)
	}
}

func TestDistanceAcrossTheAntimeridian(t *testing.T) {
	if got, want := Distance(10, 179.9, 10, -179.9), Distance(10, 0, 10, 0.2); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v m, not %v", got, want)
	}
}
