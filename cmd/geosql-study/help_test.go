package main

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/printable/printabletest"
)

// Names of studies, flags and columns in errors steer no terminal.
func TestErrorsSteerNothing(t *testing.T) {
	for _, text := range printabletest.Texts() {
		csv := clitest.WriteFile(t, "lat,lon\n48.85,2.35\n")
		for _, args := range [][]string{
			{text}, {"help", text}, {"pim", "--domain", text}, {"pim", "-" + text},
			{"lbs", "--pois", csv, "--columns", text + ",lon"},
			{"lbs", "--pois", csv + text},
			{"lbs", "--pois", clitest.WriteFile(t, "lat,lon\n\"x"+text+"\",2.35\n")},
		} {
			r := clitest.Run(t, "", args...)
			clitest.WantError(t, r, r.Status, "")
			if line := r.Err[:len(r.Err)-1]; r.Status == 0 || printabletest.Steers(line) || r.Out != "" {
				t.Errorf("%q: %+v", args, r)
			}
		}
	}
}

// The help fits on a screen.
func TestHelp(t *testing.T) {
	all := clitest.Help(t, "help")
	for _, arg := range []string{"-h", "--help"} {
		if out := clitest.Help(t, arg); out != all {
			t.Errorf("%s printed %q", arg, out)
		}
	}
	if clitest.Help(t, "version") != clitest.Help(t, "--version") {
		t.Error("version and --version differ")
	}
	for _, c := range program.Commands {
		out := clitest.Help(t, "help", c.Name)
		if clitest.Help(t, c.Name, "-h") != out || !strings.HasPrefix(out, "geosql-study "+c.Name) {
			t.Errorf("help %s printed %q", c.Name, out)
		}
	}
}
