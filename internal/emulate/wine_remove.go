package emulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Where Windows cannot remove a file as Unix does, Go removes it the older way. It knows the answers by which the
// versions of Windows say so, and wine 8.0 gives another one: then os.RemoveAll removes nothing, and every test with a
// temporary folder fails. So tests are built with a Go that knows this answer, too. What people run is not.
const (
	removal      = "internal/syscall/windows/at_windows.go"
	knownAnswers = "\tcase STATUS_INVALID_INFO_CLASS,"
	oneMore      = "\tcase NTStatus(0xC0000002), // not implemented\n\t\tSTATUS_INVALID_INFO_CLASS,"
)

// wineFlags returns flags for go build and go test. The files that they name lie in the folder, which outlives the build.
func wineFlags(folder string) ([]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	path := filepath.Join(string(bytes.TrimSpace(root)), "src", filepath.FromSlash(removal))
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(source, []byte(knownAnswers)); n != 1 {
		return nil, fmt.Errorf("%s has %q %d times; look whether wine can remove files without the change", path, knownAnswers, n)
	}
	changed := filepath.Join(folder, filepath.Base(path))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(changed, bytes.Replace(source, []byte(knownAnswers), []byte(oneMore), 1), 0o644); err != nil {
		return nil, err
	}
	return []string{"-overlay=" + list}, os.WriteFile(list, overlay, 0o644)
}
