package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// callsC calls the C library, glibc at least as old as 2.17, or Windows's.
const callsC = `#include <stdlib.h>
int f(void) { return malloc(1) != 0; }
int main(void) { return f(); }`

// compiled compiles a C program or library, which is not geosql's but as good here, and returns its path.
func compiled(t *testing.T, compiler, name, source string, flags ...string) string {
	t.Helper()
	need.Program(t, compiler)
	folder := t.TempDir()
	path, from := filepath.Join(folder, name), filepath.Join(folder, "a.c")
	if err := os.WriteFile(from, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-fPIC", "-o", path, from}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestPlatforms(t *testing.T) {
	const threads = `#include <pthread.h>
pthread_t t;
int main(void) { return pthread_create(&t, 0, 0, 0); }`
	for _, c := range []struct {
		what, compiler, name, source, flags string
		platform, wheel, err                string // how they begin
	}{
		{"library", "x86_64-linux-gnu-gcc", "geosql.so", callsC, "-shared", "linux-amd64", "manylinux_2_", ""},
		{"program", "x86_64-linux-gnu-gcc", "geosql", callsC, "", "linux-amd64", "manylinux_2_", ""},
		{"static program", "gcc", "geosql", callsC, "-static", "linux-amd64-static", "", ""},
		{"library for arm64", "aarch64-linux-gnu-gcc", "geosql.so", callsC, "-shared", "linux-arm64", "manylinux_2_17_aarch64", ""},
		{"DLL", "x86_64-w64-mingw32-gcc", "geosql.dll", callsC, "-shared", "windows-amd64", "win_amd64", ""},
		{"program for Windows", "x86_64-w64-mingw32-gcc", "geosql.exe", callsC, "", "windows-amd64", "win_amd64", ""},
		{"program with threads", "x86_64-w64-mingw32-gcc", "geosql.exe", threads, "-static -lpthread", "windows-amd64", "win_amd64", ""},
		{"library without glibc", "gcc", "geosql.so", "int f(void) { return 0; }", "-shared -nostdlib", "", "", "is not linked with glibc"},
		{"program of musl", "musl-gcc", "geosql", callsC, "", "", "", "is linked with a C library other than glibc"},
		{"program that needs mingw's DLL", "x86_64-w64-mingw32-gcc", "geosql.exe", threads, "-lpthread", "", "",
			"needs libwinpthread-1.dll, which not every Windows has"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b, err := new(release).read(compiled(t, c.compiler, c.name, c.source, strings.Fields(c.flags)...))
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want an error with %q", err, c.err)
				}
			case err != nil:
				t.Error(err)
			case b.Platform.String() != c.platform || !strings.HasPrefix(b.Wheel(), c.wheel):
				t.Errorf("it is for %v, %s", b.Platform, b.Wheel())
			}
		})
	}
	text := filepath.Join(t.TempDir(), "geosql.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := new(release).read(text); err == nil || !strings.Contains(err.Error(), "is neither a program nor a library of") {
		t.Error(err)
	}
}

func TestGlibcVersions(t *testing.T) {
	for version, want := range map[string]int{"GLIBC_2.34": 34, "GLIBC_2.2.5": 2, "GCC_3.0": 0, "": 0} {
		if got := glibc(version); got != want {
			t.Errorf("glibc(%q) is %d, want %d", version, got, want)
		}
	}
}
