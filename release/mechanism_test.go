package release

import (
	"fmt"
	"math"
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
	for _, name := range Mechanisms() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), "lat,lon\n"+strings.Repeat("48.85,2.35\n", n))
			s := newSpec(dir)
			s.Mechanism, s.Account = name, "const:city"
			s.Limit = new(budget.Amount)
			*s.Limit = n * cost
			sum, err := attempt(s, defaultSizes, openLedger(t, dir))
			check(t, err)
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

// A mechanism that does not spend epsilon per metre is refused before anything is charged.
func TestMechanismOfAnotherUnit(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "lat,lon\n48.85,2.35\n")
	s := newSpec(dir)
	s.Account = "const:city"
	for name, want := range map[string]string{
		"gauss":  "mechanism must be one of laplace, laplace_l1, and the planar Gaussian mechanism is charged per m2",
		"gauss2": "mechanism must be one of laplace, laplace_l1",
	} {
		s.Mechanism = name
		if _, err := attempt(s, defaultSizes, openLedger(t, dir)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
