//go:build planted

package planted

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the root of the module.
const root = "../.."

// The catalogue is what docs/audit.md lists, and what an audit has to find.
func TestCatalogue(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	named := map[string]bool{}
	published := 0
	for _, b := range Catalogue() {
		if named[b.Name] || !name.MatchString(b.Name) {
			t.Errorf("%q is there twice, or is not words with hyphens", b.Name)
		}
		named[b.Name] = true
		if b.Title == "" || b.Function == "" || len(b.Edits) == 0 {
			t.Errorf("%s has no title, function or edit", b.Name)
		}
		if !slices.Contains([]string{everywhere, extension, server}, b.Host) {
			t.Errorf("%s shows on host %q, which is none", b.Name, b.Host)
		}
		if b.Source != "" {
			published++
		}
	}
	if len(named) < 36 || published < 10 {
		t.Errorf("%d bugs, of which %d were published", len(named), published)
	}
}

// A bug must not be active under another's name, or under none.
func TestEditsAskForTheirBug(t *testing.T) {
	asks := regexp.MustCompile(`planted\.Is\("([^"]*)"\)|strcmp\(planted, "([^"]*)"\)`)
	for _, b := range Catalogue() {
		asked := 0
		for _, e := range b.Edits {
			for _, m := range asks.FindAllStringSubmatch(e.New, -1) {
				asked++
				if m[1]+m[2] != b.Name {
					t.Errorf("%s asks whether %s is active", b.Name, m[1]+m[2])
				}
			}
			if strings.Contains(e.Old, "planted") {
				t.Errorf("%s: %s knows of planted bugs", b.Name, e.File)
			}
		}
		if asked == 0 {
			t.Errorf("%s is always active", b.Name)
		}
	}
}

// Every old text is in its file exactly once, and all copies compile.
func TestOverlayCompiles(t *testing.T) {
	folder := t.TempDir()
	goCommand(t, root, nil, "run", "-tags", "planted", "./internal/planted/overlay", folder)
	var overlay struct{ Replace map[string]string }
	b, err := os.ReadFile(filepath.Join(folder, "overlay.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &overlay); err != nil {
		t.Fatal(err)
	}
	for _, bug := range Catalogue() {
		for _, e := range bug.Edits {
			file, err := filepath.Abs(filepath.Join(root, e.File))
			if err != nil {
				t.Fatal(err)
			}
			if overlay.Replace[file] == "" {
				t.Errorf("%s: there is no copy of %s", bug.Name, e.File)
			}
		}
	}
	goCommand(t, root, nil, "build", "-tags", "planted", "-overlay", filepath.Join(folder, "overlay.json"),
		"./mechanism/...", "./ledger/...", "./internal/vdbe", "./internal/sqlite", "./sqlitefn")
}

// goCommand runs the go command, which must succeed.
func goCommand(t testing.TB, dir string, env []string, args ...string) {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// An edit that has lost its place must be noticed: an audit would otherwise look for a bug that is not there.
func TestReplaceRefuses(t *testing.T) {
	const source = "one two three two"
	for _, c := range []struct {
		edits []Edit
		want  string // in the error; empty for none
	}{
		{[]Edit{{Old: "one", New: "1"}}, ""},
		{[]Edit{{Old: "one", New: "one 1"}, {Old: "one", New: "0 one"}, {Old: "one", New: "one 1"}}, ""},
		{[]Edit{{Old: "four", New: "4"}}, "0 times"},
		{[]Edit{{Old: "two", New: "2"}}, "2 times"},
		{[]Edit{{Old: "one two", New: "1"}, {Old: "two three", New: "2"}}, "overlap"},
		{[]Edit{{Old: "one", New: "1"}, {Old: "one", New: "one 1"}}, "not all keep it"},
	} {
		got, err := replace(source, c.edits)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v, want %q", c.edits, err, c.want)
		case c.want == "" && len(c.edits) == 3 && got != "0 one 1 two three two":
			t.Errorf("three edits of a text make %q", got)
		}
	}
}

// A name that is misspelt must not look like a bug that an audit misses.
func TestUnknownBugEnds(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), Variable+"=no-such-bug")
	out, err := c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "there is no planted bug 'no-such-bug'") {
		t.Errorf("%v: %s", err, out)
	}
}
