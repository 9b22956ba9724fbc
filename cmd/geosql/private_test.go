package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// forOthers reports whether others than its owner have a right to a file, by its mode.
func forOthers(info fs.FileInfo) bool { return store.HasModes && info.Mode().Perm()&0o077 != 0 }

// haveMode demands a mode of all files that begin with prefix, and that prefix with each name exists.
func haveMode(t *testing.T, prefix string, want fs.FileMode, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(prefix + name); err != nil {
			t.Error(err)
		}
	}
	there, _ := filepath.Glob(prefix + "*")
	for _, name := range there {
		if info, err := os.Stat(name); err != nil || store.HasModes && info.Mode() != want {
			t.Errorf("%s: %v, want %v", name, info.Mode(), want)
		}
	}
}

// Whatever a command makes is for its owner alone: the database, the ledger and its
// archive, and a release with its ledger, which knows a digest of the input.
func TestWhatIsMadeIsPrivate(t *testing.T) {
	t.Parallel()
	db := administered(t)
	budgetOf(t, db, "--archive", db+"-archive", "--before", "2100-01-01")
	haveMode(t, db, 0o600, "", "-ledger", "-archive")

	csv := clitest.TempFile(t, "in.csv")
	if err := os.WriteFile(csv, []byte("lat,lon\n48.85,2.35\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	imported := clitest.TempFile(t, "y.db")
	clitest.Import(t, imported, "t", csv)
	haveMode(t, imported, 0o600, "")

	out := clitest.TempFile(t, "out.csv")
	released := clitest.Run(t, "", "release", "--in", csv, "--out", out, "--account", "const:ana", "--lat", "lat", "--lon", "lon", "--epsilon", "0.01",
		"--domain", "48.8,2.2,49,2.5,10", "--limit", "1", "--ledger", out+"-ledger")
	if released.Status != 0 {
		t.Fatalf("%+v", released)
	}
	haveMode(t, out, 0o600, "", "-ledger", ".report.html", ".metadata.json")
}

func TestLedgerMode(t *testing.T) {
	t.Parallel()
	db := clitest.TempFile(t, "x.db")
	if !store.HasModes {
		clitest.WantError(t, clitest.Run(t, "", "--ledger-mode", "0640", db, "SELECT 1"), 2, "give the ledger's folder the permissions")
		return
	}
	clitest.Query(t, "--ledger-mode", "0640", db, `SELECT budget_limit('*', 'm', 10)`)
	haveMode(t, db+"-ledger", 0o640, "")
	budgetOf(t, db)
	haveMode(t, db+"-ledger", 0o640, "") // it stays
	budgetOf(t, db, "--ledger-mode=660")
	haveMode(t, db+"-ledger", 0o660, "")

	for flag, want := range map[string]string{
		"0644": "the mode of a ledger is 0600, 0640 or 0660, not 0644",
		"0":    "the mode of a ledger is 0600, 0640 or 0660, not 0",
		"rw":   "the mode must be like 0640",
		"08":   "the mode must be like 0640",
	} {
		clitest.WantError(t, clitest.Run(t, "", "--ledger-mode", flag, db, "SELECT 1"), 2, want)
	}
	clitest.WantError(t, clitest.Run(t, "", "import", "--ledger-mode", "0640", db, "t", "x.csv"), 2, "import takes no flag -ledger-mode")
}
