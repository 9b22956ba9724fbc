package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/version"
)

// clone clones the last commit into folder, and returns that commit.
func clone(t *testing.T, folder string) (commit string) {
	t.Helper()
	for _, tool := range []string{"git", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command("git", "-C", root, "rev-parse", "HEAD").Run() != nil {
		t.Skip("this source is no clone of git")
	}
	if out, err := exec.Command("git", "clone", "-q", root, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("git", "-C", folder, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func makeRelease(folder, v string, environ ...string) (string, error) {
	cmd := exec.Command("make", "-C", folder, "release", "VERSION="+v)
	cmd.Env = append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// What was not committed, or is of another version than it says, is not released. All this is known before
// anything is built.
func TestReleaseIsRefused(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "clone")
	clone(t, folder)
	for _, v := range []string{"", "9.9.9", "v" + version.Version, version.Version + ".0", version.Version + " "} {
		out, err := makeRelease(folder, v)
		if want := "VERSION is '" + v + "', and internal/version/version.go says " + version.Version + "\n"; err == nil || !strings.Contains(out, want) {
			t.Errorf("VERSION=%q: %v, %s\nwant %s", v, err, out, want)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "new.go"), []byte("package geosql\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := makeRelease(folder, version.Version)
	if want := "git status shows changes that no commit has\n"; err == nil || !strings.Contains(out, want) {
		t.Errorf("%v, %s\nwant %s", err, out, want)
	}
}

// Two people who release the same commit publish the same bytes, whatever their folders are called and whatever they have
// built before. Every command that is released tells what it is, on its platform.
func TestReleaseIsReproducible(t *testing.T) {
	if os.Getenv("GEOSQL_RELEASE") == "" {
		t.Skip("it builds everything twice: GEOSQL_RELEASE=1 asks for that, as make long does")
	}
	for _, compiler := range []string{"gcc", "aarch64-linux-gnu-gcc", "x86_64-w64-mingw32-gcc", "musl-gcc"} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Skip(err)
		}
	}
	temp := t.TempDir()
	var folder, commit, sums string
	for _, name := range []string{"one", filepath.Join("another", "folder")} {
		folder = filepath.Join(temp, name, "geosql")
		commit = clone(t, folder)
		if out, err := makeRelease(folder, version.Version, "GOCACHE="+filepath.Join(temp, name, "cache")); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(folder, "build", "release", "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		if sums != "" && string(data) != sums {
			t.Errorf("in %s the sums are\n%sand before they were\n%s", folder, data, sums)
		}
		sums = string(data)
	}
	if list := strings.Fields(sums); len(list) != 2*15 { // 4 archives of commands; 3 of extensions, wheels, packages; npm's, the bill
		t.Errorf("a release has\n%s", sums)
	}
	t.Run("static", func(t *testing.T) {
		says(t, exec.Command(filepath.Join(folder, "build", "static", "geosql"), "--version"), commit)
	})
	for _, p := range emulate.Platforms() {
		t.Run(p.String(), func(t *testing.T) {
			if missing := p.Missing(); missing != "" {
				t.Skip(missing + " is not installed")
			}
			files, err := filepath.Glob(filepath.Join(folder, "build", p.OS+"-"+p.Arch, "geosql*"))
			if err != nil || len(files) != 2 {
				t.Fatalf("built %q, %v", files, err)
			}
			cmd, err := p.Command(context.Background(), files[0], "--version") // geosql sorts before geosql.so, geosql.dll after geosql.exe
			if err != nil {
				t.Fatal(err)
			}
			says(t, cmd, commit)
		})
	}
}

// says checks what a command says of its version.
func says(t *testing.T, cmd *exec.Cmd, commit string) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "geosql "+version.Version+", SQLite 3.") || !strings.Contains(string(out), ", commit "+commit) {
		t.Errorf("%v, says %q, want version %s and commit %s", err, out, version.Version, commit)
	}
}
