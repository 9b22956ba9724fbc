package main_test

import (
	"os/exec"
	"strings"
	"testing"
)

var (
	// muslHost is a program of musl's that loads a library, as SQLite on Alpine would.
	muslHost = artefact{name: "muslhost", make: func(path string) *exec.Cmd {
		return exec.Command("musl-gcc", "-Wall", "-Wextra", "-Werror", "-o", path, "testdata/musl/host.c")
	}}
	// muslLibrary is a library of Go's that is linked with musl.
	muslLibrary = artefact{name: "musl.so", make: func(path string) *exec.Cmd {
		return exec.Command("env", "CGO_ENABLED=1", "CC=musl-gcc",
			"go", "build", "-buildmode=c-shared", "-o", path, "./testdata/musl")
	}}
)

// The extension is not for Alpine, and this is why. When musl begins to load Go's libraries, which would be good news,
// the first half fails: then the extension can be built there, and docs and packages say too little.
func TestMuslLoadsNoLibraryOfGo(t *testing.T) {
	needTools(t, "musl-gcc")
	for _, c := range []struct {
		library *artefact
		want    string
	}{
		{&muslLibrary, "initial-exec TLS resolves to dynamic definition"}, // golang.org/issue/54805
		{&library, "symbol not found"},                                    // of glibc's
	} {
		out, err := exec.Command(muslHost.path(t), c.library.path(t)).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v, %s; want %s", c.library.name, err, out, c.want)
		}
	}
}
