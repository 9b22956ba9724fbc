package budget

import (
	"os"
	"strings"
	"testing"
)

func TestCheckUniverseUnit(t *testing.T) {
	for _, u := range []Unit{"kWh", "day", "M", "Record", "metre", "°C", "kg m", "mm", "m3", "cip"} {
		if err := CheckUniverseUnit(u); err != nil {
			t.Errorf("unit %q: %v", u, err)
		}
	}
	for _, u := range []Unit{"", "m", "m2", "m:rome", "m:", "record", "set", "cip:home", "cip:", "*", "kWh\n", "\x00", "\xff"} {
		err := CheckUniverseUnit(u)
		if err == nil {
			t.Errorf("unit %q passes", u)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("unit %q: error of several lines: %q", u, err)
		}
	}
}

// Each reserved unit has a row in docs/claims.md that says what a balance in it bounds.
func TestEveryReservedUnitIsAClaim(t *testing.T) {
	page, err := os.ReadFile("../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Bound of a balance\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, unit := range reserved {
		if !strings.Contains(table, "\n| `"+unit+"`") {
			t.Errorf("claims.md: no row for %s", unit)
		}
	}
}

func TestMetricNames(t *testing.T) {
	for _, m := range []Metric{D1, ND1, DH, DInf} {
		if got, err := ParseMetric(m.String()); err != nil || got != m {
			t.Errorf("ParseMetric(%q) = %v, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "d2", "D1", "d1 "} {
		if m, err := ParseMetric(s); err == nil {
			t.Errorf("ParseMetric(%q) = %v", s, m)
		}
	}
	if got := Metric(7).String(); got != "Metric(7)" {
		t.Errorf("Metric(7) prints %q", got)
	}
}
