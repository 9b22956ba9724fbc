package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/version"
)

// unpacked reads a package.
func unpacked(t *testing.T, p pack) map[string]string {
	t.Helper()
	files := map[string]string{}
	put := func(name string, r io.Reader, err error) {
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	if !strings.HasSuffix(p.name, "gz") {
		z, err := zip.NewReader(bytes.NewReader(p.packed), int64(len(p.packed)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			put(f.Name, r, err)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(p.packed))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		put(header.Name, r, err)
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

// described holds the descriptions in packages.
type described struct {
	Name, Version, Main  string
	OS, CPU, Libc        []string
	OptionalDependencies map[string]string
	Assets               struct{ Files map[string]string }
}

func describe(t *testing.T, text string) (d described) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if d.Version != version.Version {
		t.Errorf("%s is of version %s", text, d.Version)
	}
	return d
}

// Each platform has its packages, which name it, and package geosql of npm names them all.
func TestPackagesOfAllPlatforms(t *testing.T) {
	r := &release{Version: version.Version, license: file{name: "LICENSE", data: []byte("free")}}
	var all []built
	want := map[string]string{}
	for _, c := range []struct{ compiler, file, node, os, libc, archive string }{
		{"x86_64-linux-gnu-gcc", "geosql.so", "linux-x64", "linux", "[glibc]", "linux-amd64.tar.gz"},
		{"aarch64-linux-gnu-gcc", "geosql.so", "linux-arm64", "linux", "[glibc]", "linux-arm64.tar.gz"},
		{"x86_64-w64-mingw32-gcc", "geosql.dll", "win32-x64", "win32", "[]", "windows-amd64.zip"},
	} {
		t.Run(c.node, func(t *testing.T) {
			b, err := r.read(compiled(t, c.compiler, c.file, callsC, "-shared"))
			if err != nil {
				t.Fatal(err)
			}
			all, r.Extensions = append(all, b), append(r.Extensions, b)
			want["@geosql/"+c.node] = version.Version
			packs, err := r.packs([]built{b})
			if err != nil {
				t.Fatal(err)
			}
			archive, wheel, npm := unpacked(t, packs[0]), unpacked(t, packs[1]), unpacked(t, packs[2])
			if got, want := packs[0].name, "geosql-extension-"+version.Version+"-"+c.archive; got != want {
				t.Errorf("the archive is %s, want %s", got, want)
			}
			if got, want := names(archive), "LICENSE README.txt THIRD_PARTY.txt "+c.file+" sqlpkg.json"; got != want {
				t.Errorf("the archive has %s, want %s", got, want)
			}
			platform, _, _ := strings.Cut(c.archive, ".")
			if got := describe(t, archive["sqlpkg.json"]).Assets.Files[platform]; got != packs[0].name {
				t.Errorf("sqlpkg.json names %s", got)
			}
			if !strings.HasSuffix(packs[1].name, "-py3-none-"+b.Wheel()+".whl") || !strings.Contains(names(wheel), " geosql/"+c.file) {
				t.Errorf("the wheel is %s with %s", packs[1].name, names(wheel))
			}
			if got, want := names(npm), "package/LICENSE package/README.md package/THIRD_PARTY.txt package/"+c.file+" package/package.json"; got != want {
				t.Errorf("the npm package has %s, want %s", got, want)
			}
			d := describe(t, npm["package/package.json"])
			got := fmt.Sprintln(d.Name, d.Main, d.OS, d.CPU, d.Libc)
			if want := fmt.Sprintf("@geosql/%s %s [%s] [%s] %s\n", c.node, c.file, c.os, b.CPU, c.libc); got != want {
				t.Errorf("package.json says %s, want %s", got, want)
			}
			for _, files := range []map[string]string{archive, wheel, npm} {
				if !slices.ContainsFunc([]string{c.file, "geosql/" + c.file, "package/" + c.file}, func(name string) bool {
					return files[name] == string(b.data)
				}) {
					t.Errorf("none of %s is what was built", names(files))
				}
			}
		})
	}
	if len(all) == 0 {
		t.Skip("no compiler")
	}
	packs, err := r.packs(all)
	if err != nil {
		t.Fatal(err)
	}
	npm := unpacked(t, packs[len(packs)-1])
	if got, want := names(npm), "package/LICENSE package/README.md package/index.d.ts package/index.js package/package.json"; got != want {
		t.Errorf("package geosql has %s, want %s", got, want)
	}
	d := describe(t, npm["package/package.json"])
	if fmt.Sprint(d.Name, d.OptionalDependencies) != fmt.Sprint("geosql", want) {
		t.Errorf("package %s needs one of %v, want %v", d.Name, d.OptionalDependencies, want)
	}
	if got := describe(t, unpacked(t, packs[0])["sqlpkg.json"]).Assets.Files; len(got) != len(all) {
		t.Errorf("sqlpkg.json names %v", got)
	}
}

// The extension for tests of programs has an archive of its own, and is in no other package.
func TestTestExtensionHasAnArchive(t *testing.T) {
	r := &release{Version: version.Version, license: file{name: "LICENSE"}}
	b, err := r.read(compiled(t, "gcc", "geosql_test.so", callsC, "-shared"))
	if err != nil {
		t.Fatal(err)
	}
	packs, err := r.packs([]built{b})
	if err != nil || len(packs) != 1 || b.isForHosts() {
		t.Fatalf("%d packages, %v", len(packs), err)
	}
	got := packs[0].name + ": " + names(unpacked(t, packs[0]))
	want := "geosql-test-extension-" + version.Version + "-" + b.Platform.String() + ".tar.gz: LICENSE README.txt THIRD_PARTY.txt geosql_test.so"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// RECORD names every file of a wheel, or pip leaves files behind.
func TestRecordIsComplete(t *testing.T) {
	r := &release{Version: version.Version, license: file{name: "LICENSE"}}
	b, err := r.read(compiled(t, "gcc", "geosql.so", callsC, "-shared"))
	if err != nil {
		t.Fatal(err)
	}
	wheel, err := b.wheel()
	if err != nil {
		t.Fatal(err)
	}
	info := "geosql-" + version.Version + ".dist-info/"
	want := []string{"geosql/__init__.py", "geosql/py.typed", "geosql/geosql.so", info + "METADATA", info + "WHEEL", info + "LICENSE", info + "THIRD_PARTY.txt", info + "RECORD"}
	var lines string
	for _, f := range wheel.files {
		if f.name == info+"RECORD" {
			lines = "\n" + string(f.data)
		}
	}
	for _, f := range wheel.files {
		if !slices.Contains(want, f.name) {
			t.Errorf("%s is in the wheel", f.name)
		}
		if !strings.Contains(lines, "\n"+f.name+",") {
			t.Errorf("RECORD lacks %s", f.name)
		}
	}
	if len(wheel.files) != len(want) {
		t.Errorf("%d files in the wheel, want %d", len(wheel.files), len(want))
	}
}

// The package for devices has the version, the licences of Go and of all that is linked, and its modules are in the bill.
func TestDevicePackage(t *testing.T) {
	defer devicetest.Remove() // no other test here has it
	built, out := devicetest.Built(t), t.TempDir()
	files, err := publish(out, "../../LICENSE", []string{filepath.Join(built, "draw.wasm"), filepath.Join(built, "seal.wasm")})
	if err != nil || len(files) != 2 || filepath.Base(files[0]) != "geosql-device-"+version.Version+".tgz" {
		t.Fatalf("%q, %v", files, err)
	}
	bill, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"js-wasm/draw.wasm", "js-wasm/seal.wasm", "pkg:npm/geosql-device@" + version.Version, "pkg:golang/github.com/paulmach/orb@"} {
		if !bytes.Contains(bill, []byte(`"`+part)) {
			t.Errorf("the bill lacks %s", part)
		}
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	holds := unpacked(t, pack{name: files[0], packed: data})
	if !strings.Contains(holds["package/package.json"], `"version": "`+version.Version+`"`) {
		t.Errorf("package.json is %s", holds["package/package.json"])
	}
	if got := strings.ReplaceAll(names(holds), "package/", ""); got != "LICENSE README.md THIRD_PARTY.txt check.js draw.js draw.wasm index.d.ts index.js module.js package.json seal.d.ts seal.js seal.wasm stores.js wasm_exec.js" {
		t.Errorf("it holds %s", got)
	}
}

// published publishes this test's own program as the command, since the Go command has built it.
func published(t *testing.T) (files []string, data map[string][]byte) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages are made on Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "geosql")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	if files, err = publish(t.TempDir(), "../../LICENSE", []string{program}); err != nil {
		t.Fatal(err)
	}
	data = map[string][]byte{}
	for _, file := range append(files, filepath.Join(filepath.Dir(files[0]), "SHA256SUMS")) {
		if data[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return files, data
}

func TestPublishedFilesHaveSums(t *testing.T) {
	_, one := published(t)
	_, two := published(t)
	lines := strings.Split(strings.TrimSpace(string(one["SHA256SUMS"])), "\n")
	for name, data := range one {
		if !bytes.Equal(data, two[name]) {
			t.Errorf("%s differs from one time to the next", name)
		}
		if line := fmt.Sprintf("%x  %s", sha256.Sum256(data), name); name != "SHA256SUMS" && !slices.Contains(lines, line) {
			t.Errorf("SHA256SUMS lacks %s", line)
		}
	}
	if len(lines) != len(one)-1 {
		t.Errorf("SHA256SUMS has %d lines for %d files", len(lines), len(one)-1)
	}
}

func TestProgramIsExecutable(t *testing.T) {
	files, data := published(t)
	z, err := gzip.NewReader(bytes.NewReader(data[filepath.Base(files[0])]))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]int64{}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.Mode
	}
	if want := map[string]int64{"geosql": 0o755, "LICENSE": 0o644, "README.txt": 0o644, "THIRD_PARTY.txt": 0o644}; fmt.Sprint(modes) != fmt.Sprint(want) {
		t.Errorf("the archive has %v, want %v", modes, want)
	}
}

// The bill names every package, its contents, and every module of go.mod that was linked; it refers to nothing else.
func TestBill(t *testing.T) {
	files, data := published(t)
	var list bill
	if err := json.Unmarshal(data[filepath.Base(files[len(files)-1])], &list); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{list.Metadata.Component.Ref: true}
	for _, c := range list.Components {
		if known[c.Ref] {
			t.Errorf("%s is named twice", c.Ref)
		}
		known[c.Ref] = true
	}
	for _, d := range list.Dependencies {
		for _, ref := range append(d.On, d.Ref) {
			if !known[ref] {
				t.Errorf("%s is not among the components", ref)
			}
		}
	}
	archive := filepath.Base(files[0])
	sum := fmt.Sprintf("%x", sha256.Sum256(data[archive]))
	if !slices.ContainsFunc(list.Components, func(c component) bool { return c.Ref == archive && c.Hashes[0].Content == sum }) {
		t.Errorf("the sum of %s is not %s", archive, sum)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	var driver bool
	for _, c := range list.Components {
		if m, ok := strings.CutPrefix(c.PURL, "pkg:golang/github.com/mattn/go-sqlite3@"); ok {
			driver = strings.Contains(string(sums), "github.com/mattn/go-sqlite3 "+m+" "+c.Properties[0].Value+"\n")
		}
	}
	for ref, ok := range map[string]bool{
		"go-sqlite3 as go.sum has it":                driver,
		"SQLite " + sqlite.Version():                 known["pkg:generic/sqlite@"+sqlite.Version()],
		"Go's standard library " + runtime.Version(): known["pkg:golang/std@"+strings.TrimPrefix(runtime.Version(), "go")],
	} {
		if !ok {
			t.Errorf("the bill lacks %s", ref)
		}
	}
}

// A program that has its C library in it passes that library's licence on, and the bill has its version. Here one in Go
// alone stands for it.
func TestCLibraryIsPassedOn(t *testing.T) {
	for _, c := range []struct{ system, file, library string }{
		{"linux", "geosql", "musl-dev"}, {"windows", "geosql.exe", "mingw-w64-x86-64-dev"},
	} {
		t.Run(c.system, func(t *testing.T) {
			need.File(t, filepath.Join("/usr/share/doc", c.library, "copyright"), "Debian: "+c.library)
			source, program := filepath.Join(t.TempDir(), "a.go"), filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(source, []byte("package main\nfunc main() {}"), 0o644); err != nil {
				t.Fatal(err)
			}
			build := exec.Command("go", "build", "-o", program, source)
			build.Env = append(os.Environ(), "GOOS="+c.system, "GOARCH=amd64", "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			files, err := publish(t.TempDir(), "../../LICENSE", []string{program})
			if err != nil {
				t.Fatal(err)
			}
			licences, err := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "package", "archive", "THIRD_PARTY.txt"))
			if err != nil {
				t.Fatal(err)
			}
			bill, err := os.ReadFile(files[len(files)-1])
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(licences), "==== "+c.library+" ") || !strings.Contains(string(bill), `"pkg:deb/debian/`+c.library+"@") {
				t.Errorf("the licences are\n%s\nthe bill\n%s", licences, bill)
			}
		})
	}
}
