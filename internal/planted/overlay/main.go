//go:build planted

// Command overlay writes copies of the source that have all planted bugs, and the file overlay.json that makes
// `go build -overlay` use them. It is run in the root of the module.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/internal/planted"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage, in the root of the module: go run -tags planted ./internal/planted/overlay DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

// write writes the copies and overlay.json into a folder.
func write(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	files, err := planted.Files(root, planted.Catalogue())
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for name, source := range files {
		copied := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(copied, source, 0o644); err != nil {
			return err
		}
		replace[filepath.Join(root, name)] = copied
	}
	overlay, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "overlay.json"), append(overlay, '\n'), 0o644)
}
