package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/internal/sqlite"
)

func TestOneObjectPerFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x-ledger")
	filestest.Symlink(t, path, filepath.Join(dir, "link")) // leads to nothing yet
	filestest.Symlink(t, dir, filepath.Join(dir, "again"))
	l := open(t, filepath.Join(dir, "link"))
	for _, p := range []string{path, filepath.Join(dir, "again", "again", "link"), filepath.Join(dir, ".", "again", "x-ledger")} {
		if other := open(t, p); other != l {
			t.Errorf("%s is another object", p)
		}
	}
	t.Chdir(dir)
	if open(t, "x-ledger") != l {
		t.Error("relative path is another object")
	}
	if filepath.Base(l.Path()) != "x-ledger" || !filepath.IsAbs(l.Path()) {
		t.Errorf("path %s", l.Path())
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x-ledger")
	for _, p := range []string{path, filepath.Join(dir, "none", "x-ledger")} {
		if _, err := Open(p, false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", p, err)
		}
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s was created", p)
		}
	}
	check(t, os.WriteFile(path, nil, 0o600))
	if _, err := Open(path, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty file: %v", err)
	}
	check(t, open(t, path).SetLimit("*", "m", 1, 0))
}

func TestCannotOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	check(t, os.WriteFile(file, []byte(strings.Repeat("not a database\n", 1000)), 0o600))
	foreign := filepath.Join(dir, "foreign")
	spoil(t, foreign, "CREATE TABLE t(x)")
	marked := filepath.Join(dir, "marked")
	spoil(t, marked, "PRAGMA application_id = 7")
	wide := filepath.Join(dir, "wide")
	spoil(t, wide, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(x); DROP TABLE t")
	newer := filepath.Join(dir, "newer")
	check(t, open(t, newer).Close())
	spoil(t, newer, fmt.Sprint("PRAGMA user_version = ", version+1))
	older := filepath.Join(dir, "older")
	check(t, open(t, older).Close())
	spoil(t, older, "PRAGMA user_version = 0")
	headless := filepath.Join(dir, "headless")
	check(t, open(t, headless).Close())
	spoil(t, headless, "DELETE FROM meta")
	stripped := filepath.Join(dir, "stripped")
	check(t, open(t, stripped).Close())
	spoil(t, stripped, "DROP TABLE balance")

	notFolder := "not a directory"
	if runtime.GOOS == "windows" {
		notFolder = "unable to open database file"
	}
	for path, want := range map[string]string{
		file:                            "file is not a database",
		foreign:                         "another application's database",
		marked:                          "another application's database",
		wide:                            "texts in UTF-16le",
		newer:                           "written by a newer geosql",
		older:                           "unknown version",
		headless:                        "the ledger is damaged",
		stripped:                        "no such table",
		dir:                             "unable to open database file",
		filepath.Join(file, "below"):    notFolder,
		filepath.Join(dir, "none", "x"): syscall.ENOENT.Error(),
	} {
		before, _ := os.ReadFile(path)
		_, err := Open(path, true)
		if err == nil || !strings.HasPrefix(err.Error(), "ledger: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", filepath.Base(path), err, want)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
	if len(registry.ledgers) != 0 {
		t.Errorf("registered: %v", registry.ledgers)
	}
}

// Balances that no ledger writes must not make sums overflow.
func TestAbsurdBalance(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, charge(l, "ana", 1))
	spoil(t, l.Path(), "UPDATE balance SET spent = 9000000000000000000, reserved = 9000000000000000000")
	if err := charge(l, "ana", 1); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}

func TestMemory(t *testing.T) {
	l, err := OpenMemory("")
	check(t, err)
	other, err := OpenMemory("")
	check(t, err)
	if l.ID() == other.ID() || l.Path() != "" {
		t.Error("not a ledger of its own")
	}
	check(t, l.SetLimit("*", "m", 10, 0))
	again, err := OpenMemory(l.ID())
	check(t, err)
	if again != l {
		t.Error("not the living one")
	}
	check(t, again.Close())
	s := l.NewStatement()
	for range 10 {
		check(t, s.Spender("f", "m").Charge([]byte("ana"), 1))
	}
	refused(t, s.Spender("f", "m").Charge([]byte("ana"), 1))
	check(t, s.End())
	if n := len(charges(t, l)); n != 1 {
		t.Errorf("%d charges", n)
	}
	check(t, l.Close())
	check(t, other.Close())
	if _, err := OpenMemory(l.ID()); err == nil {
		t.Error("opened a ledger that is gone")
	}
	file := newFile(t)
	if _, err := OpenMemory(file.Path()); err == nil {
		t.Error("opened a file as a ledger in memory")
	}
}

func TestDurable(t *testing.T) {
	l := newFile(t)
	for pragma, want := range map[string]int64{"synchronous": 2, "fullfsync": 1, "application_id": ApplicationID, "user_version": version} {
		if got, err := l.db.readInt("PRAGMA " + pragma); err != nil || got != want {
			t.Errorf("%s = %d, %v", pragma, got, err)
		}
	}
	if mode, err := l.db.readText("PRAGMA journal_mode"); err != nil || mode != "wal" {
		t.Errorf("journal mode %s, %v", mode, err)
	}
}

// SQLite does not say that it ignored the journal mode, here because the
// database is a temporary one.
func TestNotDurable(t *testing.T) {
	conn, err := sqlite.Open("", sqlite.ReadWrite)
	check(t, err)
	db := &store{conn: conn}
	defer db.close()
	if err := db.setWALMode(); err == nil || err.Error() != "cannot make charges durable: journal mode is delete" {
		t.Errorf("got %v", err)
	}
}

// A ledger that another program keeps locked is waited for by its openers,
// and by nobody else.
func TestOpenWaitsForItsOwnLedgerOnly(t *testing.T) {
	l := newFile(t)
	path := l.Path()
	check(t, l.Close())
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer conn.Close()
	check(t, conn.Exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"))
	opened := make(chan error, 2)
	for range cap(opened) {
		go func() {
			l, err := Open(path, false)
			if err == nil {
				err = l.Close()
			}
			opened <- err
		}()
	}
	for waiting := false; !waiting; { // until one of them has begun
		registry.Lock()
		waiting = registry.busy[path] != nil
		registry.Unlock()
	}
	other := newFile(t)
	check(t, other.SetLimit("ana", "m", 1, 0))
	check(t, other.Close())
	select {
	case err := <-opened:
		t.Errorf("opened while it was locked, %v", err)
	default:
	}
	check(t, conn.Exec("COMMIT"))
	check(t, conn.Close())
	for range cap(opened) {
		check(t, <-opened)
	}
}
