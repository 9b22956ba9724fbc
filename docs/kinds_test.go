package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kinds are the kinds of pages, each a heading of index.md. Pages of some have at most so many words, with
// their commands and output; 0 is no limit.
var kinds = map[string]int{"Start": 900, "How to": 600, "Ideas": 1200, "Reference": 0, "Evidence": 0}

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
	for kind := range kinds {
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

// Pages are as short as their kind allows.
func TestPagesAreShort(t *testing.T) {
	for kind, pages := range pagesByKind(t) {
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Error(err)
			} else if n, most := len(strings.Fields(string(text))), kinds[kind]; most > 0 && n > most {
				t.Errorf("%s has %d words, and %d is the most under %s", page, n, most, kind)
			}
		}
	}
}

// Pages of evidence say their result in their first five lines.
func TestEvidenceBeginsWithItsResult(t *testing.T) {
	for _, page := range pagesByKind(t)["Evidence"] {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(text), "\n\n")
		result, _, _ := strings.Cut(body, "\n\n")
		if !strings.HasPrefix(result, "**Result.** ") || strings.Count(result, "\n") > 2 {
			t.Errorf("%s does not begin with its result", page)
		}
	}
}

// Decisions are numbered and listed newest first, and say their reason, their price and when to look at them again.
func TestDecisions(t *testing.T) {
	list, err := os.ReadFile("decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := fs.Glob(os.DirFS("decisions"), "[0-9]*.md")
	if err != nil {
		t.Fatal(err)
	}
	items := listed.FindAllStringSubmatch(string(list), -1)
	if len(items) != len(pages) {
		t.Fatalf("%d decisions, and %d are listed", len(pages), len(items))
	}
	for i, page := range pages {
		if last := items[len(items)-1-i][1]; last != page || !strings.HasPrefix(page, fmt.Sprintf("%03d-", i+1)) {
			t.Errorf("decisions/%s is number %d, and %s is listed there", page, i+1, last)
		}
		text, err := os.ReadFile("decisions/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"# ", "**Decision.** ", "**Reason.** ", "**Price.** ", "**Look again** "} {
			if !strings.Contains("\n"+string(text), "\n"+part) {
				t.Errorf("decisions/%s has no %q", page, part)
			}
		}
		if n := len(strings.Fields(string(text))); n > 250 {
			t.Errorf("decisions/%s has %d words", page, n)
		}
	}
}
