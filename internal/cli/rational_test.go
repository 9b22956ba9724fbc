package cli

import (
	"math"
	"testing"
)

func TestRational(t *testing.T) {
	for text, want := range map[string]string{"0.005": "1/200", " 1e-3 ": "1/1000", "2": "2"} {
		if x, err := Rational(text); err != nil || x.RatString() != want {
			t.Errorf("Rational(%q) = %v, %v, want %s", text, x, err, want)
		}
	}
	for _, text := range []string{"", "x", "1/2", "NaN", "1e999"} {
		if x, err := Rational(text); err == nil {
			t.Errorf("Rational(%q) = %v", text, x)
		}
	}
}

func TestRationalLevel(t *testing.T) {
	x, err := RationalLevel("ln4")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := x.Float64(); got > math.Log(4) || got < math.Log(4)-3e-12 {
		t.Errorf("ln4 = %v, want at most %v", got, math.Log(4))
	}
	if x, err := RationalLevel("1.5"); err != nil || x.RatString() != "3/2" {
		t.Errorf("1.5 = %v, %v", x, err)
	}
	if _, err := RationalLevel("ln0"); err == nil {
		t.Error("the logarithm of 0 is no level")
	}
}
