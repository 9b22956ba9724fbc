package report

import (
	"fmt"
	"strings"
)

const (
	// charactersWide is the most characters of a line of a map in characters, which are
	// about twice as high as they are wide.
	charactersWide = 36
	// shades are the characters of the classes of counts.
	shades = ".:+*#"
)

// Characters returns the map in characters, from north to south, and its key. A character
// stands for some squares, which it counts together.
func (g *Grid) Characters() (lines []string, key string) {
	wide := (max(g.columns, g.rows) + charactersWide - 1) / charactersWide
	coarse := &Grid{columns: (g.columns + wide - 1) / wide, rows: (g.rows + 2*wide - 1) / (2 * wide)}
	coarse.counts = make([]int64, coarse.columns*coarse.rows)
	for i, n := range g.counts {
		row, column := i/g.columns, i%g.columns
		coarse.counts[row/(2*wide)*coarse.columns+column/wide] += n
	}
	starts := colours(coarse.highest())
	for row := coarse.rows - 1; row >= 0; row-- {
		var line strings.Builder
		for _, n := range coarse.counts[row*coarse.columns:][:coarse.columns] {
			if class := colour(n, starts); class >= 0 {
				line.WriteByte(shades[class])
			} else {
				line.WriteByte(' ')
			}
		}
		lines = append(lines, line.String())
	}
	var marks []string
	for class, n := range starts {
		if n <= max(coarse.highest(), 1) {
			marks = append(marks, fmt.Sprintf("%c %s", shades[class], count(n)))
		}
	}
	return lines, strings.Join(marks, "  ") + " or more"
}
