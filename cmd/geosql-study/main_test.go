package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/printable/printabletest"
	"github.com/geosql/geosql/internal/trials"
)

func TestMain(m *testing.M) { clitest.Main(m, "geosql-study", main) }

// geosql runs the other command, which makes the databases that studies read.
func geosql(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "../geosql"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("geosql %q: %v, %s", args, err, errOut.String())
	}
	return string(out)
}

// realData returns the path of a file of the real data sets. Each test of them is in one of six runs.
func realData(t *testing.T, name string) string {
	t.Helper()
	path := need.Data(t, name)
	trials.Rarely(t, 6)
	return path
}

// A study says the same of the same rows, whatever they are in.
func TestStudyReadsEveryFormat(t *testing.T) {
	csv := twoUsers(t)
	db := clitest.TempFile(t, "x.db")
	geosql(t, "", "import", db, "t", csv)
	fields := []dataset.Field{
		{Name: "night", Kind: dataset.Real}, {Name: "y", Kind: dataset.Integer}, {Name: "x", Kind: dataset.Real},
		{Name: "day", Kind: dataset.Integer}, {Name: "who", Kind: dataset.Text},
	}
	var lines []string
	for _, row := range csvRows(t, geosql(t, "", "-csv", db, "SELECT * FROM t")) {
		lines = append(lines, strings.Join([]string{row["night"], row["y"], row["x"], row["day"], row["who"]}, "|"))
	}
	study := func(path string) string {
		return clitest.Query(t, "adversary", "-places", path, "-columns", "x,y,day", "-plane", "-user", "who", "-priors", "night", "-epsilon", "1")
	}
	want := study(csv)
	for _, path := range []string{db + "#t", clitest.ParquetFile(t, fields, lines...)} {
		if got := study(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	again := clitest.ParquetFile(t, fields, lines[0], lines[0])
	args := []string{"adversary", "-places", again, "-columns", "x,y,day", "-plane", "-epsilon", "1"}
	clitest.WantError(t, clitest.Run(t, "", args...), 1, "in.parquet: row 2: the place of row 1 is given twice")
}

func TestUsageErrors(t *testing.T) {
	good := walkers(t, plainHead, 1, 100)
	for _, c := range []struct {
		args []string
		text string
	}{
		{nil, "no study given"},
		{[]string{"weather"}, "there is no study weather ('geosql-study help' shows the usage)"},
		{[]string{"predictive", "x"}, "too many"},
		{[]string{"predictive", "-csv"}, "-csv"},
		{[]string{"-personal", "predictive", "-points", good}, "predictive takes no flag -personal"},
		{[]string{"-skip", "pim"}, "pim takes no flag -skip"},
		{[]string{"predictive", "-skip=no", "-points", good}, "invalid boolean value \"no\" for -skip: it takes no value"},
		{[]string{"predictive", "-points", good, "-points", good}, "flag -points is given twice"},
		{[]string{"lbs", "-publishable"}, "-publishable"},
	} {
		r := clitest.Run(t, "", c.args...)
		clitest.WantError(t, r, 2, c.text)
		if r.Out != "" {
			t.Errorf("%q wrote %q to standard output", c.args, r.Out)
		}
	}
}

// Names of studies, flags and columns in errors steer no terminal.
func TestErrorsSteerNothing(t *testing.T) {
	for _, text := range trials.Some(t, 3, printabletest.Texts()...) {
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
	for _, c := range program.Commands() {
		out := clitest.Help(t, "help", c.Name)
		if clitest.Help(t, c.Name, "-h") != out || !strings.HasPrefix(out, "geosql-study "+c.Name) {
			t.Errorf("help %s printed %q", c.Name, out)
		}
	}
}
