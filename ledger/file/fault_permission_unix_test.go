//go:build unix

package file

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A ledger that may not be written grants nothing, and works as soon as it may.
func TestCrashFaultReadOnly(t *testing.T) {
	for name, mode := range map[string]struct{ file, dir os.FileMode }{
		"file":            {0o400, 0o700},
		"folder":          {0o600, 0o500},
		"file and folder": {0o400, 0o500},
		"hidden file":     {0, 0o700},
		"hidden folder":   {0o600, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path, head := faultLedger(t)
			dir := filepath.Dir(path)
			asNobody(t, filepath.Dir(dir), dir, path) // the first is t.TempDir's
			check(t, os.Chmod(path, mode.file))
			check(t, os.Chmod(dir, mode.dir))
			defer os.Chmod(dir, 0o700)
			a := use(path, nil)
			if a.granted != 0 || a.opening == nil && a.charging == nil {
				t.Errorf("granted: %v", a)
			}
			check(t, a.allowed())
			t.Log(a)
			if mode.dir != 0o700 {
				if _, err := Open(filepath.Join(dir, "none"), true); err == nil {
					t.Error("created")
				}
			}
			if l, err := Open(path, false); err == nil {
				defer l.Close() // the attempts below use the same connection
			}
			check(t, os.Chmod(dir, 0o700))
			check(t, os.Chmod(path, 0o600))
			intact(t, path, &head)
		})
	}
}

// asNobody gives files to an unprivileged user and becomes it until the test
// ends: permissions do not stop root.
func asNobody(t *testing.T, files ...string) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() != 0 {
		return
	}
	for _, f := range files {
		check(t, os.Chown(f, nobody, nobody))
	}
	check(t, syscall.Seteuid(nobody))
	t.Cleanup(func() { check(t, syscall.Seteuid(0)) })
}
