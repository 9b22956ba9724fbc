// Package doctest reads the pages in Markdown for tests: examples that they run, and functions of the reference.
package doctest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Block is a fenced block of a page and the expected output below it.
type Block struct {
	Line     int
	Language string
	Code     string
	Prints   string
}

// Blocks returns the blocks of a page that run: all except indented ones. A block of text below
// one is the output of that.
func Blocks(page string) (list []Block, err error) {
	var language string
	var lines []string
	start := 0
	for i, line := range strings.Split(page, "\n") {
		fence, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && start == 0:
			language, lines, start = fence, nil, i+1
		case fenced && language == "text":
			if len(list) == 0 {
				return nil, fmt.Errorf("line %d: text of no program", start)
			}
			list[len(list)-1].Prints, start = strings.Join(lines, "\n"), 0
		case fenced:
			list, start = append(list, Block{start, language, strings.Join(lines, "\n") + "\n", ""}), 0
		case start > 0:
			lines = append(lines, line)
		}
	}
	if start > 0 {
		return nil, fmt.Errorf("line %d: the block is not closed", start)
	}
	return list, nil
}

var (
	digits = regexp.MustCompile(`-?\d[\d.]*`)
	spaces = regexp.MustCompile(` +`)
	dashes = regexp.MustCompile(`--+`)
	ends   = regexp.MustCompile(`(?m)^ | $`)
)

// Charging returns the names of the functions that charge for the values that they release, in the order of the reference.
func Charging(reference string) (functions []string) {
	name := ""
	for line := range strings.Lines(reference) {
		if heading, is := strings.CutPrefix(line, "## "); is {
			name = strings.TrimSpace(heading)
		}
		if cost, is := strings.CutPrefix(line, "**Cost**: "); is && cost != "nothing.\n" && !slices.Contains(functions, name) {
			functions = append(functions, name)
		}
	}
	return functions
}

// Masked returns a text without its numbers and the widths of its columns.
func Masked(text string) string {
	text = digits.ReplaceAllString(text, "#")
	text = spaces.ReplaceAllString(dashes.ReplaceAllString(text, "--"), " ")
	return ends.ReplaceAllString(text, "")
}
