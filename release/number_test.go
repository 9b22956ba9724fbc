package release

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/dataset"
)

// A number that is printed in whatever way is read as the nearest float64.
func TestNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-200, 200).Draw(t, "x")
		digits := rapid.IntRange(-1, 20).Draw(t, "digits")
		text := strconv.FormatFloat(x, 'f', digits, 64)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := number([]byte(text)); !ok || got != want {
			t.Fatalf("%s is read as %v, %v", text, got, ok)
		}
	})
}

func TestNumberForms(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": 0, "48": 48, "5.": 5, ".5": 0.5, "-.5": -0.5, "+2.35": 2.35, " 2.35\t": 2.35, "1e1": 10, "4.885E1": 48.85,
		"0.1": 0.1, "123456789012345": 123456789012345, "1234567890123456": 1234567890123456, "0.000000000000001": 1e-15,
		"99999999999999.9": 99999999999999.9, "1e999": math.Inf(1), "-1e999": math.Inf(-1),
	} {
		if got, ok := number([]byte(text)); !ok || got != want {
			t.Errorf("%q is read as %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", " ", "-", ".", "-.", "+", "1.2.3", "1,5", "inf", "NaN", "0x1p4", "1_0", "e5", "1e", "--1", "1-", "48°", "²"} {
		if got, ok := number([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range []string{"", "1", "-1.5", "1e5", "1e-400", ".", "123456789012345678", "0x1", "Inf"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := number(text)
		if !ok {
			return
		}
		want, _ := strconv.ParseFloat(strings.Trim(string(text), " \t"), 64)
		if got != want || math.IsNaN(got) {
			t.Errorf("%q is read as %v, not %v", text, got, want)
		}
	})
}

// Released coordinates print with their 7 decimals. As numbers they equal their parsed texts.
func TestAppendDegrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Int64Range(-180e7, 180e7).Draw(t, "units")
		x := float64(units) / 1e7
		want := strconv.FormatFloat(x, 'f', 7, 64)
		var texts, numbers dataset.Column
		numbers.Reset(dataset.Real)
		x += rapid.Float64Range(-4e-8, 4e-8).Draw(t, "x")
		appendDegrees(&texts, x)
		appendDegrees(&numbers, x)
		if got := string(texts.Text()); got != want {
			t.Fatalf("%v prints as %s, not %s", x, got, want)
		}
		parsed, _, _ := texts.Real(0)
		if got, _, _ := numbers.Real(0); math.Float64bits(got) != math.Float64bits(parsed) {
			t.Fatalf("%v is %v, not %v", x, got, parsed)
		}
	})
}

func TestQuote(t *testing.T) {
	if got := quote([]byte(strings.Repeat("é\n", 30))); strings.Contains(got, "\n") || len(got) > 120 {
		t.Errorf("quoted %s", got)
	}
}
