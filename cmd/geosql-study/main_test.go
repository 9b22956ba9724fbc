package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/release/table"
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

// A study says the same of the same rows, whatever they are in.
func TestStudyReadsEveryFormat(t *testing.T) {
	csv := twoUsers(t)
	db := clitest.TempFile(t, "x.db")
	geosql(t, "", "import", db, "t", csv)
	fields := []table.Field{
		{Name: "night", Kind: table.Real}, {Name: "y", Kind: table.Integer}, {Name: "x", Kind: table.Real},
		{Name: "day", Kind: table.Integer}, {Name: "who", Kind: table.Text},
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
	clitest.WantError(t, clitest.Run(t, "", args...), 1, "in.parquet: row 2: the place of row 1 again")
}
