// Package need skips tests on machines without the programs, headers and files that they take, beside Go, a C compiler and git. All
// tests ask here, so that they skip in one way, with one line that names the package to install. In CI they fail instead:
// .ci/run installs everything.
package need

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// packages of Debian, by the program that tests take from them. CI installs all of them.
var packages = map[string]string{
	"aarch64-linux-gnu-gcc":  "gcc-aarch64-linux-gnu",
	"bash":                   "bash",
	"chromium":               "chromium",
	"clang":                  "clang",
	"curl":                   "curl",
	"gappa":                  "gappa",
	"gcc":                    "gcc",
	"git":                    "git",
	"glpsol":                 "glpk-utils",
	"go":                     "golang",
	"groff":                  "groff-base",
	"initdb":                 "postgresql",
	"ip":                     "iproute2",
	"java":                   "openjdk-17-jdk-headless",
	"javac":                  "openjdk-17-jdk-headless",
	"gzip":                   "gzip",
	"make":                   "make",
	"musl-gcc":               "musl-tools",
	"node":                   "nodejs",
	"npm":                    "npm",
	"openssl":                "openssl",
	"nsenter":                "util-linux",
	"ogr2ogr":                "gdal-bin",
	"ogrinfo":                "gdal-bin",
	"pgbench":                "postgresql-contrib",
	"pgbouncer":              "pgbouncer",
	"prlimit":                "util-linux",
	"ps":                     "procps",
	"psql":                   "postgresql-client",
	"qemu-aarch64":           "qemu-user",
	"setpriv":                "util-linux",
	"spin":                   "spin",
	"sqlite3":                "sqlite3",
	"systemd-analyze":        "systemd",
	"unshare":                "util-linux",
	"wine":                   "wine",
	"wineserver":             "wine",
	"x86_64-linux-gnu-gcc":   "gcc",
	"x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64-win32",
}

// beside are folders of Debian's programs that are not in everybody's PATH. They count as a part of /usr/bin, so that a PATH
// without that has none of them.
var beside = []string{"/usr/sbin", "/usr/lib/postgresql/*/bin"}

// folders lists the folders in which programs are looked for.
func folders() []string {
	list := filepath.SplitList(os.Getenv("PATH"))
	if !slices.Contains(list, "/usr/bin") {
		return list
	}
	for _, pattern := range beside {
		versions, _ := filepath.Glob(pattern) // the only error is a bad pattern
		slices.Reverse(versions)              // the newest first
		list = append(list, versions...)
	}
	return list
}

// found lists the paths of a program. Debian's wrappers in /usr/bin do not count: they are there without PostgreSQL's programs, too.
func found(program string) (paths []string) {
	for _, folder := range folders() {
		path, err := exec.LookPath(filepath.Join(folder, program))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		if to, _ := filepath.EvalSymlinks(path); filepath.Base(to) != "pg_wrapper" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Find returns the path of a program, or an error that names its package.
func Find(program string) (string, error) {
	from, ok := packages[program]
	if !ok {
		return "", fmt.Errorf("internal/need knows no package of Debian that has %s", program)
	}
	if paths := found(program); len(paths) > 0 {
		return paths[0], nil
	}
	return "", fmt.Errorf("%s is not installed (Debian: %s)", program, from)
}

// Program returns the path of a program.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := Find(name)
	if err != nil {
		Missing(t, err.Error())
	}
	return path
}

// Programs wants several programs.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}

// Data returns the path of a file of the real data sets, which are not part of the project: CI need not have them.
func Data(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("GEOSQL_DATA")
	if folder == "" {
		_, this, _, _ := runtime.Caller(0)
		folder = filepath.Join(filepath.Dir(this), "..", "..", "..", "shared", "data") // beside the clone
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no data: set GEOSQL_DATA to the folder that holds %s", name)
	}
	return path
}

// Extra returns the path of a program that CI does not have either.
func Extra(t testing.TB, name string) string {
	t.Helper()
	paths := found(name)
	if len(paths) == 0 {
		t.Skip(name + " is not installed")
	}
	return paths[0]
}

// Python returns the path of a Python that can run code, such as the imports of a test. Debian's, which has the
// modules of Debian's packages, need not be the first in PATH.
func Python(t testing.TB, code, from string) string {
	t.Helper()
	for _, path := range found("python3") {
		if exec.Command(path, "-c", code).Run() == nil {
			return path
		}
	}
	Missing(t, fmt.Sprintf("no python3 is installed that runs %q (Debian: %s)", code, from))
	return ""
}

// Header wants a header of C.
func Header(t testing.TB, name, from string) {
	t.Helper()
	compile := exec.Command(Program(t, "gcc"), "-fsyntax-only", "-x", "c", "-")
	compile.Stdin = strings.NewReader("#include <" + name + ">\n")
	if compile.Run() != nil {
		Missing(t, fmt.Sprintf("gcc finds no %s (Debian: %s)", name, from))
	}
}

// Modules wants a proxy or a network from which modules of Go can be downloaded.
func Modules(t testing.TB) {
	t.Helper()
	if out, err := exec.Command(Program(t, "go"), "list", "-m", "golang.org/x/text@latest").CombinedOutput(); err != nil {
		Missing(t, fmt.Sprintf("no modules of Go can be downloaded: %s", out))
	}
}

// File returns the absolute path of a file that a command or a package makes.
func File(t testing.TB, path, from string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		Missing(t, fmt.Sprintf("there is no %s (%s)", filepath.Base(path), from))
	}
	return path
}

// Missing ends a test, and names the program or library that is not installed.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what + "; .ci/run has to install it")
	}
	t.Skip(what)
}
