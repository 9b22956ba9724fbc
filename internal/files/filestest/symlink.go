package filestest

import (
	"os"
	"testing"
)

// Symlink makes a symbolic link, or skips the test where there are none. On Windows not every user may make one, and wine makes
// none although it says so.
func Symlink(t testing.TB, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip("this user cannot make symbolic links: ", err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Skip("this system makes no symbolic links")
	}
}
