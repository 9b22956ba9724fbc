//go:build linux || darwin

package turns

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// lockBytes locks [from, to) of an open file, if nobody else has locked any of it.
func lockBytes(f *os.File, from, to int64) error {
	return unix.FcntlFlock(f.Fd(), setLock, span(from, to, exclusive))
}

func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error  { return p.Signal(syscall.SIGCONT) }

// A process that has a removed file open goes on alone, and does not remove the
// file of processes that come later.
func TestRemovedFile(t *testing.T) {
	path := newPath(t)
	early := open(t, path)
	check(t, os.Remove(path))
	late := open(t, path)
	p := late.Enter(never)
	early.Leave(early.Enter(never))
	late.Leave(p)
	early.Close()
	if !exists(path) {
		t.Error("removed the file of another queue")
	}
	late.Close()
	if exists(path) {
		t.Error("the file stays")
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	path := newPath(t)
	dir := filepath.Dir(path)
	if os.Geteuid() == 0 { // permissions do not stop root
		const nobody = 65534
		check(t, os.Chmod(filepath.Dir(dir), 0o755))
		check(t, syscall.Seteuid(nobody))
		defer syscall.Seteuid(0)
	} else {
		check(t, os.Chmod(dir, 0o500))
	}
	if Open(path, 0o600) != nil || exists(path) {
		t.Error("a queue in a directory that cannot be written")
	}
}

// Users of the ledger may queue, whatever the umask of the first.
func TestModeOfTheFile(t *testing.T) {
	path := newPath(t)
	defer syscall.Umask(syscall.Umask(0o077))
	q := Open(path, 0o664)
	defer q.Close()
	if file, err := os.Stat(path); err != nil || file.Mode() != 0o664 {
		t.Errorf("%v, %v", file.Mode(), err)
	}
}
