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

// An edit is active only with its bug, and names a place as shortly as it can.
func TestEdits(t *testing.T) {
	for _, b := range Catalogue() {
		for _, e := range b.Edits {
			if e.place == insteadOfPiece && !bugWord.MatchString(e.text) {
				t.Errorf("%s is always active", b.Name)
			}
			if len(e.at) > 24 || strings.Contains(e.at, "\n") {
				t.Errorf("%s: a shorter piece lasts longer: %s", b.Name, e.at)
			}
		}
	}
}

// Every edit finds its place, and all copies compile.
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
	build := []string{"build", "-tags", "planted", "-overlay", filepath.Join(folder, "overlay.json")}
	for name := range overlay.Replace {
		build = append(build, filepath.Dir(name))
	}
	slices.Sort(build[5:])
	goCommand(t, root, nil, slices.Compact(build)...)
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

// An edit finds its place by names, and one that has lost it is noticed: an audit would otherwise look for a bug that is
// not there.
func TestEditsFindTheirPlace(t *testing.T) {
	const source = `package p

type box[T any] struct{ n T }

func (b *box[T]) open(m int) int { return m }

func run(m int) int {
	switch { // m++ is said here and not done
	case m > 1:
		go func() { m++ }()
	}
	return m
}
`
	for _, c := range []struct {
		edits []Edit
		want  string // in the edited source, without spaces
		err   string
	}{
		{edits: []Edit{first("p.run", "a()"), first("p.run", "b()")}, want: `{ifplanted.Is("bug"){a()}ifplanted.Is("bug"){b()}switch{`},
		{edits: []Edit{before("p.run", "m++", "a()")}, want: `gofunc(){ifplanted.Is("bug"){a()}m++}()`},
		{edits: []Edit{after("p.run", "go func", "a()")}, want: `}()ifplanted.Is("bug"){a()}}returnm`},
		{edits: []Edit{after("p.run", "m > 1", "a()")}, want: `}()ifplanted.Is("bug"){a()}}returnm`},
		{edits: []Edit{before("p.box.open", "return", "a()")}, want: `open(mint)int{ifplanted.Is("bug"){a()}returnm}`},
		{edits: []Edit{instead("p.run", "m > 1", "bug || m > 1")}, want: `caseplanted.Is("bug")||m>1:`},
		{edits: []Edit{fields("p.box", "a int")}, want: `struct{aintnT}`},
		{edits: []Edit{instead("q.leave", "alive", "(alive && !bug)")}, want: `(alive&&!(getenv("GEOSQL_PLANTED")&&!strcmp(getenv("GEOSQL_PLANTED"),"bug")))`},
		{edits: []Edit{first("p.walk", "a()")}, err: "declared nowhere"},
		{edits: []Edit{first("q.twice", "a()")}, err: "is declared in"},
		{edits: []Edit{first("p.box", "a()")}, err: "none of a *ast.TypeSpec"},
		{edits: []Edit{first("r.run", "a()")}, err: "not one"},
		{edits: []Edit{before("p.run", "m", "a()")}, err: "it has 4 times"},
		{edits: []Edit{before("p.run", "said", "a()")}, err: "it has 0 times"},
		{edits: []Edit{before("p.run", "(m int)", "a()")}, err: "no statement"},
		{edits: []Edit{instead("p.run", "m++", "a"), before("p.run", "m++", "b")}, want: `{ifplanted.Is("bug"){b}a}()`},
		{edits: []Edit{instead("p.run", "m++", "a"), instead("p.run", "++", "b")}, err: "overlap"},
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"x/p/p.go": source, "x/q/q.go": "package q\n\nfunc twice() {}\n", "x/q/q_linux.go": "package q\n\nfunc twice() {}\n",
			"x/q/q.c": "int leave(void) { return alive; }\n", "x/r/r.go": "package r\n", "r/r.go": "package r\n",
		} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Files(folder, []Bug{{Name: "bug", Edits: c.edits}})
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v, want %q", c.edits, err, c.err)
		}
		for name, text := range got {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), ""), c.want) {
				t.Errorf("%v: %s is\n%s", c.edits, name, text)
			}
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
