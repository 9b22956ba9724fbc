// Package doctest reads the examples of pages in Markdown, for tests that run them.
package doctest

import (
	"fmt"
	"regexp"
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

// Masked returns a text without its numbers and the widths of its columns.
func Masked(text string) string {
	text = digits.ReplaceAllString(text, "#")
	text = spaces.ReplaceAllString(dashes.ReplaceAllString(text, "--"), " ")
	return ends.ReplaceAllString(text, "")
}
