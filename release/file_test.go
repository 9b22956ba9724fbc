package release

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A nameless file has no name while it is used, nobody else may read it, and the rest that a killed
// process may have left of it goes.
func TestNameless(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts")
	write(t, path, "left by a process that was killed")
	f, err := openNameless(path)
	check(t, err)
	if exists(path) && runtime.GOOS != "windows" {
		t.Error("the file has a name")
	}
	if info, err := f.Stat(); err != nil || !isPrivate(info) || info.Size() != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	check(t, f.Close())
	if exists(path) {
		t.Error("the file has a name when it is closed")
	}
	check(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	if _, err := openNameless(path); err == nil || !strings.Contains(err.Error(), path+" is not a regular file") {
		t.Errorf("got %v", err)
	}
	if _, err := openNameless(filepath.Join(path, "none", "accounts")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
