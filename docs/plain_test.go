package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vague are words that describe a thing in place of its name.
var vague = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`what`, `whose`, `whoever`, `whomever`, `whom`, // "what it does"
	`(those|they|these) (that|who|which)`,
	`that which`,
	`of which`,
	`(for|of|to|by|from|with|than|is|are) who`, // "for who pays"; "for those who" is above
}, "|") + `)\b|(^|[.:;] )Who\b`)

// question is a sentence in which these words are at home: "What does it cost?", "whose budget?".
var question = regexp.MustCompile(`(?i)\b(what|who|whose|whom)\b[^.:;]*\?`)

// isVague reports whether a line of text has a vague word outside of questions.
func isVague(line string) bool {
	return vague.MatchString(question.ReplaceAllString(line, ""))
}

// A prose counts the vague lines of one kind of text.
type prose struct {
	bound  float64 // percent of the lines that may be vague
	lines  map[string]int
	vague  map[string][]string // by folder
	folder string
	name   string
}

// add counts a text that begins at a line of the file. Lines of fewer than three words are code or names.
func (p *prose) add(text string, line int) {
	for i, l := range strings.Split(text, "\n") {
		if len(strings.Fields(l)) < 3 {
			continue
		}
		p.lines[p.folder]++
		if isVague(strings.TrimLeft(l, "/*\t #->")) {
			p.vague[p.folder] = append(p.vague[p.folder], fmt.Sprintf("%s:%d: %s", p.name, line+i, strings.TrimSpace(l)))
		}
	}
}

// percent returns the share of vague lines, which it logs by folder, the worst first.
func (p *prose) percent(t *testing.T) float64 {
	lines, found := 0, 0
	folders := slices.SortedFunc(maps.Keys(p.lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(p.vague[b]), len(p.vague[a])), cmp.Compare(a, b))
	})
	for _, folder := range folders {
		n := len(p.vague[folder])
		lines, found = lines+p.lines[folder], found+n
		if n > 0 {
			t.Logf("%s: %d of %d lines\n%s", folder, n, p.lines[folder], strings.Join(p.vague[folder], "\n"))
		}
	}
	t.Logf("%d of %d lines", found, lines)
	return 100 * float64(found) / float64(lines)
}

// TestPlainEnglish counts lines of comments, pages and messages that describe a thing ("what it costs") in place of naming it
// ("its cost"). With -v it lists them all.
func TestPlainEnglish(t *testing.T) {
	kind := func(bound float64) *prose {
		return &prose{bound: bound, lines: map[string]int{}, vague: map[string][]string{}}
	}
	comments, pages, messages := kind(0.6), kind(0.3), kind(0.2)
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if entry.IsDir() {
			if entry.Name() == "node_modules" || entry.Name() == "testdata" || path != ".." && strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		for _, p := range []*prose{comments, pages, messages} {
			p.folder, p.name = filepath.ToSlash(filepath.Dir(name)), name
		}
		switch {
		case strings.HasSuffix(name, ".qtpl.go"): // compiled, as CI checks
		case filepath.Ext(name) == ".go":
			return addGo(path, comments, messages)
		case name == "README.md", strings.HasPrefix(name, "docs/") && filepath.Ext(name) == ".md":
			text, err := os.ReadFile(path)
			pages.add(string(text), 1)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, p := range map[string]*prose{"comments": comments, "pages": pages, "messages": messages} {
		t.Run(kind, func(t *testing.T) {
			if percent := p.percent(t); percent > p.bound {
				t.Errorf("%.2f %% of the lines say what, whose or those that; at most %.2f %% may", percent, p.bound)
			}
		})
	}
}

// addGo counts the comments of a Go file and, outside tests, its string literals.
func addGo(path string, comments, messages *prose) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if !strings.HasPrefix(comment.Text, "//go:") {
				comments.add(comment.Text, files.Position(comment.Pos()).Line)
			}
		}
	}
	// The pieces of source in the catalogue of planted bugs are nobody's messages.
	if strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/internal/planted/") {
		return nil
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				messages.add(text, files.Position(literal.Pos()).Line)
			}
		}
		return true
	})
	return nil
}

func TestIsVague(t *testing.T) {
	for line, want := range map[string]bool{
		"the largest amount charged to one account":           false,
		"what the account paid that paid most":                true,
		"Try runs check and returns its error":                false,
		"Try returns what right, which checks a password":     true,
		"What does it cost?":                                  false,
		"say whose budget pays; is it ana's?":                 true,
		"whose budget? Say what is to be released":            true,
		"counts are those of the plain table":                 false,
		"values are added for those that pay":                 true,
		"an analyst who has a budget":                         false,
		"Who has no budget is refused":                        true,
		"budgets for who asks":                                true,
		"a column of which nothing is known":                  true,
		"somewhat whatsoever":                                 false,
		"geosql: no budget is declared for account 'ana'":     false,
		"(usage) What a release costs, by account and by day": true,
	} {
		if isVague(line) != want {
			t.Errorf("isVague(%q) = %t", line, !want)
		}
	}
}
