//go:build planted

package planted

import (
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the module whose files are edited.
const Module = "github.com/geosql/geosql"

// An Edit changes a declaration. It names what it changes and has no other text of it, so that it lasts while the
// source around it changes: the declaration may move to another file, or to another package for a word of the edit.
type Edit struct {
	in    string // a function, method or type: its name after the last elements of its package's path
	at    string // a piece of its source, which is there once outside comments; none for its beginning
	place place
	text  string
}

// A place is where an edit puts its text.
type place int

const (
	beginning place = iota
	beforeStatement
	afterStatement
	insteadOfPiece
	ofFields
)

// first puts statements at the beginning of a function.
func first(in, text string) Edit { return Edit{in, "", beginning, text} }

// before puts statements before the innermost statement with the piece, in a list of statements.
func before(in, at, text string) Edit { return Edit{in, at, beforeStatement, text} }

// after puts statements after the innermost statement with the piece.
func after(in, at, text string) Edit { return Edit{in, at, afterStatement, text} }

// instead replaces the piece by an expression, in which bug says whether the bug is active.
func instead(in, at, text string) Edit { return Edit{in, at, insteadOfPiece, text} }

// fields adds fields to a struct type.
func fields(in, text string) Edit { return Edit{in, "", ofFields, text} }

var bugWord = regexp.MustCompile(`\bbug\b`)

// code returns the text of a bug's edit in Go, which has no effect unless the bug is active.
func (e Edit) code(bug string) string {
	switch active := fmt.Sprintf("planted.Is(%q)", bug); e.place {
	case ofFields:
		return "\n" + e.text + "\n"
	case insteadOfPiece:
		return bugWord.ReplaceAllLiteralString(e.text, active)
	default:
		return "\nif " + active + " {\n" + e.text + "\n}\n"
	}
}

// codeInC returns the text in C.
func (e Edit) codeInC(bug string) string {
	return bugWord.ReplaceAllLiteralString(e.text, fmt.Sprintf("(getenv(%q) && !strcmp(getenv(%[1]q), %q))", Variable, bug))
}

// A change is an edit of a file.
type change struct {
	from, to int // what it replaces
	text     string
}

// Files returns the edited copies of all files that a list of bugs edits, by name from the root of the module. It
// returns an error if an edit does not find its place, or if two edits of a file do not go together.
func Files(root string, bugs []Bug) (map[string][]byte, error) {
	t := tree{root: root, packages: map[string]*sources{}}
	if err := t.list(); err != nil {
		return nil, err
	}
	changes := map[string][]change{}
	for _, b := range bugs {
		for _, e := range b.Edits {
			file, c, err := t.change(b.Name, e)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", b.Name, e.in, err)
			}
			if !slices.Contains(changes[file], c) { // two bugs may need the same field
				changes[file] = append(changes[file], c)
			}
		}
	}
	edited := map[string][]byte{}
	for name, c := range changes {
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if edited[name], err = apply(path.Ext(name), string(source), c); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return edited, nil
}

// apply returns a file with all its changes, in Go with the imports that they need.
func apply(ext, source string, changes []change) ([]byte, error) {
	text, err := splice(source, changes)
	if err != nil || ext != ".go" {
		return []byte(text), err
	}
	declarations, err := imports(source, changes)
	if err != nil {
		return nil, err
	}
	clause := packageClause.FindStringIndex(text)
	if clause == nil {
		return nil, errors.New("no package clause")
	}
	return format.Source([]byte(text[:clause[1]] + declarations + text[clause[1]:]))
}

var packageClause = regexp.MustCompile(`(?m)^package \w+\n`)

// splice makes all changes. What they put at one place stands there in their order.
func splice(source string, changes []change) (string, error) {
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b change) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var b strings.Builder
	end := 0
	for _, c := range sorted {
		if c.from < end {
			return "", fmt.Errorf("two edits overlap, the second of which is: %s", c.text)
		}
		b.WriteString(source[end:c.from] + c.text)
		end = c.to
	}
	return b.String() + source[end:], nil
}

// importable are the packages that edits use, whether the file imports them or not.
var importable = map[string]string{
	"big": "math/big", "budget": Module + "/budget", "exact": Module + "/mechanism/exact", "math": "math", "planted": Module + "/internal/planted",
	"declared": Module + "/sqlitefn/internal/declared",
}

// imports returns declarations of the packages that changes use and the file does not import.
func imports(source string, changes []change) (string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	for _, c := range changes {
		for name, from := range importable {
			if regexp.MustCompile(`\b` + name + `\.`).MatchString(c.text) {
				used[strconv.Quote(from)] = true
			}
		}
	}
	for _, i := range f.Imports {
		delete(used, i.Path.Value)
	}
	var b strings.Builder
	for _, i := range slices.Sorted(maps.Keys(used)) {
		b.WriteString("\nimport " + i + "\n")
	}
	return b.String(), nil
}

// A tree is the source of the module.
type tree struct {
	root     string
	folders  []string            // of packages
	packages map[string]*sources // by folder
}

// list finds the folders.
func (t *tree) list() error {
	return filepath.WalkDir(t.root, func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != t.root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) == ".go":
			folder, err := filepath.Rel(t.root, filepath.Dir(name))
			if folder = filepath.ToSlash(folder); !slices.Contains(t.folders, folder) {
				t.folders = append(t.folders, folder)
			}
			return err
		}
		return nil
	})
}

// change finds the place of an edit and its file.
func (t *tree) change(bug string, e Edit) (file string, c change, err error) {
	pkg, name, _ := strings.Cut(e.in[strings.LastIndex(e.in, "/")+1:], ".")
	pkg = e.in[:strings.LastIndex(e.in, "/")+1] + pkg
	var found []string
	for _, f := range t.folders {
		if strings.HasSuffix("/"+f, "/"+pkg) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return "", change{}, fmt.Errorf("the packages with a path that ends with %s are %q, not one", pkg, found)
	}
	p := t.packages[found[0]]
	if p == nil {
		if p, err = parse(t.root, found[0]); err != nil {
			return "", change{}, err
		}
		t.packages[found[0]] = p
	}
	return p.change(name, bug, e)
}
