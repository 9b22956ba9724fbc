package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/printable/printabletest"
	"github.com/geosql/geosql/internal/trials"
)

// A hostile text is put wherever a command takes one.
type hostile struct {
	text, dir string
	name      string // as much of the text as the name of a file can have
	db        string // exists, and has the domain city and the table trip
	csv       string // a data set, by a name that has the text in it
}

func newHostile(t *testing.T, text string) hostile {
	t.Helper()
	dir := t.TempDir()
	name := nameOf(text)
	h := hostile{text, dir, name, filepath.Join(dir, "x.db"), filepath.Join(dir, name+".csv")}
	clitest.Query(t, h.db, `CREATE TABLE trip(user, lat, lon); INSERT INTO trip VALUES ('ana', 48.85, 2.35);
		SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1), budget_limit('*', 'm', 1)`)
	h.write(t, h.csv, "user,lat,lon\nana,48.85,2.35\n")
	return h
}

// nameOf returns a text without characters that names of files must not have here. Windows forbids some of ASCII, and has
// no bytes in names: bytes that are not UTF-8 become others.
func nameOf(text string) string {
	if runtime.GOOS != "windows" {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"/\|?*`, r) {
			return -1
		}
		return r
	}, text)
}

func (h hostile) path(name string) string { return filepath.Join(h.dir, name) }

func (h hostile) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// quoted is the text in quotes of a kind.
func (h hostile) quoted(quote string) string { return quote + h.text + quote }

// refused are command lines that fail.
func (h hostile) refused(t *testing.T) [][]string {
	t.Helper()
	name := h.quoted(`"`)
	return [][]string{
		{h.db, "SELECT " + name + "()"},
		{h.db, "SELECT * FROM " + name},
		{h.db, "SELECT t." + name + " FROM trip t"},
		{h.db, "SELECT " + h.text + "("},
		{h.db, "SELECT x'" + h.text + "'"},
		{h.db, "SELECT '" + h.text},
		{h.db, "CREATE TABLE " + name + "(a); CREATE TABLE " + name + "(a)"},
		{h.db, "SELECT raise(abort, " + h.quoted("'") + ")"},
		{h.db, "SELECT json(" + h.quoted("'") + ")"},
		{h.db, "SELECT geoind_laplace('ana', 1, 1, 1, " + h.quoted("'") + ")"},
		{h.db, "SELECT geoind_laplace(" + h.quoted("'") + ", 48.85, 2.35, 2)"},
		{h.db, "SELECT 1", "-" + h.text},
		{h.db, "SELECT 1", "--ledger=" + h.path("none"+h.text+"/l"), h.text},
		{"--ledger", h.path("none" + h.text + "/l"), h.db, "SELECT budget_limit('ana', 'm', 1)"},
		{h.path("none" + h.text + "/x.db"), "SELECT 1"},
		{h.csv, "SELECT 1"},
		{"budget", h.path(h.text + ".db")},
		{"budget", h.db, "--verify", "--head", h.text},
		{"budget", h.db, "--verify", "--archive", h.path(h.text)},
		{"budget", h.db, "--archive", h.path("none" + h.text + "/a"), "--before", "0"},
		{"budget", h.db, "--archive", h.path("a"), "--before", h.text},
		{"cost", h.db, h.text},
		{"cost", h.db, "SELECT " + name + "()"},
		{"import", h.db, "trip", h.csv},
		{"import", h.db, "sqlite_" + h.text, h.csv},
		{"import", h.db, "t", h.path("none" + h.text)},
		{"import", h.db, "t", h.db + "#" + h.text},
		{"help", h.text},
	}
}

func TestErrorsSteerNothing(t *testing.T) {
	t.Parallel()
	for i, text := range trials.Some(t, 3, printabletest.Texts()...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			h := newHostile(t, text)
			for _, args := range h.refused(t) {
				h.wantRefused(t, clitest.Run(t, "", args...), args)
			}
			h.wantRefused(t, clitest.Run(t, "SELECT "+h.text+"(;", h.db), nil)
		})
	}
}

func (h hostile) wantRefused(t *testing.T, r clitest.Result, args []string) {
	t.Helper()
	line, ended := strings.CutSuffix(r.Err, "\n")
	if r.Status == 0 || !ended || printabletest.Steers(line) || r.Out != "" {
		t.Errorf("geosql %q: status %d, %q, %q", args, r.Status, r.Out, r.Err)
	}
}

// Data sets hold such text in their header lines and cells.
func TestDataSetErrorsSteerNothing(t *testing.T) {
	t.Parallel()
	for i, text := range trials.Some(t, 3, printabletest.Texts()...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			h := newHostile(t, text)
			cell := h.quoted(`"`)
			for content, column := range map[string]string{
				cell + "," + cell + "\n1,2\n":                      "a",
				"user,lat,lon\nana,\"x" + h.text + "\",2.35\n":     "lat",
				"user,lat,lon," + cell + "\nana,48.85,2.35,x\n":    h.text,
				"user,\"x" + h.text + "\",lon\nana,x,2.35\n":       "x" + h.text,
				"user,\"x" + h.text + "\",lon\nana,91,2.35\n":      "x" + h.text,
				"user,lat,lon\nana,\"" + h.text + "\"x,2.35\n":     "lat",
				"user,lat,lon\n" + cell + ",48.85,2.35,too many\n": "lat",
			} {
				h.write(t, h.csv, content)
				h.wantRefused(t, h.release(t, "--lat", column), []string{content})
			}
			h.write(t, h.csv, cell+","+cell+"\n1,2\n")
			h.wantRefused(t, clitest.Run(t, "", "import", h.db, "t", h.csv), nil)
			h.wantRefused(t, clitest.Run(t, "", "import", h.db, "t", h.csv, "--type", "b=REAL"), nil)
			h.write(t, h.csv, "a,b\n"+cell+",1\n")
			h.wantRefused(t, clitest.Run(t, "", "import", h.db, "t", h.csv, "--type", "a=REAL"), nil)
			h.wantRefused(t, clitest.Run(t, "", "import", h.db, "t", h.csv, "--type", h.text+"=REAL"), nil)
			h.write(t, h.csv, "a\n"+cell+"x\n")
			h.wantRefused(t, clitest.Run(t, "", "import", h.db, "t", h.csv), nil)
		})
	}
}

// release runs the command on the data set; given flags replace the usual ones.
func (h hostile) release(t *testing.T, given ...string) clitest.Result {
	t.Helper()
	args := []string{"release"}
	usual := []string{"--in", h.csv, "--out", h.path("out.csv"), "--account", "user", "--lat", "lat", "--lon", "lon",
		"--epsilon", "0.01", "--domain", "48.80,2.22,48.91,2.48,1", "--ledger", h.path("ledger")}
	for i := 0; i < len(usual); i += 2 {
		if usual[i] != given[0] {
			args = append(args, usual[i], usual[i+1])
		}
	}
	return clitest.Run(t, "", append(args, given...)...)
}

func TestReleaseErrorsSteerNothing(t *testing.T) {
	t.Parallel()
	for i, text := range trials.Some(t, 3, printabletest.Texts()...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			h := newHostile(t, text)
			for _, given := range [][]string{
				{"--in", h.path("none" + h.text + ".csv")}, {"--in", h.path(h.text)}, {"--in", h.db + "#" + h.text},
				{"--out", h.path(h.text)}, {"--out", h.path("none" + h.text + "/out.csv")}, {"--out", h.csv},
				{"--account", h.text}, {"--lat", h.text}, {"--lon", h.text}, {"--keep", h.text}, {"--epsilon", h.text},
				{"--domain", h.text}, {"--region", h.csv}, {"--level", h.text}, {"--limit", h.text}, {"--workers", h.text},
				{"--id", h.text}, {"--ledger", h.path("none" + h.text + "/ledger")}, {"--rejects", h.path("none" + h.text + "/r")},
				{"--account", "const:" + h.text},
			} {
				h.wantRefused(t, h.release(t, given...), given)
			}
			h.write(t, h.csv, "user,lat,lon\n"+h.quoted(`"`)+",48.85,2.35\n")
			h.wantRefused(t, h.release(t, "--limit", "0.001"), nil)
		})
	}
}

// Successes print names too: the summary of a release, its report, and tables.
func TestOutputSteersNothing(t *testing.T) {
	t.Parallel()
	for i, text := range trials.Some(t, 3, printabletest.Texts()...) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			h := newHostile(t, text)
			name, cell := h.quoted(`"`), h.quoted("'")
			odd := h.path("odd.csv")
			h.write(t, odd, strings.ReplaceAll(name, "\r", "")+"\n1\n"+name+"\n")
			out := h.path(h.name + ".out.csv")
			for _, r := range []clitest.Result{
				clitest.Run(t, "", "import", h.db, h.text, h.csv),
				clitest.Run(t, "", "import", h.db, "odd", odd),
				clitest.Run(t, "", h.db, "SELECT "+cell+" AS "+name+", * FROM "+name),
				clitest.Run(t, "", h.db, "SELECT budget_limit("+cell+", 'm', 1), dx_universe('u', 0, 1, 1, 'kWh'); SELECT geoind_laplace("+cell+", 48.85, 2.35, 0.5)"),
				clitest.Run(t, "", "budget", h.db),
				clitest.Run(t, "", "budget", h.db, "--history", "--account", h.text),
				clitest.Run(t, "", "cost", h.db, "SELECT geoind_laplace("+cell+", 48.85, 2.35, 0.5)"),
				h.release(t, "--out", out, "--limit", "1", "--rejects", h.path("rejects"+h.name), "--dry-run"),
				h.release(t, "--out", out, "--limit", "1", "--rejects", h.path("rejects"+h.name)),
			} {
				if r.Status != 0 || steers(r.Out) || steers(r.Err) {
					t.Errorf("%+v", r)
				}
			}
			page, err := os.ReadFile(out + ".report.html")
			if err != nil || steers(string(page)) || !strings.Contains(string(page), ".out.csv") {
				t.Errorf("the report: %v", err)
			}
		})
	}
}

// A line feed in a printed name begins no new line, which could pass for another name.
func TestNamesForgeNoLines(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("names of files have no line feed here")
	}
	h := newHostile(t, "ana\nFORGED")
	name, cell := h.quoted(`"`), h.quoted("'")
	odd := h.path("odd.csv")
	h.write(t, odd, name+",lat,lon\n"+name+",48.85,2.35\n")
	out, copied := h.path(h.name+".out.csv"), h.path(h.name+" copy.db")
	moved := h.path(h.name + " moved")
	for _, args := range [][]string{
		{"import", h.db, h.text, odd},
		{h.db, "SELECT budget_limit(" + cell + ", 'm', 1); SELECT geoind_laplace(" + cell + ", 48.85, 2.35, 0.5)"},
		{h.db, "SELECT " + name + " AS account, 1 AS n FROM " + name},
		{h.db, "SELECT 'x' AS account UNION ALL SELECT " + name + " FROM " + name},
		{"-line", h.db, "SELECT " + name + ", 1 AS n FROM " + name},
		{"budget", h.db}, {"budget", h.db, "--history"}, {"budget", h.db, "-line"},
		{"budget", h.db + "-ledger", "--account", h.text},
		{"cost", h.db, "SELECT geoind_laplace(" + name + ", 48.85, 2.35, 0.5) FROM " + name},
		{"check", h.db, "SELECT " + name + " FROM " + name},
		{"backup", h.db, copied}, {"budget", copied},
		{"release", "--in", odd, "--out", out, "--account", h.text, "--lat", "lat", "--lon", "lon", "--epsilon", "0.01",
			"--domain", "48.80,2.22,48.91,2.48,1", "--ledger", moved, "--limit", "1", "--dry-run"},
		{"release", "--in", odd, "--out", out, "--account", h.text, "--lat", "lat", "--lon", "lon", "--epsilon", "0.01",
			"--domain", "48.80,2.22,48.91,2.48,1", "--ledger", moved, "--limit", "1"},
		{"budget", moved},
		{"keygen", h.path(h.text + ".key")},
	} {
		r := clitest.Run(t, "", args...)
		if r.Status != 0 || strings.Contains("\n"+r.Out+"\n"+r.Err, "\nFORGED") {
			t.Errorf("geosql %q: %+v", args, r)
		}
	}
	for _, args := range h.refused(t) {
		if r := clitest.Run(t, "", args...); strings.Contains(r.Err, "\n") && strings.Count(r.Err, "\n") != 1 {
			t.Errorf("geosql %q: %q", args, r.Err)
		}
	}
}

// A value that is all there is to show is shown in its lines.
func TestValueOfSeveralLines(t *testing.T) {
	if got := clitest.Query(t, ":memory:", "SELECT 'two' || char(10) || 'lines' AS a"); got != "a\n-----\ntwo\nlines\n" {
		t.Errorf("%q", got)
	}
}

// steers is printabletest.Steers of each line.
func steers(text string) bool { return printabletest.Steers(strings.ReplaceAll(text, "\n", "")) }
