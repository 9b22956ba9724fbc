package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kinds are the kinds of pages, by what a reader wants, each a heading of index.md.
var kinds = []string{"Start", "How to", "Ideas", "Reference", "Evidence"}

var listed = regexp.MustCompile(`(?m)^- \[.+?\]\((.+?)\)`)

// pagesByKind returns the pages that index.md lists, by heading.
func pagesByKind(t *testing.T) map[string][]string {
	t.Helper()
	index, err := os.ReadFile("index.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]string{}
	for _, section := range strings.Split(string(index), "\n## ")[1:] {
		kind, _, _ := strings.Cut(section, "\n")
		for _, item := range listed.FindAllStringSubmatch(section, -1) {
			pages[kind] = append(pages[kind], item[1])
		}
	}
	return pages
}

// Each page is listed once, under its kind. The folder of the decisions has a list of its own.
func TestPagesAreListed(t *testing.T) {
	var all []string
	pages := pagesByKind(t)
	for _, kind := range kinds {
		if len(pages[kind]) == 0 {
			t.Errorf("index.md has no pages under %s", kind)
		}
		all = append(all, pages[kind]...)
	}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(path.Base(name), ".vitepress") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".md" || name == "index.md" || path.Dir(name) == "decisions" && path.Base(name) != "README.md" {
			return nil
		}
		if i := slices.Index(all, name); i < 0 {
			t.Errorf("index.md does not list %s", name)
		} else if all = slices.Delete(all, i, i+1); slices.Contains(all, name) {
			t.Errorf("index.md lists %s twice", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
