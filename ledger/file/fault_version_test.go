package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
)

// A ledger of a later version is refused and left as it is, with what is in its
// log.
func TestCrashFaultLaterVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l, err := file.Open(path, true)
	check(t, err)
	check(t, l.Close())
	later, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer later.Close()
	check(t, later.Exec("CREATE TABLE later(x); PRAGMA user_version = 4"))
	before := contents(t, path)
	for _, create := range []bool{false, true} {
		_, err := file.Open(path, create)
		if err == nil || !strings.Contains(err.Error(), "written by a newer geosql (ledger version 4, this is 3)") {
			t.Errorf("got %v", err)
		}
	}
	if after := contents(t, path); after != before {
		t.Error("changed")
	}
}

// contents are those of a ledger's file and its log. They are read by another
// process: this one must not open them while the ledger is.
func contents(t *testing.T, path string) string {
	t.Helper()
	var all string
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		check(t, err)
		all += string(content)
	}
	return all
}
