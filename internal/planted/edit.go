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

// Files returns the edited copies of all files that a list of bugs edits, by name from the root of the module. It
// returns an error if an old text is not in its file exactly once, or if two edits of a file do not go together.
func Files(root string, bugs []Bug) (map[string][]byte, error) {
	byFile := map[string][]Edit{}
	for _, b := range bugs {
		for _, e := range b.Edits {
			byFile[e.File] = append(byFile[e.File], e)
		}
	}
	edited := map[string][]byte{}
	for name, edits := range byFile {
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if edited[name], err = apply(string(source), edits); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return edited, nil
}

// apply returns a file with all its edits, in Go with the imports that they need.
func apply(source string, edits []Edit) ([]byte, error) {
	text, err := replace(source, edits)
	if err != nil || path.Ext(edits[0].File) != ".go" {
		return []byte(text), err
	}
	declarations, err := imports(source, edits)
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

// replace replaces all old texts by new ones. Edits of one old text go together if each of them puts something before
// or behind it.
func replace(source string, edits []Edit) (string, error) {
	at := map[string]int{}
	same := map[string][]Edit{}
	for _, e := range edits {
		if n := strings.Count(source, e.Old); n != 1 {
			return "", fmt.Errorf("the old text is there %d times, not once: %s", n, e.Old)
		}
		at[e.Old] = strings.Index(source, e.Old)
		same[e.Old] = append(same[e.Old], e)
	}
	var b strings.Builder
	end := 0
	for _, old := range slices.SortedFunc(maps.Keys(at), func(x, y string) int { return cmp.Compare(at[x], at[y]) }) {
		if at[old] < end {
			return "", fmt.Errorf("two old texts overlap, the second of which is: %s", old)
		}
		text, err := together(old, same[old])
		if err != nil {
			return "", err
		}
		b.WriteString(source[end:at[old]] + text)
		end = at[old] + len(old)
	}
	return b.String() + source[end:], nil
}

// together returns what takes the place of an old text.
func together(old string, edits []Edit) (string, error) {
	before, behind := "", ""
	written := map[string]bool{}
	for _, e := range edits {
		if written[e.New] {
			continue // two bugs need the same
		}
		written[e.New] = true
		if added, found := strings.CutPrefix(e.New, old); found {
			behind += added
		} else if added, found := strings.CutSuffix(e.New, old); found {
			before += added
		} else if len(edits) == 1 {
			return e.New, nil
		} else {
			return "", fmt.Errorf("several edits replace a text, and not all keep it: %s", old)
		}
	}
	return before + old + behind, nil
}

// imports returns declarations of what edits need and the file does not import, and of this package.
func imports(source string, edits []Edit) (string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil {
		return "", err
	}
	needed := map[string]bool{}
	for _, e := range edits {
		for _, i := range e.Imports {
			needed[strconv.Quote(i)] = true
		}
		if strings.Contains(e.New, "planted.") {
			needed[strconv.Quote(Module+"/internal/planted")] = true
		}
	}
	for _, i := range f.Imports {
		delete(needed, i.Path.Value)
	}
	var b strings.Builder
	for _, i := range slices.Sorted(maps.Keys(needed)) {
		b.WriteString("\nimport " + i + "\n")
	}
	return b.String(), nil
}
