//go:build unix && !geosql_loadable

package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// New files are private, although SQLite alone would let anybody read them.
func TestNewFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	c := openAt(t, path, ReadWrite|Create)
	run(t, c, `PRAGMA journal_mode = WAL`, `CREATE TABLE t(a)`)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, ReadWrite|Create) // a file that is there stays as it is
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}
