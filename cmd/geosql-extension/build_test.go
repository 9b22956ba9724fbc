package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// built is the folder of the tests' binaries; TestMain removes it.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "geosql-extension"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// artefact is a file that a command makes once, at its first use.
type artefact struct {
	name string // below built
	make func(path string) *exec.Cmd

	once   sync.Once
	failed string
}

func (a *artefact) path(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(built, a.name)
	a.once.Do(func() {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			a.failed = err.Error()
			return
		}
		cmd := a.make(path)
		if out, err := cmd.CombinedOutput(); err != nil {
			a.failed = fmt.Sprintf("%v: %v\n%s", cmd, err, out)
		}
	})
	if a.failed != "" {
		tb.Fatal(a.failed)
	}
	return path
}

var (
	// library is geosql.so, as everybody builds it.
	library = artefact{name: "geosql.so", make: func(path string) *exec.Cmd {
		return exec.Command("make", "-C", "../..", "extension", "BUILD="+filepath.Dir(path))
	}}
	// panics is an extension with functions that panic.
	panics = artefact{name: "panics.so", make: func(path string) *exec.Cmd {
		return exec.Command("go", "build", "-tags", "geosql_loadable", "-buildmode=c-shared", "-o", path, "./testdata/panics")
	}}
	// bundled is the SQLite of the static build as a library: hosts of another
	// version than the system's, without a host to install.
	bundled = artefact{name: "bundled/libsqlite3.so.0", make: func(path string) *exec.Cmd {
		return exec.Command("sh", "-c", `gcc -w -O0 -shared -fPIC -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_UNLOCK_NOTIFY \
			-DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_PREUPDATE_HOOK \
			"$(go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)/sqlite3-binding.c" -lm -ldl -lpthread -o "$0"`, path)
	}}
)

// program is a C program of testdata, linked with the system's SQLite.
func program(name string) *artefact {
	return &artefact{name: name, make: func(path string) *exec.Cmd {
		return exec.Command("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path,
			filepath.Join("testdata", name+".c"), "-lsqlite3", "-ldl")
	}}
}

// needTools wants the compiler and headers of the extension and its hosts, and further programs.
func needTools(tb testing.TB, programs ...string) {
	tb.Helper()
	need.Programs(tb, append(programs, "make", "go", "gcc")...)
	need.Header(tb, "sqlite3ext.h", "libsqlite3-dev")
}
