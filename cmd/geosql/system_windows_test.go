package main

import (
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// Paths of databases with a drive, a backslash, or letters beyond ASCII.
func TestPathsOfWindows(t *testing.T) {
	for _, name := range []string{"plain.db", "with space.db", "Zürich Ω.db"} {
		path := clitest.TempFile(t, name)
		if path[1] != ':' {
			t.Fatalf("%s names no drive", path)
		}
		clitest.Query(t, path, "SELECT budget_limit('*', 'm', 1)")
		if out := clitest.Query(t, "-csv", "--ledger", path+"-ledger", path, "SELECT count(*) AS n FROM ledger_limits"); out != "n\n1\n" {
			t.Errorf("%s: %q", path, out)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", "import", "city", "t", "a.csv"), 2, "there is no database city")
	if instead := store.Reject(`data\city`); instead != "" {
		t.Errorf("a path with a backslash is no mistyped command: %s", instead)
	}
}

// Nothing is served here, which is said before a database is opened.
func TestServeSaysThatItDoesNot(t *testing.T) {
	key := clitest.TempFile(t, "owner.key")
	clitest.Run(t, "", "keygen", key)
	clitest.WantError(t, clitest.Run(t, "", "serve", "none.db", "--key", key), 1, "serve from Linux")
}
