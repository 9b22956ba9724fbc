package release

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// Every mechanism releases a data set. Of n = 20,000 released locations as many are within
// the radius that is told as it says, with a false alarm of at most 1e-9 (Hoeffding), and
// the report names the mechanism.
func TestEveryMechanism(t *testing.T) {
	const n, falseAlarm = 20_000, 1e-9
	for _, name := range planar.Mechanisms() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), "lat,lon\n"+strings.Repeat("48.85,2.35\n", n))
			s := newSpec(dir)
			s.Mechanism, s.Account = name, "const:city"
			unit, each := budget.Metre, budget.Amount(cost)
			if name == "gauss" { // sigma is 224 m
				unit, each, s.Epsilon = budget.SquareMetre, 10_000_000, big.NewRat(1, 100_000)
			}
			s.Limit = new(budget.Amount)
			*s.Limit = n * each
			l := openLedger(t, dir)
			sum, err := attempt(s, defaultSizes, l)
			check(t, err)
			if b, err := l.Balance("city", unit); err != nil || b.Spent != n*each || sum.Unit != unit || sum.Epsilon != each {
				t.Errorf("%+v, %v; told %v/%s for each", b, err, sum.Epsilon, sum.Unit)
			}
			within := 0
			for _, row := range readCSV(t, s.Out)[1:] {
				if planar.Distance(48.85, 2.35, float(t, row[0]), float(t, row[1])) <= sum.Within95 {
					within++
				}
			}
			// The radius is a bound: it is 11 m more than the quantile of some 480 m or more.
			slack := math.Sqrt(math.Log(2/falseAlarm) / (2 * n))
			if share := float64(within) / n; share < 0.95-slack || share > 0.96+slack {
				t.Errorf("%.4f are within %v m", share, sum.Within95)
			}
			law, err := planar.LawOf(name)
			check(t, err)
			page, err := os.ReadFile(s.Out + ".report.html")
			check(t, err)
			if !strings.Contains(string(page), fmt.Sprintf("The mechanism is the %s,", law)) {
				t.Errorf("the report does not name the %s", law)
			}
		})
	}
}

// Rho is no level within a radius, and a limit per metre is none per square metre: both are told before anything is charged.
func TestMechanismOfAnotherUnit(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "lat,lon\n48.85,2.35\n")
	s := newSpec(dir)
	s.Account, s.Limit = "const:city", nil
	l := openLedger(t, dir)
	check(t, l.SetLimit("city", budget.Metre, budget.Max, 0))
	for _, c := range []struct {
		mechanism string
		radius    float64
		want      string
	}{
		{"gauss2", 0, "mechanism must be one of gauss, laplace, laplace_l1"},
		{"gauss", 200, "mechanism gauss takes no level and radius: give it rho per square metre as epsilon"},
		{"gauss", 0, `account "city" has no budget in unit 'm2'; --limit EPSILON gives one`},
	} {
		s.Mechanism, s.Radius = c.mechanism, c.radius
		if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.mechanism, err)
		}
	}
}

// The page and the metadata of Gaussian noise state rho, and epsilon and delta at distances.
func TestGaussReport(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "lat,lon,user\n48.85,2.35,ana\n48.86,2.36,bo\n")
	s := newSpec(dir)
	s.Mechanism, s.Epsilon, s.Step = "gauss", big.NewRat(1, 10_000_000), 1
	_, err := attempt(s, defaultSizes, openLedger(t, dir))
	check(t, err)
	page, err := os.ReadFile(s.Out + ".report.html")
	check(t, err)
	for _, want := range []string{"ρ = 0.0000001 per square metre", "plus a probability of 0.000001", "ρ doubles", "n</var>·ρ in place of ρ"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if strings.Contains(string(page), "ε") {
		t.Error("the report has an epsilon per metre")
	}
	text, err := os.ReadFile(s.Out + ".metadata.json")
	check(t, err)
	var m struct {
		Method struct {
			Epsilon float64 `json:"epsilon"`
			Unit    string  `json:"epsilon_per"`
		} `json:"method"`
		Bounds []struct {
			Distance float64 `json:"distance_m"`
			Epsilon  float64 `json:"epsilon"`
			Delta    float64 `json:"delta"`
		} `json:"epsilon_delta_of_one_location"`
	}
	check(t, json.Unmarshal(text, &m))
	if m.Method.Epsilon != 1e-7 || m.Method.Unit != "m2" || len(m.Bounds) < 3 {
		t.Fatalf("%+v", m)
	}
	for _, b := range m.Bounds {
		apart := b.Distance + math.Sqrt2
		if got := budget.GaussDelta(1e-7, apart, b.Epsilon, 1); b.Delta != 1e-6 || got > b.Delta || budget.GaussDelta(1e-7, apart, 0.9999*b.Epsilon, 1) <= b.Delta {
			t.Errorf("%+v: delta is %v", b, got)
		}
	}
}
