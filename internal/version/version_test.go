package version

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// npm and pip both take three numbers, and each its own form of everything else.
func TestVersionIsThreeNumbers(t *testing.T) {
	if !regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`).MatchString(Version) {
		t.Errorf("the version is %q, want x.y.z", Version)
	}
}

func TestCommit(t *testing.T) {
	const ours, revision = "github.com/geosql/geosql", "0123456789abcdef0123456789abcdef01234567"
	noted := func(module string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: module}, Settings: settings}
	}
	at, clean, dirty := debug.BuildSetting{Key: "vcs.revision", Value: revision},
		debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{noted(ours, at, clean), revision},
		{noted(ours, at, dirty), revision + "-dirty"},
		{noted(ours), "unknown"},
		{noted("example.com/imports/geosql", at, clean), "unknown"},
	} {
		if got := commitOf(c.info); got != c.want {
			t.Errorf("%v: the commit is %s, want %s", c.info.Settings, got, c.want)
		}
	}
	defer func() { commit = "" }()
	if commit = revision; Commit() != revision {
		t.Errorf("the commit is %s, want what the linker has set", Commit())
	}
}

// A program that is built from a clone names its commit, unless the linker has set one.
func TestBuildFromClone(t *testing.T) {
	need.Programs(t, "git", "go")
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOENV=off", "GOFLAGS=", "CGO_ENABLED=0", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	source, err := os.ReadFile("version.go")
	if err != nil {
		t.Fatal(err)
	}
	write("internal/version/version.go", string(source))
	write("go.mod", "module github.com/geosql/geosql\n\ngo 1.24\n")
	write("main.go", "package main\n\nimport \"github.com/geosql/geosql/internal/version\"\n\nfunc main() { println(version.Build()) }\n")
	write(".gitignore", "program\n")
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x")
	commit := run("git", "rev-parse", "HEAD")
	build := func(want string, args ...string) {
		t.Helper()
		run("go", append([]string{"build", "-o", "program"}, args...)...)
		if got := run(filepath.Join(dir, "program")); got != Version+", commit "+want {
			t.Errorf("go build %s: %s, want %s", args, got, want)
		}
	}
	build(commit)
	build("unknown", "-buildvcs=false")
	build("abc", "-buildvcs=false", "-ldflags=-X github.com/geosql/geosql/internal/version.commit=abc")
	write("main.go", "package main\n\nimport \"github.com/geosql/geosql/internal/version\"\n\nfunc main() {\n\tprintln(version.Build())\n}\n")
	build(commit + "-dirty")
}
