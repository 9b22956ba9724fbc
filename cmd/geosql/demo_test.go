package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// The noise differs from run to run: the test looks at the text around it.
func TestDemo(t *testing.T) {
	cmd := clitest.Command(t, "demo")
	cmd.Env = append(cmd.Env, clitest.TempIn("/no folder for temporary files")...)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil || errOut.Len() > 0 {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	got := string(out)
	for _, statement := range strings.SplitAfter(demoTour, ";\n") {
		_, sql, _ := strings.Cut(statement, "SELECT")
		if first, _, found := strings.Cut(sql, "\n"); found && !strings.Contains(got, "> SELECT"+first) {
			t.Errorf("the tour does not show SELECT%s", first)
		}
	}
	for _, pattern := range []string{
		`(?m)^city: .* step 1 m, kappa 0\.`,
		`(?m)^ana +48\.\d{1,7} +2\.\d{1,7}$`,
		`(?m)^ +\d+(\.\d+)? +759\.77 +\d\.\d+$`,
		`(?m)^home03 +\d+(\.\d+)?$`,
		`(?m)^\.+[oX][.oX]*$`,
		`(?m)^    +10 +-?\d+ +#{30,}$`,
		`(?m)^What next:$`,
		`(?m)^ana +m +0\.03 +0\.01 +0\.02$`,
		`(?m)^home01 +kWh +4 +3 +1$`,
		`(?m)^geosql: geoind_laplace: account 'ana' has 0\.02/m left of 0\.03/m, 0\.05/m asked`,
	} {
		if !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("nothing matches %s in\n%s", pattern, got)
		}
	}
	lines := strings.Split(got, "\n")
	if len(lines) > 130 { // with a map and a histogram
		t.Errorf("the tour has %d lines", len(lines))
	}
	for _, line := range lines {
		if len(line) > 100 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}
