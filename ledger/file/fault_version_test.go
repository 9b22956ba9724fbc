package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// A ledger of a later version is refused and left as it is, with the contents of its
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

// A process that has the ledger open when a program of a later version converts it charges nothing any more.
func TestCrashFaultConverted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l, err := file.Open(path, true)
	check(t, err)
	check(t, l.SetLimit("ana", "m", 100, 0))
	items := []ledger.Item{{Account: "ana", Epsilon: 7, Evaluations: 1}}
	check(t, l.Charge("f", "m", items))
	later, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer later.Close()
	check(t, later.Exec("PRAGMA user_version = 4"))
	for _, err := range []error{l.Charge("f", "m", items), l.Ready(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "(ledger version 4, this is 3)") {
			t.Errorf("got %v", err)
		}
	}
	check(t, later.Exec("PRAGMA user_version = 3"))
	check(t, l.Charge("f", "m", items))
	if b, err := l.Balance("ana", "m"); err != nil || b.Spent != 14 {
		t.Errorf("%+v, %v", b, err)
	}
	check(t, l.Close())
}

// A ledger of version 1, which had no chain of entries, is not read.
func TestVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l, err := file.Open(path, true)
	check(t, err)
	check(t, l.Close())
	old, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	check(t, old.Exec("PRAGMA user_version = 1"))
	check(t, old.Close())
	if _, err := file.Open(path, true); err == nil || !strings.Contains(err.Error(), "the ledger has the unknown version 1") {
		t.Errorf("got %v", err)
	}
}

// A ledger of version 2, which knew no leases, keeps its contents, and its traces are leased. A program of that version that
// still has it open
// takes no steps any more.
func TestVersion2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l, err := file.Open(path, true)
	check(t, err)
	check(t, l.SetLimit("ana", "m", 100, 0))
	stepOnce(t, l, "walk", "")
	check(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: 7, Evaluations: 1}}))
	before, err := l.Balance("ana", "m")
	check(t, err)
	head, err := l.Head()
	check(t, err)
	check(t, l.Close())
	old, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer old.Close()
	check(t, old.Exec("ALTER TABLE leased_trace RENAME TO trace; DROP TABLE lease; PRAGMA user_version = 2"))
	const oldStep = "UPDATE trace SET user = x'01' WHERE trace = 'walk'"
	step, _, err := old.Prepare(oldStep)
	check(t, err)
	defer step.Close()
	for i := range 2 {
		l, err := file.Open(path, false)
		check(t, err)
		if b, err := l.Balance("ana", "m"); err != nil || i == 0 && b != before {
			t.Errorf("%+v, %v; it was %+v", b, err, before)
		}
		stepOnce(t, l, "walk", "here")
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 9}}))
		s := l.NewStatement()
		for _, name := range []string{"walk", "new", "newer"} {
			stepOnce(t, s, name, map[bool]string{true: "here"}[i == 1 || name == "walk"])
		}
		if !leases(t, old) {
			t.Error("nothing is leased")
		}
		check(t, s.End())
		if leases(t, old) {
			t.Error("something is leased still")
		}
		if _, err := l.Verify("", &head, nil); err != nil {
			t.Error(err)
		}
		check(t, l.Close())
		if err := step.Run(); err == nil || !strings.Contains(err.Error(), "no such table") {
			t.Errorf("an older program: %v", err)
		}
	}
}

// stepOnce takes a step of a trace that has a state, and leaves it the state "here".
func stepOnce(t *testing.T, of opener, name, state string) {
	t.Helper()
	tr, found, _, err := of.OpenTrace(name, "ana", "m", "f")
	check(t, err)
	if string(found) != state {
		t.Errorf("%s: state %q", name, found)
	}
	check(t, tr.Reserve(1, 1))
	tr.Add(ledger.Point{Spent: 1, Hard: true})
	check(t, tr.Close([]byte("here")))
}

// opener is a ledger or a statement.
type opener interface {
	OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error)
}

// leases reports whether there is a lease.
func leases(t *testing.T, conn *sqlite.Conn) (found bool) {
	t.Helper()
	s, _, err := conn.Prepare("SELECT 1 FROM lease")
	check(t, err)
	defer s.Close()
	found, err = s.Step()
	check(t, err)
	return found
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
