//go:build unix

package dataset_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/geosql/geosql/dataset/internal/datasettest"
)

// A pipe that nobody writes to is refused, and not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	datasettest.Refuses(t, path, "not a regular file")
}
