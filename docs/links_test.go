package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pageLink    = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	pageAnchor  = regexp.MustCompile(`\sid="([^"]*)"`)
	linkedText  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\p{Pc}\- ]`)
)

// A source is the Markdown of a page: the lines outside of its blocks of code, and the anchors that it has.
type source struct {
	lines   []string
	anchors map[string]bool
}

func readSource(text string) source {
	s := source{anchors: map[string]bool{}}
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code {
			continue
		}
		s.lines = append(s.lines, line)
		for _, id := range pageAnchor.FindAllStringSubmatch(line, -1) {
			s.anchors[id[1]] = true
		}
		if marks := strings.TrimLeft(line, "#"); len(marks) < len(line) && strings.HasPrefix(marks, " ") {
			heading := strings.TrimSpace(linkedText.ReplaceAllString(marks, "$1"))
			anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-") // as code hosts make it
			for again := 1; s.anchors[anchor]; again++ {
				anchor = fmt.Sprintf("%s-%d", strings.TrimSuffix(anchor, fmt.Sprintf("-%d", again-1)), again)
			}
			s.anchors[anchor] = true
		}
	}
	return s
}

// deadInSources returns the links of the pages below a folder that lead to no file, or to no heading, and the number of the others.
func deadInSources(folder string) (faults []string, alive int, err error) {
	sources := map[string]source{}
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != folder && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "build"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		sources[name] = readSource(string(text))
		return err
	})
	for name, s := range sources {
		for _, line := range s.lines {
			for _, link := range pageLink.FindAllStringSubmatch(line, -1) {
				if strings.Contains(link[1], ":") { // of another host
					continue
				}
				file, anchor, _ := strings.Cut(link[1], "#")
				target := name
				if file != "" {
					target = filepath.Join(filepath.Dir(name), file)
				}
				if _, err := os.Stat(target); err != nil || anchor != "" && filepath.Ext(target) == ".md" && !sources[target].anchors[anchor] {
					faults = append(faults, fmt.Sprintf("%s links to %s", name, link[1]))
					continue
				}
				alive++
			}
		}
	}
	return faults, alive, err
}

// Every link between pages of the repository leads to a file that is there, and to a heading that it has.
func TestLinksOfSources(t *testing.T) {
	faults, alive, err := deadInSources("..")
	if err != nil || alive < 500 {
		t.Fatalf("%d links, %v", alive, err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// The faults that the test of the links finds.
func TestDeadLinksOfSourcesAreFound(t *testing.T) {
	folder := t.TempDir()
	page := "# The `head`\n## The head\n[a](#the-head) [b](other.md#the-head-1) [c](#the-head-2) [d](missing.md) [e](other.md#nowhere) [f](https://example.org/)\n```\n[g](missing.md)\n# no\n```\n[h](#no)\n"
	for _, name := range []string{"page.md", "other.md"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	faults, alive, err := deadInSources(folder)
	if err != nil || len(faults) != 8 || alive != 4 {
		t.Errorf("%d links, faults %q, %v", alive, faults, err)
	}
}
