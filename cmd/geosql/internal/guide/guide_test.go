package guide

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/mechanism/planar"
)

// A rounded epsilon is no smaller, and at most half a per cent larger.
func TestRoundUp(t *testing.T) {
	for _, text := range []string{"0.00948773", "1", "0.999001", "1234567", "123.4", "0.000000001234", "0.1", "3.9996"} {
		x, _ := new(big.Rat).SetString(text)
		got := roundUp(x)
		ratio, _ := new(big.Rat).Quo(got, x).Float64()
		if got.Cmp(x) < 0 || ratio > 1.01 || len(strings.Trim(strings.ReplaceAll(cli.FormatRational(got), ".", ""), "0")) > 3 && got.Cmp(big.NewRat(1000, 1)) < 0 {
			t.Errorf("%s is rounded up to %s", text, cli.FormatRational(got))
		}
	}
}

func TestBeliefs(t *testing.T) {
	for _, c := range []struct {
		loss float64
		want string
	}{
		{0, "50 %"}, {0.5, "62 %"}, {1, "73 %"}, {math.Log(4), "80 %"}, {5, "99.3 %"}, {10, "over 99.9 %"}, {1e6, "over 99.9 %"},
	} {
		if got := beliefText(c.loss); got != c.want {
			t.Errorf("%v: %s, want %s", c.loss, got, c.want)
		}
	}
	d, err := planar.NewDomain("lisbon", 38.5, -9.5, 39, -8.9, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range placeTable(d)[1:] {
		eps, _ := new(big.Rat).SetString(row[0])
		within, err := planar.LaplaceLaw.On(d, eps).Radius(0.95)
		if err != nil || row[2] != brief(within) {
			t.Errorf("%v, want %v within", row, within)
		}
	}
	for _, x := range []struct{ in, want float64 }{{0.1, 0.1}, {0.13, 0.1}, {3, 2}, {7, 5}, {1000, 1000}, {0.0521, 0.05}, {99, 50}} {
		if got := nice(x.in); got != x.want {
			t.Errorf("nice(%v) = %v", x.in, got)
		}
	}
	for x, want := range map[float64]string{0: "0", 0.0001: "0.0001", 0.001234: "0.0012", 3.14159: "3.1", 499.57: "500", 12345: "12345"} {
		if got := brief(x); got != want {
			t.Errorf("brief(%v) = %s", x, got)
		}
	}
}

// Every universe of the list is one, and its unit may name a budget.
func TestPublicUniverses(t *testing.T) {
	for _, u := range publicUniverses {
		if _, err := (declaredUniverse{"u", u.lo, u.hi, u.step, u.unit}).build(); err != nil {
			t.Errorf("%+v: %v", u, err)
		}
	}
	if got := offers("Total_kWh"); len(got) != 4 || got[0].unit != "kWh" {
		t.Errorf("%v", got)
	}
}

// A name is made of the letters without their accents.
func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"São Paulo": "sao_paulo", "Zürich": "zurich", "Åland": "aland", "Kraków (2)": "krakow__2", "España": "espana",
		"Østfold": "stfold", "2026": "data_2026", "山": "data_", "Total kWh": "total_kwh",
	} {
		if got := slug(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
