package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
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

// A ledger of version 2, which knew no leases, keeps its traces. A program of that version that still has it open
// takes no steps any more.
func TestVersion2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l, err := file.Open(path, true)
	check(t, err)
	check(t, l.SetLimit("ana", "m", 100, 0))
	stepOnce(t, l, "")
	check(t, l.Close())
	old, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer old.Close()
	check(t, old.Exec("ALTER TABLE leased_trace RENAME TO trace; DROP TABLE lease; PRAGMA user_version = 2"))
	const oldStep = "UPDATE trace SET user = x'01' WHERE trace = 'walk'"
	step, _, err := old.Prepare(oldStep)
	check(t, err)
	defer step.Close()
	for range 2 {
		l, err := file.Open(path, false)
		check(t, err)
		stepOnce(t, l, "here")
		if _, err := l.Verify("", nil); err != nil {
			t.Error(err)
		}
		check(t, l.Close())
		if err := step.Run(); err == nil || !strings.Contains(err.Error(), "no such table") {
			t.Errorf("an older program: %v", err)
		}
	}
}

// stepOnce takes a step of a trace that has a state, and leaves it the state "here".
func stepOnce(t *testing.T, l *file.Ledger, state string) {
	t.Helper()
	tr, found, _, err := l.OpenTrace("walk", "ana", "m", "f")
	check(t, err)
	if string(found) != state {
		t.Errorf("state %q", found)
	}
	check(t, tr.Reserve(1, 1))
	tr.Add(ledger.Point{Spent: 1, Hard: true})
	check(t, tr.Close([]byte("here")))
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
