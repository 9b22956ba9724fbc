package release_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// A program that releases CSV or Parquet needs no C compiler: the package and all that it
// imports build without cgo, and none of it is the SQLite engine.
func TestBuildsWithoutCgo(t *testing.T) {
	need.Program(t, "go")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, path := range strings.Fields(run("list", "-deps", ".")) {
		if strings.HasSuffix(path, "/internal/sqlite") || strings.HasSuffix(path, "/ledger/file") || strings.Contains(path, "go-sqlite3") {
			t.Errorf("it imports %s", path)
		}
	}
	run("build", ".")
}
