package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// library links a small shared library, which is not geosql's but as good here,
// and returns its path.
func library(t *testing.T, source string, flags ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages are made for Linux")
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "geosql.so")
	if err := os.WriteFile(filepath.Join(folder, "a.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-o", file, filepath.Join(folder, "a.c")}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// callsGlibc is linked with glibc, at least as old as 2.2.5.
const callsGlibc = `#include <stdlib.h>
void *f(void) { return malloc(1); }`

// unpack reads a tar.gz.
func unpack(t *testing.T, file string) map[string]string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(data)
	}
}

func names(files map[string]string) string {
	var list []string
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestPackages(t *testing.T) {
	so := library(t, callsGlibc)
	out := t.TempDir()
	files, err := makePackages(so, "../LICENSE", out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := platformOf(so)
	if err != nil {
		t.Fatal(err)
	}
	archive, tgz := unpack(t, files[0]), unpack(t, files[2])
	if got, want := names(archive), "LICENSE geosql.so sqlpkg.json"; got != want {
		t.Errorf("the archive has %s, want %s", got, want)
	}
	if got, want := names(tgz), "package/LICENSE package/README.md package/geosql.so package/index.d.ts package/index.js package/package.json"; got != want {
		t.Errorf("the npm package has %s, want %s", got, want)
	}
	var described struct {
		Version string
		CPU     []string
		Assets  struct{ Files map[string]string }
	}
	if err := json.Unmarshal([]byte(archive["sqlpkg.json"]), &described); err != nil {
		t.Fatal(err)
	}
	if got := described.Assets.Files["linux-"+runtime.GOARCH]; got != filepath.Base(files[0]) || described.Version != sqlitefn.Version {
		t.Errorf("sqlpkg.json is of version %s and names %s, want %s and %s", described.Version, got, sqlitefn.Version, files[0])
	}
	if err := json.Unmarshal([]byte(tgz["package/package.json"]), &described); err != nil || described.CPU[0] != p.CPU || described.Version != sqlitefn.Version {
		t.Errorf("package.json: %v, %v", described, err)
	}
	if !strings.HasSuffix(files[1], "-py3-none-"+p.Wheel()+".whl") {
		t.Errorf("the wheel is %s", files[1])
	}
}

// RECORD names every file of a wheel, or pip leaves files behind.
func TestRecordIsComplete(t *testing.T) {
	files, err := makePackages(library(t, callsGlibc), "../LICENSE", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(files[1])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	info := "geosql-" + sqlitefn.Version + ".dist-info/"
	record, err := z.Open(info + "RECORD")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(record)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"geosql/__init__.py", "geosql/geosql.so", info + "METADATA", info + "WHEEL", info + "LICENSE", info + "RECORD"}
	for _, f := range z.File {
		if !slices.Contains(want, f.Name) {
			t.Errorf("%s is in the wheel", f.Name)
		}
		if !strings.Contains("\n"+string(lines), "\n"+f.Name+",") {
			t.Errorf("RECORD lacks %s", f.Name)
		}
	}
	if len(z.File) != len(want) {
		t.Errorf("%d files in the wheel, want %d", len(z.File), len(want))
	}
}

func TestPackagesAreReproducible(t *testing.T) {
	so := library(t, callsGlibc)
	one, err := makePackages(so, "../LICENSE", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	two, err := makePackages(so, "../LICENSE", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range one {
		a, err1 := os.ReadFile(one[i])
		b, err2 := os.ReadFile(two[i])
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs from one time to the next", filepath.Base(one[i]))
		}
	}
}

func TestOnlyLinuxLibrariesOfGlibcArePacked(t *testing.T) {
	text := filepath.Join(t.TempDir(), "geosql.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		text: "is not a Linux library",
		library(t, `int f(void) { return 0; }`, "-nostdlib"): "is not linked with glibc",
	} {
		if _, err := makePackages(file, "../LICENSE", t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestGlibcVersions(t *testing.T) {
	for version, want := range map[string]int{"GLIBC_2.34": 34, "GLIBC_2.2.5": 2, "GCC_3.0": 0, "": 0} {
		if got := glibc(version); got != want {
			t.Errorf("glibc(%q) is %d, want %d", version, got, want)
		}
	}
}
