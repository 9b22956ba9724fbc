package clitest

import (
	"os"
	"path/filepath"
	"testing"
)

// DataFile returns the path of a file of the real data sets, which are not part of the
// project, or skips the test.
func DataFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("GEOSQL_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no data: set GEOSQL_DATA to the folder that holds %s", name)
	}
	return path
}
