package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/ledger/internal/engine"
)

const page = 4096

func TestCrashFaultMissing(t *testing.T) {
	path, head := faultLedger(t)
	check(t, os.Rename(path, path+"-away"))
	if _, err := Open(path, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	check(t, os.Rename(path+"-away", path))
	intact(t, path, &head)
}

// The file is taken away from a ledger that is in use, one way or another.
func TestCrashFaultTakenAway(t *testing.T) {
	for name, takeAway := range map[string]func(t *testing.T, path string) (putBack func(), err error){
		"renamed": func(t *testing.T, path string) (func(), error) {
			err := os.Rename(path, path+"-away")
			return func() { check(t, os.Rename(path+"-away", path)) }, err
		},
		"removed": func(t *testing.T, path string) (func(), error) {
			if hasModes { // Windows could not remove the other name either
				check(t, os.Link(path, path+"-kept"))
			}
			err := os.Remove(path)
			return func() { check(t, os.Rename(path+"-kept", path)) }, err
		},
		"replaced": func(t *testing.T, path string) (func(), error) {
			other, _ := faultLedger(t)
			err := os.Rename(path, path+"-away")
			if err == nil {
				err = os.Rename(other, path)
			}
			return func() { check(t, os.Rename(path+"-away", path)) }, err
		},
		"its folder renamed": func(t *testing.T, path string) (func(), error) {
			dir := filepath.Dir(path)
			err := os.Rename(dir, dir+"-away")
			return func() { check(t, os.Rename(dir+"-away", dir)) }, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, head := faultLedger(t)
			l := open(t, path)
			check(t, charge(l, "bob", 1))
			putBack, err := takeAway(t, path)
			if forbidden(t, err) {
				intact(t, path, &head)
				return
			}
			failing(t, l, "the file was removed or replaced while in use")
			if _, err := Open(path, true); err == nil {
				t.Error("opened again")
			}
			putBack()
			intact(t, path, &head) // the same connection
		})
	}
}

// An older copy is written over the file while it is in use. (A copy that is put
// back while nobody looks is an older ledger: see TestCrashFaultLogLost.)
func TestCrashFaultCopiedOver(t *testing.T) {
	path, _ := faultLedger(t)
	older := filepath.Join(t.TempDir(), "older")
	copyFiles(t, path, older, "")
	l := open(t, path)
	for range faultLimit - faultSpent {
		check(t, charge(l, "ana", 1))
	}
	head, err := l.Head()
	check(t, err)
	check(t, l.db.conn.Exec("PRAGMA wal_checkpoint(TRUNCATE)"))
	copyFiles(t, older, path, "")
	a := use(path, &head)
	if a.granted > 0 && a.verifying == nil {
		t.Errorf("not noticed: %v", a)
	}
	t.Logf("in use: %v", a)
	check(t, l.Close())
	a = use(path, &head)
	if a.opening == nil && a.verifying == nil {
		t.Errorf("not noticed: %v", a)
	}
	t.Logf("opened again: %v", a)
}

func TestCrashFaultTruncated(t *testing.T) {
	path, head := faultLedger(t)
	whole, err := os.ReadFile(path)
	check(t, err)
	written := len(bytes.TrimRight(whole, "\x00")) // SQLite reads zeros beyond the end of a page that is cut
	for name, length := range map[string]int{
		"to nothing": 0, "to the header": 100, "to half a page": page / 2, "to a page": page,
		"to half": len(whole) / 2 / page * page, "by the last page": len(whole) - page, "by a byte": written - 1,
	} {
		broken := writeNew(t, whole[:length])
		a := use(broken, &head)
		if a.opening == nil && a.verifying == nil {
			t.Errorf("%s: not noticed: %v", name, a)
		}
		check(t, a.allowed())
		t.Logf("%s: %v", name, a)
		check(t, os.WriteFile(broken, whole, 0o600))
		intact(t, broken, &head)
	}
}

// damages is how many damaged files are tried.
const damages = 150

// Whatever bytes of the file are damaged: nothing is granted beyond the limit by
// a ledger that verifies.
func TestCrashFaultDamaged(t *testing.T) {
	path, head := faultLedger(t)
	whole, err := os.ReadFile(path)
	check(t, err)
	count := map[string]int{}
	for range damages {
		broken := append([]byte(nil), whole...)
		what := damage(broken)
		a := use(writeNew(t, broken), &head)
		if err := a.allowed(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		count[a.outcome()]++
	}
	t.Log(count)
	intact(t, path, &head)
}

// The same with a log. SQLite drops the damaged part: the ledger is then
// an older one.
func TestCrashFaultDamagedLog(t *testing.T) {
	path, _, head := crashedLedger(t)
	log, err := os.ReadFile(path + "-wal")
	check(t, err)
	count := map[string]int{}
	for range damages / 3 {
		there := filepath.Join(t.TempDir(), "copy")
		copyFiles(t, path, there, "")
		broken := append([]byte(nil), log...)
		what := damage(broken)
		check(t, os.WriteFile(there+"-wal", broken, 0o600))
		a := use(there, &head)
		if err := a.allowed(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		count[a.outcome()]++
	}
	t.Log(count)
}

func (a attempt) outcome() string {
	switch {
	case a.opening != nil:
		return "not opened"
	case a.verifying != nil && a.granted > faultLimit-faultSpent:
		return "granted too much, does not verify"
	case a.verifying != nil && a.granted > 0:
		return "granted, does not verify"
	case a.verifying != nil:
		return "does not verify"
	case !engine.IsRefusal(a.charging):
		return "does not charge"
	}
	return "no harm"
}

// damage damages some bytes that are not zero (most are), and the bytes after them.
func damage(b []byte) (what string) {
	at := rand.IntN(len(b))
	for b[at] == 0 {
		at = rand.IntN(len(b))
	}
	switch rand.IntN(4) {
	case 0:
		bit := byte(1) << rand.IntN(8)
		b[at] ^= bit
		return fmt.Sprintf("bit %#x of byte %d", bit, at)
	case 1:
		b[at] = byte(rand.Int())
		return fmt.Sprintf("byte %d is %#x", at, b[at])
	case 2:
		n := min(1+rand.IntN(600), len(b)-at)
		clear(b[at : at+n])
		return fmt.Sprintf("%d bytes from %d zeroed", n, at)
	default:
		n := min(1+rand.IntN(600), len(b)-at)
		for i := range n {
			b[at+i] = byte(rand.Int())
		}
		return fmt.Sprintf("%d random bytes from %d", n, at)
	}
}
