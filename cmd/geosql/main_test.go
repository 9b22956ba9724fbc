package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
)

func TestMain(m *testing.M) {
	runWorker() // its environment does not say that this is the command
	clitest.Main(m, session.Program, main)
	devicetest.Remove()
}

func TestUsageErrors(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	for _, c := range []struct {
		args []string
		text string
	}{
		{nil, "no database given"},
		{[]string{"-csv"}, "no database given"},
		{[]string{""}, "empty name"},
		{[]string{"-nosuch", db}, "-nosuch"},
		{[]string{db, "SELECT 1", "--nosuch"}, "-nosuch"},
		{[]string{db, "-ledger"}, "needs an argument"},
		{[]string{db, "-ledger="}, "empty name"},
		{[]string{"-csv=1", db}, "takes no value"},
		{[]string{db, "SELECT", "1"}, "put the SQL in quotes"},
		{[]string{"budget"}, "too few"},
		{[]string{"budget", db, "x"}, "too many"},
		{[]string{"import", db, "t"}, "too few"},
		{[]string{"import", "-csv", db, "t", "f"}, "import takes no flag -csv"},
		{[]string{"demo", "-json"}, "demo takes no flag -json"},
		{[]string{db, "-history"}, "running SQL takes no flag -history"},
		{[]string{"budget", db, "--head", "1:00"}, "-head works with -verify only"},
		{[]string{"budget", db, "--archive", "f"}, "-archive needs -before"},
		{[]string{"budget", db, "--before", "2026-01-01"}, "-before works with -archive FILE only"},
		{[]string{"budget", db, "--verify", "--history"}, "one thing at a time"},
		{[]string{"budget", db, "--archive=f", "--before=0", "--account=ana"}, "one thing at a time"},
		{[]string{"help", "x", "y"}, "too many"},
	} {
		r := clitest.Run(t, "", c.args...)
		clitest.WantError(t, r, 2, c.text)
		if r.Out != "" {
			t.Errorf("%q wrote %q to standard output", c.args, r.Out)
		}
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("a usage error created the database")
	}
}

// A word that is no command does not become a database.
func TestMistypedCommand(t *testing.T) {
	run := func(args ...string) clitest.Result { // in a directory of its own, which must stay empty
		t.Helper()
		cmd := clitest.Command(t, args...)
		cmd.Dir = t.TempDir()
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		r := clitest.Result{Status: clitest.ExitStatus(t, cmd.Run()), Out: out.String(), Err: errOut.String()}
		if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
			t.Errorf("%q created %v", args, left)
		}
		return r
	}
	for _, c := range []struct {
		args []string
		text string
	}{
		{[]string{"relase", "--in", "a.csv", "--out", "b.csv"}, "there is no command relase (did you mean release?); write ./relase to create a database of that name"},
		{[]string{"bugdet", "city.db"}, "did you mean budget?"},
		{[]string{"imprt", "city.db", "t", "a.csv"}, "did you mean import?"},
		{[]string{"hlep"}, "did you mean help?"},
		{[]string{"city", "SELECT 1"}, "there is no command city; write ./city to create a database of that name"},
		{[]string{"-csv", "city"}, "write ./city to create"},
		{[]string{"SELECT 1"}, "SQL stands after the name of a database"},
		{[]string{"import", "city", "t", "a.csv"}, "import: there is no database city; write ./city to create a database of that name"},
	} {
		clitest.WantError(t, run(c.args...), 2, c.text)
	}
	if r := run(":memory:", "SELECT 1"); r.Status != 0 {
		t.Errorf("a database in memory: %+v", r)
	}
	// An existing file is a database, whatever its name, and ./NAME creates one.
	cmd := clitest.Command(t, "./city", "CREATE TABLE t(a)")
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	again := clitest.Command(t, "city", "SELECT * FROM t")
	again.Dir = cmd.Dir
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestHelp(t *testing.T) {
	all := clitest.Help(t, "help")
	for _, args := range [][]string{{"-h"}, {"--help"}, {"-help"}, {"x.db", "-h"}, {"x.db", "SELECT 1", "-h"}} {
		if out := clitest.Help(t, args...); out != all {
			t.Errorf("%q printed %q", args, out)
		}
	}
	if n := strings.Count(all, "\n"); n > 40 {
		t.Errorf("the help has %d lines", n)
	}
	for _, c := range append(program.Commands(), program.Default) {
		if !strings.Contains(all, c.Summary[:20]) {
			t.Errorf("the help does not tell of %s", c.Name)
		}
	}
	if out := clitest.Help(t, "version"); out != clitest.Help(t, "--version") || !strings.HasPrefix(out, "geosql ") || !strings.Contains(out, "SQLite 3.") || !strings.Contains(out, ", commit ") {
		t.Errorf("version printed %q", out)
	}
}

func TestHelpOfCommands(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"import", "budget", "cost", "release", "demo", "backup", "append", "erase", "collector", "rekey", "help", "version"} {
		out := clitest.Help(t, "help", name)
		if !strings.HasPrefix(out, "geosql "+name) {
			t.Errorf("help %s printed %q", name, out)
		}
		for _, args := range [][]string{{name, "-h"}, {"--help", name}, {name, "x", "-csv", "-h"}} {
			if got := clitest.Help(t, args...); got != out {
				t.Errorf("%q printed %q", args, got)
			}
		}
	}
}

// The manual page has all flags, and nothing that man warns of.
func TestManual(t *testing.T) {
	t.Parallel()
	page := clitest.Query(t, "help", "--man")
	for _, c := range append(program.Commands(), program.Default) {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		c.Setup(flags)
		flags.VisitAll(func(f *flag.Flag) {
			if !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("the manual page does not tell of %s --%s", c.Name, f.Name)
			}
		})
	}
	man := exec.Command(need.Program(t, "groff"), "-man", "-Tutf8", "-ww", "-P-cbou")
	man.Stdin = strings.NewReader(page)
	warnings := &strings.Builder{}
	man.Stderr = warnings
	if out, err := man.Output(); err != nil || !strings.Contains(string(out), "SEAL AND SERVE") || warnings.Len() > 0 {
		t.Errorf("%v, %s:\n%.2000s", err, warnings, out)
	}
}

func TestHelpOfFunctions(t *testing.T) {
	t.Parallel()
	functions := strings.Fields(clitest.Query(t, "-csv", ":memory:", "SELECT geosql_help() AS functions"))
	if len(functions) < 40 {
		t.Fatalf("functions %q", functions)
	}
	for _, name := range trials.Some(t, 20, functions[1:]...) {
		name = strings.Trim(name, `"`)
		if out := clitest.Help(t, "help", name); !strings.HasPrefix(out, name+"(") {
			t.Errorf("help %s printed %q", name, out)
		}
	}
	for word, function := range map[string]string{"median": "dx_median", "Noise": "geoind_laplace", "bins": "dx_histogram"} {
		if out := clitest.Help(t, "help", word); !strings.Contains(out, "\n  "+function+" ") {
			t.Errorf("help %s printed %q", word, out)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", "help", "nosuch"), 2, "there is no command or function nosuch")
	clitest.WantError(t, clitest.Run(t, "", "help", "dx_smu"), 2, "there is no command or function dx_smu (did you mean dx_sum?)")
	clitest.WantError(t, clitest.Run(t, "", "help", "relase"), 2, "there is no command relase (did you mean release?)")
}

// The examples of the usage run as they stand.
func TestUsageExamples(t *testing.T) {
	clitest.NeedsSh(t)
	_, script, found := strings.Cut(sqlCommand.Details, "\nExamples:\n")
	if !found {
		t.Fatal("the usage has no examples")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := clitest.Command(t)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-ec", `geosql() { "$SELF" "$@"; }` + "\n" + script}
	cmd.Env = append(cmd.Env, "SELF="+self)
	cmd.Dir = t.TempDir()
	trips := clitest.Zipped(t, "person,lat,lon\nana,48.854,2.3331\nbo,48.861,2.3350\n")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "trips.csv.gz"), []byte(trips), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rows, err := os.ReadFile(filepath.Join(cmd.Dir, "at.csv"))
	if err != nil || !strings.HasPrefix(string(rows), "at\nPOINT(") || strings.Count(string(rows), "\n") != 3 {
		t.Errorf("%v, %q", err, rows)
	}
}

// Studies are a command of their own, and with them the libraries that draw figures. A program with text/template is a fifth larger: its
// templates may call any exported method, so that the linker leaves none out.
func TestDoesNotLink(t *testing.T) {
	need.Program(t, "go")
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(deps)) {
		if strings.HasPrefix(path, "github.com/geosql/geosql/internal/study") || strings.HasPrefix(path, "gonum.org/v1/plot") || path == "text/template" {
			t.Errorf("geosql links %s", path)
		}
	}
}

func TestDatabaseErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, text string }{
		{dir, "is a directory"},
		{text, text + ": file is not a database"},
		{filepath.Join(dir, "none", "x.db"), "unable to open"},
	} {
		clitest.WantError(t, clitest.Run(t, "", c.path, "SELECT 1"), 1, c.text)
		clitest.WantError(t, clitest.Run(t, "", "budget", c.path), 1, "")
		csv := clitest.TempFile(t, "a.csv")
		if err := os.WriteFile(csv, []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		clitest.WantError(t, clitest.Run(t, "", "import", c.path, "t", csv), 1, c.text)
	}
}

func TestBudgetCreatesNothing(t *testing.T) {
	db := clitest.TempFile(t, "none.db")
	clitest.WantError(t, clitest.Run(t, "", "budget", db), 1, "no such database")
	if left, _ := filepath.Glob(db + "*"); left != nil {
		t.Errorf("budget created %v", left)
	}
}

func TestErrorIsOneLine(t *testing.T) {
	r := clitest.Run(t, "", ":memory:", "SELECT 'a\nb\r\nc")
	clitest.WantError(t, r, 1, "unrecognized token")
}
