package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// isModule reports whether a file is a module of WebAssembly, which make device has made.
func isModule(path string) bool { return filepath.Ext(path) == ".wasm" }

// readModule reads a module of package geosql-device. The file does not list its dependencies: the Go command does.
func (r *release) readModule(path string) (b built, err error) {
	b = built{release: r, File: filepath.Base(path), Platform: Platform{OS: "js", Arch: "wasm"}}
	if b.data, err = os.ReadFile(path); err != nil {
		return b, err
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Sum}}{{end}}{{end}}",
		"github.com/geosql/geosql/cmd/geosql-device/"+strings.TrimSuffix(b.File, ".wasm"))
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	linked, err := list.Output()
	if err != nil {
		return b, fmt.Errorf("go list: %w", err)
	}
	b.info = &debug.BuildInfo{GoVersion: runtime.Version()}
	modules := strings.Split(string(linked), "\n")
	slices.Sort(modules)
	for _, line := range slices.Compact(modules) {
		if m := strings.Fields(line); len(m) == 3 {
			b.info.Deps = append(b.info.Deps, &debug.Module{Path: m[0], Version: m[1], Sum: m[2]})
		}
	}
	return b, nil
}

// device returns the package geosql-device for npm: the folder that make device has made, with the version and the
// licences.
func (r *release) device() (pack, error) {
	linked := debug.BuildInfo{GoVersion: runtime.Version()}
	for _, m := range r.Modules {
		for _, d := range m.info.Deps {
			if !slices.ContainsFunc(linked.Deps, func(l *debug.Module) bool { return l.Path == d.Path }) {
				linked.Deps = append(linked.Deps, d)
			}
		}
	}
	terms, err := notices(&linked, nil)
	if err != nil {
		return pack{}, err
	}
	terms.name = "THIRD_PARTY.txt"
	files := []file{terms}
	entries, err := os.ReadDir(r.deviceFolder)
	if err != nil {
		return pack{}, err
	}
	const unversioned = `"version": "0.0.0"`
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.deviceFolder, e.Name()))
		if err != nil {
			return pack{}, err
		}
		if e.Name() == "package.json" {
			if !bytes.Contains(data, []byte(unversioned)) {
				return pack{}, fmt.Errorf("package.json of geosql-device lacks %s", unversioned)
			}
			data = bytes.ReplaceAll(data, []byte(unversioned), fmt.Appendf(nil, `"version": %q`, r.Version))
		}
		files = append(files, file{name: e.Name(), data: data})
	}
	return pack{
		name: "geosql-device-" + r.Version + ".tgz", purl: "pkg:npm/geosql-device@" + r.Version,
		folder: "device", files: files, holds: r.Modules, form: tarball("package"),
	}, nil
}
