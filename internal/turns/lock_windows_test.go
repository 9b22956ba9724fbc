package turns

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/windows"
)

// lockBytes locks [from, to) of an open file, if nobody else has locked any of it.
func lockBytes(f *os.File, from, to int64) error {
	return lockRange(f, from, to, exclusive|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

func suspend(p *os.Process) error { return tell(p, "NtSuspendProcess") }
func resume(p *os.Process) error  { return tell(p, "NtResumeProcess") }

func tell(p *os.Process, what string) (err error) {
	withHandle := p.WithHandle(func(handle uintptr) {
		if status, _, _ := windows.NewLazySystemDLL("ntdll.dll").NewProc(what).Call(handle); status != 0 {
			err = windows.NTStatus(status)
		}
	})
	return errors.Join(withHandle, err)
}

// Nobody can take the file away from processes in the queue.
func TestOpenFileStays(t *testing.T) {
	path := newPath(t)
	q := open(t, path)
	if err := os.Remove(path); !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		t.Errorf("removed: %v", err)
	}
	q.Close()
	if exists(path) {
		t.Error("the file stays")
	}
}
