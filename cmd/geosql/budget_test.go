package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/ledger/file"
)

// administered is a database with limits and charges.
func administered(t *testing.T) (db string) {
	t.Helper()
	db = clitest.TempFile(t, "x.db")
	clitest.Query(t, db, `SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1);
		SELECT budget_limit('*', 'm', 10), budget_limit('ana', 'm', 5, 86400);
		SELECT geoind_laplace(value, 48.85, 2.35, 0.25) FROM json_each('["ana", "bo", "ana"]')`)
	return db
}

// budgetOf runs the command budget, which ends with the ledger's head on standard
// error.
func budgetOf(t *testing.T, db string, args ...string) (out, head string) {
	t.Helper()
	r := clitest.Run(t, "", append([]string{"-csv", "budget", db}, args...)...)
	said := r.Err
	if slices.Contains(args, "--verify") {
		said = wantVerified(t, r)
	}
	head, told := strings.CutPrefix(strings.TrimSuffix(said, "\n"), "ledger head ")
	if r.Status != 0 || !told || strings.Contains(head, "\n") {
		t.Fatalf("budget %q: %+v", args, r)
	}
	return r.Out, head
}

// verifiedPattern matches the lines about a ledger that is in order and was written by this program alone.
var verifiedPattern = regexp.MustCompile(`^verified in (\d+ kB, )?\d+\.\d s, \d+ entries/s
written to by geosql ` + regexp.QuoteMeta(version.Build()) + `, from \S+Z to \S+Z
`)

// wantVerified returns the lines after these.
func wantVerified(t *testing.T, r clitest.Result) string {
	t.Helper()
	said := verifiedPattern.FindString(r.Err)
	if said == "" {
		t.Fatalf("%+v", r)
	}
	return r.Err[len(said):]
}

func TestBudget(t *testing.T) {
	db := administered(t)
	out, _ := budgetOf(t, db)
	for _, row := range []string{"*,m,10,0,0,10,,,,", "ana,m,5,0.5,0,4.5,86400,2", "bo,m,10,0.25,0,9.75,,,2"} {
		if !strings.Contains(out, "\n"+row) {
			t.Errorf("no row %s in\n%s", row, out)
		}
	}
	if out, _ = budgetOf(t, db, "--account", "bo"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "\nbo,m,") {
		t.Errorf("account bo:\n%s", out)
	}
	if out, _ = budgetOf(t, db, "--near", "0.1"); strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, "account,unit,epsilon_limit,used,") || !strings.Contains(out, "\nana,m,5,0.5,4.5,86400,") {
		t.Error(out)
	}
	if out, _ = budgetOf(t, db, "--near", "0.01"); strings.Count(out, "\n") != 3 || strings.Index(out, "\nana,") > strings.Index(out, "\nbo,") {
		t.Error(out)
	}
	if out, _ = budgetOf(t, db, "--near", "0.01", "--page", "2"); strings.Count(out, "\n") != 1 {
		t.Error(out)
	}
	for _, args := range [][]string{{"--near", "2"}, {"--page", "2"}, {"--near", "0.9", "--verify"}, {"--near", "x"}} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"budget", db}, args...)...), 2, "")
	}
	out, _ = budgetOf(t, db, "--history")
	for _, row := range []string{"Z,budget_limit,*,m,,,10,\n", "Z,budget_limit,ana,m,,,5,86400\n", "Z,geoind_laplace,ana,m,0.5,2,,\n"} {
		if !strings.Contains(out, row) {
			t.Errorf("no row %s in\n%s", row, out)
		}
	}
	if out, _ = budgetOf(t, db, "--history", "--account=bo"); strings.Count(out, "\n") != 2 || !strings.Contains(out, ",geoind_laplace,bo,m,0.25,1,,\n") {
		t.Errorf("history of bo:\n%s", out)
	}
}

// A noted head proves that nothing before it has changed: later charges are fine, a file
// that was put back or changed is not.
func TestBudgetVerify(t *testing.T) {
	t.Parallel()
	db := administered(t)
	ledger, err := os.ReadFile(db + "-ledger")
	if err != nil {
		t.Fatal(err)
	}
	clitest.Query(t, db, `SELECT geoind_laplace('ana', 48.85, 2.35, 0.25)`)
	_, noted := budgetOf(t, db)
	clitest.Query(t, db, `SELECT geoind_laplace('ana', 48.85, 2.35, 0.25)`)
	_, now := budgetOf(t, db, "--verify", "--head", noted)

	archive := filepath.Join(filepath.Dir(db), "my archive")
	if out, _ := budgetOf(t, db, "--archive="+archive, "--before=2100-01-01 00:00"); !strings.HasPrefix(out, "archived\n") || out == "archived\n0\n" {
		t.Errorf("archive: %s", out)
	}
	budgetOf(t, db, "--verify", "--head", now)
	budgetOf(t, db, "--verify", "--head", noted, "--archive", archive)
	clitest.WantError(t, clitest.Run(t, "", "budget", db, "--verify", "--head", noted), 1, "archive")
	clitest.WantError(t, clitest.Run(t, "", "budget", db, "--verify", "--head", "nonsense"), 1, `head "nonsense"`)

	if err := os.WriteFile(db+"-ledger", ledger, 0o600); err != nil {
		t.Fatal(err)
	}
	budgetOf(t, db, "--verify")
	clitest.WantError(t, clitest.Run(t, "", "budget", db, "--verify", "--head", noted), 1, "an older file was put back")

	clitest.Query(t, db+"-ledger", `UPDATE entry SET spent = spent - 1 WHERE id = 3; UPDATE balance SET spent = spent - 1`)
	clitest.WantError(t, clitest.Run(t, "", "budget", db, "--verify"), 1, "entry 3 was changed")
}

// A ledger by itself shows the same as its database, also while another process has it open and
// its first entries are in the write-ahead log only.
func TestBudgetOfALedger(t *testing.T) {
	t.Parallel()
	db := administered(t)
	of := func(path string, args ...string) string {
		out, head := budgetOf(t, path, args...)
		return out + head
	}
	for _, args := range [][]string{nil, {"--history"}, {"--account", "bo"}, {"--verify"}} {
		if got, want := of(db+"-ledger", args...), of(db, args...); got != want {
			t.Errorf("%q: the ledger shows\n%s\nits database\n%s", args, got, want)
		}
	}
	path := clitest.TempFile(t, "open.ledger")
	open, err := file.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := open.SetLimit("ana", "m", 1e12, 0); err != nil {
		t.Fatal(err)
	}
	if out := of(path); !strings.Contains(out, "\nana,m,1,0,0,1,") {
		t.Errorf("an open ledger shows\n%s", out)
	}
	r := clitest.Run(t, "", "budget", path, "--ledger", "other")
	if r.Status != 2 || !strings.Contains(r.Err, "is a ledger itself; leave out -ledger") {
		t.Errorf("with another ledger: %+v", r)
	}
}
