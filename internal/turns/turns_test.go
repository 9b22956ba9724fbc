package turns

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// never is longer than any test runs.
const never = time.Hour

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newPath is where a queue can be.
func newPath(t testing.TB) string {
	t.Helper()
	if !supported {
		t.Skip("no queues on this operating system")
	}
	return filepath.Join(t.TempDir(), "queue")
}

// open opens a queue as another process would: the locks of two open files
// exclude each other within a process too.
func open(t testing.TB, path string) *Queue {
	t.Helper()
	q := Open(path, 0o600)
	if q == nil {
		t.Fatal("no queue")
	}
	t.Cleanup(q.Close) // Windows removes no file that is open
	return q
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// until waits for an event that must happen sooner or later.
func until(t testing.TB, happened func() bool) {
	t.Helper()
	for !happened() {
		time.Sleep(100 * time.Microsecond)
	}
}

func TestNilQueue(t *testing.T) {
	var q *Queue
	q.Leave(q.Enter(never))
	q.Close()
}

func TestLastOneRemovesTheFile(t *testing.T) {
	path := newPath(t)
	var queues []*Queue
	for range 3 {
		queues = append(queues, open(t, path))
	}
	for _, q := range queues {
		if !exists(path) {
			t.Error("the file is gone before the last one left")
		}
		q.Leave(q.Enter(never))
		q.Close()
	}
	if exists(path) {
		t.Error("the file stays")
	}
}

// Of several that leave at the same moment one removes the file.
func TestLastOfSeveral(t *testing.T) {
	path := newPath(t)
	for range 300 {
		var all sync.WaitGroup
		for _, q := range []*Queue{open(t, path), open(t, path)} {
			all.Go(q.Close)
		}
		all.Wait()
		if exists(path) {
			t.Fatal("the file stays")
		}
	}
}

// A queue is where an empty file is or can be. Anything else at its path is
// somebody else's and stays as it is.
func TestNotAQueue(t *testing.T) {
	for name, occupy := range map[string]func(path string) error{
		"file":      func(path string) error { return os.WriteFile(path, []byte("data"), 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link": func(path string) error {
			check(t, os.WriteFile(path+"-target", nil, 0o600))
			return os.Symlink(path+"-target", path)
		},
		"dangling link": func(path string) error { return os.Symlink(path+"-target", path) },
	} {
		path := newPath(t)
		err := occupy(path)
		if runtime.GOOS == "windows" && !exists(path) {
			t.Logf("%s: not everybody may make one, and wine makes none: %v", name, err)
			continue
		}
		check(t, err)
		before, err := os.Lstat(path)
		check(t, err)
		if q := Open(path, 0o644); q != nil {
			t.Errorf("%s: used as a queue", name)
			q.Close()
		}
		after, err := os.Lstat(path)
		check(t, err)
		if before.Mode() != after.Mode() || before.Size() != after.Size() {
			t.Errorf("%s: was %v of %d bytes, is %v of %d", name, before.Mode(), before.Size(), after.Mode(), after.Size())
		}
	}
	path := newPath(t)
	if Open(filepath.Join(path, "queue"), 0o600) != nil {
		t.Error("a queue in a directory that is missing")
	}
}

// A file that somebody writes to while it is a queue is theirs.
func TestFileWithContentStays(t *testing.T) {
	path := newPath(t)
	q := open(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteAt([]byte("data"), presence+1) // Windows writes over no lock
	check(t, err)
	check(t, f.Close())
	q.Leave(q.Enter(never))
	q.Close()
	if !exists(path) {
		t.Error("removed")
	}
}

func BenchmarkUncontended(b *testing.B) {
	q := open(b, newPath(b))
	b.ReportAllocs()
	for b.Loop() {
		q.Leave(q.Enter(never))
	}
}
