// Package devicetest makes the npm package geosql-device for tests.
package devicetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// made is the folder that build has made, if a test has asked for it.
var made string

// build makes the package, once for all tests of a process, and returns its folder.
var build = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	if made, err = os.MkdirTemp("", "device"); err != nil {
		return "", err
	}
	out, err := exec.Command("make", "-s", "-C", strings.TrimSpace(string(root)), "device", "BUILD="+made).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("make device: %w\n%s", err, out)
	}
	return filepath.Join(made, "device"), nil
})

// Built returns a folder with the package: GEOSQL_DEVICE, if somebody has made it there for several runs of tests, or one that
// lasts until [Remove].
func Built(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("GEOSQL_DEVICE"); folder != "" {
		return folder
	}
	need.Programs(t, "go", "make")
	folder, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Remove removes the folder that Built has made, after all tests.
func Remove() {
	if made != "" {
		os.RemoveAll(made)
	}
}
