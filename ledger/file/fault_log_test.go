package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// crash charges ana all but one of her remaining budget, says so and is killed. Its
// charge is in the log.
func crash(l *Ledger) error {
	for range faultLimit - faultSpent - 1 {
		if err := charge(l, "ana", 1); err != nil {
			return err
		}
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return errors.New("not killed")
}

// crashedLedger makes a ledger that a killed process has left with a log, and
// returns the head from before and the last one.
func crashedLedger(t *testing.T) (path string, before, after ledger.Head) {
	t.Helper()
	path, before = faultLedger(t)
	p := start(t, "crash", path)
	if err := p.cmd.Wait(); err == nil || !Killed(p.cmd.ProcessState) {
		t.Fatalf("not killed: %v", err)
	}
	there := filepath.Join(t.TempDir(), "copy")
	copyFiles(t, path, there, "", "-wal", "-shm")
	l := open(t, there)
	after, err := l.Head()
	check(t, err)
	check(t, l.Close())
	return path, before, after
}

// The files that a killed process left are whole wherever they are copied, with the index or
// without.
func TestCrashFaultLogLeft(t *testing.T) {
	path, _, head := crashedLedger(t)
	for name, change := range map[string]func(path string) error{
		"as it was":     func(string) error { return nil },
		"without index": func(path string) error { return os.Remove(path + "-shm") },
		"index zeroed":  func(path string) error { return os.WriteFile(path+"-shm", make([]byte, 32768), 0o600) },
		"index damaged": func(path string) error {
			return os.WriteFile(path+"-shm", []byte(strings.Repeat("damaged", 5000)), 0o600)
		},
	} {
		there := filepath.Join(t.TempDir(), "copy")
		copyFiles(t, path, there, "", "-wal", "-shm")
		check(t, change(there))
		if a := use(there, &head); a.granted != 1 || !engine.IsRefusal(a.charging) || a.verifying != nil {
			t.Errorf("%s: %v", name, a)
		}
	}
}

// A ledger without the log that belongs to it is an older ledger: nothing in the
// file tells, but it does not lead up to a head that was noted.
func TestCrashFaultLogLost(t *testing.T) {
	path, before, after := crashedLedger(t)
	log, err := os.ReadFile(path + "-wal")
	check(t, err)
	for name, length := range map[string]int{
		"no log": 0, "half a header": 16, "header": 32, "half": len(log) / 2, "half a frame less": len(log) - 2000, "one byte less": len(log) - 1,
	} {
		there := filepath.Join(t.TempDir(), "copy")
		copyFiles(t, path, there, "")
		check(t, os.WriteFile(there+"-wal", log[:length], 0o600))
		a := use(there, &after)
		if a.verifying == nil || !strings.Contains(a.verifying.Error(), "an older file was put back") &&
			!strings.Contains(a.verifying.Error(), "another hash than its head") {
			t.Errorf("%s: with the last head: %v", name, a)
		}
		if b := use(there, &before); b.verifying != nil {
			t.Errorf("%s: with an earlier head: %v", name, b)
		}
		t.Logf("%s: %v", name, a)
	}
	if a := use(path, &after); a.granted != 1 || a.verifying != nil {
		t.Errorf("with its log: %v", a)
	}
}

// The log of another ledger, left where a ledger is put.
func TestCrashFaultLogOfAnother(t *testing.T) {
	path, _, after := crashedLedger(t)
	other, head := faultLedger(t)
	copyFiles(t, path, other, "-wal")
	a := use(other, &head)
	if a.opening == nil && a.verifying == nil {
		t.Errorf("not noticed: %v", a)
	}
	t.Log(a)
	if a := use(path, &after); a.granted != 1 || a.verifying != nil {
		t.Errorf("its owner: %v", a)
	}
	if _, err := os.Stat(other); errors.Is(err, fs.ErrNotExist) {
		t.Error("removed")
	}
}
