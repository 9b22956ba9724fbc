package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
)

// saying demands an error that has the text want.
func saying(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "ledger: ") || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}

// forbidden reports whether it failed to remove or to rename an open file, as on Windows. Elsewhere that is a
// failure of the test.
func forbidden(t *testing.T, err error) bool {
	t.Helper()
	if runtime.GOOS != "windows" {
		check(t, err)
	}
	return err != nil
}

// A second name, as cp -al and rsync --link-dest make, would get a log of its own.
func TestSecondNameIsRefused(t *testing.T) {
	const want = "the file has 2 names (hard links)"
	l := newFile(t)
	second := filepath.Join(t.TempDir(), "x-ledger")
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, charge(l, "ana", 5))

	check(t, os.Link(l.Path(), second))
	saying(t, "in use", charge(l, "ana", 1), want)
	saying(t, "a limit", l.SetLimit("*", "m", 20, 0), want)
	_, err := Open(l.Path(), false)
	saying(t, "shared", err, want)
	_, err = Open(second, false)
	saying(t, "by the other name", err, want)
	if out, err := playing("charge", second).CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
		t.Errorf("another process: %v %s", err, out)
	}

	if removed := os.Remove(second); forbidden(t, removed) { // until the ledger is closed
		check(t, l.Close())
		check(t, os.Remove(second))
		l = open(t, l.Path())
	}
	check(t, charge(l, "ana", 5))
	refused(t, charge(l, "ana", 1))
}

// A process that has the ledger open goes on with the log that was removed, one that opens it makes
// another. Neither may grant: the first may have granted the whole rest.
func TestRemovedLogIsNoticed(t *testing.T) {
	for _, removed := range [][]string{{"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		t.Run(strings.Join(removed, " and "), func(t *testing.T) {
			t.Parallel()
			l := newFile(t)
			check(t, l.SetLimit("*", "m", 10, 0))
			check(t, charge(l, "ana", 5))
			s := l.NewStatement()
			spender := s.Spender("f", "m")
			check(t, spender.Charge([]byte("bob"), 1))
			for _, suffix := range removed {
				if err := os.Remove(l.Path() + suffix); forbidden(t, err) {
					check(t, spender.Charge([]byte("bob"), 1))
					check(t, s.End())
					return
				}
			}
			saying(t, "in use", charge(l, "ana", 1), removed[0]+" file was removed or replaced while in use")
			saying(t, "a statement", spender.Charge([]byte("bob"), 5), removed[0]+" file was removed")
			out, err := playing("charge", l.Path()).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "with a missing -wal or -shm file") {
				t.Errorf("another process: %v %s", err, out)
			}

			_ = s.End()
			_ = l.Close()
			again := open(t, l.Path())
			if b := balance(t, again, "ana"); b.Spent != 5 {
				t.Errorf("closing saved %v", b.Spent)
			}
			check(t, charge(again, "ana", 5))
			refused(t, charge(again, "ana", 1))
		})
	}
}

// Another ledger is put into the file, by SQLite's backup or by copying.
func TestAnotherLedgerInTheFile(t *testing.T) {
	l, other := newFile(t), newFile(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: 5}}))
	check(t, other.SetLimit("*", "m", 1000, 0))
	check(t, other.Close())
	_, err := l.Facts(t.Context(), 0) // has it looked at
	check(t, err)
	spoil(t, l.Path(), "UPDATE meta SET value = '"+other.ID()+"' WHERE key = 'id'")
	saying(t, "charging", charge(l, "ana", 1), "another ledger was put into the file while in use")
	saying(t, "from a reservation", charge(l, "bob", 1), "another ledger was put into the file while in use")
	_, err = l.Facts(t.Context(), 0)
	saying(t, "reading facts", err, "another ledger was put into the file while in use")
	spoil(t, l.Path(), "UPDATE meta SET value = '"+l.ID()+"' WHERE key = 'id'")
	check(t, charge(l, "ana", 1))
}

// modes are those of a ledger's files. On Windows, which has none, all seem to be private.
func modes(t *testing.T, path string) map[string]fs.FileMode {
	t.Helper()
	there, err := filepath.Glob(path + "*")
	check(t, err)
	modes := map[string]fs.FileMode{}
	for _, name := range there {
		info, err := os.Stat(name)
		check(t, err)
		modes[strings.TrimPrefix(name, path)] = info.Mode()
		if !hasModes {
			modes[strings.TrimPrefix(name, path)] = privateMode
		}
	}
	return modes
}

func allHave(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	have := modes(t, path)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if _, there := have[suffix]; !there {
			t.Errorf("no file %q", suffix)
		}
	}
	for suffix, mode := range have {
		if mode != want {
			t.Errorf("%q is %v, want %v", suffix, mode, want)
		}
	}
}

// The contents of the ledger and of the files beside it are the owner's.
func TestFilesArePrivate(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, charge(l, "ana", 5))
	_, err := l.Archive(l.Path()+"-archive", time.Now().Add(time.Hour))
	check(t, err)
	allHave(t, l.Path(), 0o600)
}

// Where no mode can be kept, none is promised.
func TestModeOnWindows(t *testing.T) {
	if hasModes {
		t.Skip("files have modes")
	}
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o660} {
		_, err := Open(filepath.Join(t.TempDir(), "x-ledger"), true, WithMode(mode))
		saying(t, "a mode", err, "files have no modes on Windows")
	}
}

// A group may be let in; the ledger keeps the mode that it was given.
func TestModeForAGroup(t *testing.T) {
	if !hasModes {
		t.Skip("files have no modes")
	}
	path := filepath.Join(t.TempDir(), "x-ledger")
	openWith := func(opts ...Option) *Ledger {
		t.Helper()
		l, err := Open(path, true, opts...)
		check(t, err)
		return l
	}
	l := openWith(WithMode(0o660))
	check(t, l.SetLimit("*", "m", 10, 0))
	_, err := l.Archive(path+"-archive", time.Now().Add(time.Hour))
	check(t, err)
	allHave(t, path, 0o660)
	check(t, l.Close())

	l = openWith()
	allHave(t, path, 0o660)
	check(t, openWith(WithMode(0o640)).Close()) // of the process's one object
	check(t, os.Remove(path+"-archive"))
	allHave(t, path, 0o640)
	check(t, l.Close())

	check(t, os.Chmod(path, 0o664)) // as earlier versions made them
	l = openWith()
	allHave(t, path, 0o600)
	check(t, l.Close())

	l = openWith()
	check(t, os.Chmod(path+"-wal", 0o644)) // as a process of an earlier version may have left it
	check(t, playing("charge", path).Run())
	allHave(t, path, 0o600)
	check(t, l.Close())

	for mode, want := range map[fs.FileMode]bool{0o600: true, 0o640: true, 0o660: true, 0o644: false, 0o666: false, 0o400: false, 0o700: false, 0: false} {
		if err := CheckMode(mode); (err == nil) != want {
			t.Errorf("%#o: %v", mode, err)
		}
	}
}
