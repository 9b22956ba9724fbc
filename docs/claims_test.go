package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/audit"
	"github.com/geosql/geosql/internal/doctest"
)

// tablesOf returns the rows of the tables of a page by their headings: cells, without the head.
func tablesOf(t *testing.T, page string) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][][]string{}
	heading, line := "", 0
	for l := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(l, "## "); ok {
			heading, line = strings.TrimSpace(after), 0
		}
		if !strings.HasPrefix(l, "|") {
			continue
		}
		if line++; line <= 2 {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(l, "|\n"), `\|`, "\x00"), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
		}
		tables[heading] = append(tables[heading], cells)
	}
	return tables
}

// firstCells returns the first cells of a table's rows, their subjects.
func firstCells(rows [][]string) (list []string) {
	for _, r := range rows {
		list = append(list, r[0])
	}
	return list
}

// quoted matches text between backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// Every function that releases, every unit and every metric has a row.
func TestEveryPromiseIsAClaim(t *testing.T) {
	tables := tablesOf(t, "claims.md")
	check := func(heading string, want []string) {
		have := firstCells(tables[heading])
		for _, w := range want {
			if !slices.ContainsFunc(have, func(h string) bool { return strings.HasPrefix(h, "`"+w+"`") }) {
				t.Errorf("claims.md, %s: no row for %s", heading, w)
			}
		}
	}
	check("Loss of an answer", charging(t))
	check("Bound of a balance", []string{"kWh"}) // package budget tests that the reserved units are there
	check("Metrics", metrics())
}

// charging returns the functions that charge, by the reference.
func charging(t *testing.T) []string {
	t.Helper()
	reference, err := os.ReadFile("reference/all.txt")
	if err != nil {
		t.Fatal(err)
	}
	return doctest.Charging(string(reference))
}

// metrics returns the names of all metrics.
func metrics() (names []string) {
	for m := budget.Metric(0); ; m++ {
		name := m.String()
		if _, err := budget.ParseMetric(name); err != nil {
			return names
		}
		names = append(names, name)
	}
}

// The page's references exist: files, tests, and an audit of each function.
func TestClaimsPointToWhatIsThere(t *testing.T) {
	tests := testNames(t)
	for _, page := range []string{"claims.md", "threat-model.md"} {
		for heading, rows := range tablesOf(t, page) {
			for _, row := range rows {
				pointsToWhatIsThere(t, page+", "+heading+", "+row[0], row[1:], tests)
			}
		}
	}
	audited := audit.Functions()
	for _, f := range charging(t) {
		if !slices.Contains(audited, f) {
			t.Errorf("there is no audit of %s", f)
		}
	}
}

// pointsToWhatIsThere checks that the tests and files are there that the cells of a row name.
func pointsToWhatIsThere(t *testing.T, row string, cells []string, tests map[string]bool) {
	t.Helper()
	folder := "" // of the file that was named last
	for _, cell := range cells {
		for _, q := range quoted.FindAllStringSubmatch(cell, -1) {
			switch name := q[1]; {
			case strings.HasPrefix(name, "Test"):
				if !tests[name] {
					t.Errorf("%s: there is no test %s", row, name)
				}
			case strings.Contains(name, "/"):
				folder = path.Dir(name)
				exists(t, row, name)
			case strings.HasSuffix(name, ".go"): // beside the file before it
				exists(t, row, path.Join(folder, name))
			}
		}
	}
}

// exists checks that a file or folder of the project is there.
func exists(t *testing.T, row, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("..", name)); err != nil {
		t.Errorf("%s: there is no %s", row, name)
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testNames returns the names of all tests of the project.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, "_test.go") && filepath.Dir(name) != filepath.Join("..", "ledger", "ledgertest"):
			return nil
		}
		text, err := os.ReadFile(name)
		for _, f := range testFunction.FindAllSubmatch(text, -1) {
			names[string(f[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
