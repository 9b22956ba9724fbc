package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openShared(t *testing.T, path string, flag int) *os.File {
	t.Helper()
	f, err := OpenShared(path, flag)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	first, second := openShared(t, path, os.O_CREATE), openShared(t, path, 0)
	for _, v := range []struct {
		file *os.File
		free bool
	}{{first, true}, {second, false}} {
		if free, err := Lock(v.file); free != v.free || err != nil {
			t.Fatalf("%v, %v, want %v", free, err, v.free)
		}
	}
	if _, err := second.WriteString("not locked out"); err != nil { // a writer that does not ask for the lock
		t.Error(err)
	}
	check(t, first.Close())
	if free, err := Lock(second); !free || err != nil {
		t.Errorf("once it is closed: %v, %v", free, err)
	}
}

func TestOpenSharedFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := OpenShared(path, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened what is missing: %v", err)
	}
	f := openShared(t, path, os.O_CREATE|os.O_EXCL)
	_, err := f.WriteString("kept")
	check(t, err)
	if _, err := OpenShared(path, os.O_CREATE|os.O_EXCL); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created again: %v", err)
	}
	openShared(t, path, os.O_CREATE)
	if content, err := os.ReadFile(path); string(content) != "kept" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
}

func TestRenameWhileOpen(t *testing.T) {
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	check(t, os.WriteFile(to, []byte("earlier"), 0o600))
	f := openShared(t, from, os.O_CREATE)
	_, err := f.WriteString("later")
	check(t, err)
	check(t, Rename(from, to))
	check(t, SyncFolder(folder))
	if content, err := os.ReadFile(to); string(content) != "later" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := os.Lstat(from); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name: %v", err)
	}
	if err := Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is missing: %v", err)
	}
}

func TestNamelessFileIsGone(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	f, err := CreateNameless(path)
	check(t, err)
	content := make([]byte, 4)
	_, err = f.WriteAt([]byte("kept"), 0)
	check(t, err)
	if _, err := f.ReadAt(content, 0); string(content) != "kept" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	check(t, f.Close())
	if left, err := os.ReadDir(folder); len(left) != 0 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	check(t, os.WriteFile(path, nil, 0o600))
	if _, err := CreateNameless(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("in place of another: %v", err)
	}
}

func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f := openShared(t, path, os.O_CREATE)
	if private, err := Private(f); !private || err != nil {
		t.Errorf("%v, %v", private, err)
	}
	check(t, os.Link(path, path+"-second"))
	if private, err := Private(f); private || err != nil {
		t.Errorf("with two names: %v, %v", private, err)
	}
}
