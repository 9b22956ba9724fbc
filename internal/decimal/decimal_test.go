package decimal

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Numbers are read as strconv reads them.
func TestReal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,12}\.?[0-9]{0,8}[-e.]?`).Draw(t, "text")
		want, err := strconv.ParseFloat(text, 64)
		got, ok := Real([]byte(text))
		if ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
			t.Fatalf("%q is read as %v, not %v, %v", text, got, want, err)
		}
		digits := 0
		for _, c := range text {
			if '0' <= c && c <= '9' {
				digits++
			}
		}
		if last := len(text) - 1; !ok && err == nil && digits <= 15 && text[last] != 'e' {
			t.Fatalf("%q is not read", text)
		}
	})
}

func TestInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?[0-9]{0,20}[ -.]?`).Draw(t, "text")
		want, err := strconv.ParseInt(text, 10, 64)
		got, ok := Integer([]byte(text))
		if ok && (err != nil || got != want) || !ok && err == nil && len(text) <= 18 && text[0] != '+' {
			t.Fatalf("%q is read as %v, %v, not %v, %v", text, got, ok, want, err)
		}
	})
}

// Numbers are printed as the shortest decimal, as strconv prints it, also for neighbours of short
// decimals.
func TestAppendReal(t *testing.T) {
	try := func(x float64, short bool) {
		t.Helper()
		want := strconv.FormatFloat(x, 'f', -1, 64)
		got, ok := AppendReal([]byte("x"), x)
		if ok && string(got) != "x"+want || !ok && (short || string(got) != "x") {
			t.Fatalf("%v prints as %s, %v, not x%s", x, got, ok, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		units := rapid.Int64Range(-1e15+1, 1e15-1).Draw(rt, "units")
		units /= int64(math.Pow10(rapid.IntRange(0, 15).Draw(rt, "less")))
		x := float64(units) / 1e7
		try(x, units >= 10 || units <= -10)
		try(math.Nextafter(x, 1e9), false)
		try(math.Nextafter(x, -1e9), false)
	})
	for _, x := range []float64{0, math.Copysign(0, -1), 1e-7, 1e8, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64} {
		if got, ok := AppendReal(nil, x); ok {
			t.Errorf("%v prints as %s", x, got)
		}
	}
}

// A number that is rounded up is the nearest one above with so many digits.
func TestRoundUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, digits := rapid.Float64Range(0, math.MaxFloat64/2).Draw(t, "x"), rapid.IntRange(1, 15).Draw(t, "digits")
		up := RoundUp(x, digits)
		if up < x || Round(up, digits) != up || up > x && Round(x, digits) != up && Round(x, digits) >= x {
			t.Fatalf("%v to %d digits is %v", x, digits, up)
		}
		if below := Round(x, digits); below < x && up/below > 1+2/math.Pow10(digits-1) {
			t.Fatalf("%v to %d digits is %v, not next to %v", x, digits, up, below)
		}
	})
	for x, want := range map[float64]float64{
		0: 0, 2.9965: 2.997, 2.996: 2.996, 684.395: 684.4, 9.9991: 10, 0.1: 0.1, 12345.6: 12350, 1e-300: 1e-300, 1.00001e-7: 1.001e-7,
		math.Inf(1): math.Inf(1), math.MaxFloat64: math.Inf(1),
	} {
		if got := RoundUp(x, 4); got != want {
			t.Errorf("%v is rounded up to %v, not %v", x, got, want)
		}
	}
	if got := RoundUp(math.NaN(), 4); !math.IsNaN(got) {
		t.Errorf("NaN is rounded up to %v", got)
	}
}

func BenchmarkAppendReal(b *testing.B) {
	var out []byte
	for i := range b.N {
		out, _ = AppendReal(out[:0], float64(395000000+i)/1e7)
	}
}

func BenchmarkReal(b *testing.B) {
	text := []byte("39.512345")
	for range b.N {
		Real(text)
	}
}
