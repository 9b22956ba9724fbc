//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// asNobody gives a test's folder to an unprivileged user and becomes it until the
// test ends: permissions do not stop root.
func asNobody(t *testing.T, dir string) {
	const nobody = 65534
	if os.Geteuid() != 0 {
		return
	}
	check(t, os.Chown(filepath.Dir(dir), nobody, nobody)) // the folder of t.TempDir
	check(t, os.Chown(dir, nobody, nobody))
	check(t, syscall.Seteuid(nobody))
	t.Cleanup(func() { check(t, syscall.Seteuid(0)) })
}
