package cli

import (
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/geosql/geosql/internal/printable"
)

// Count returns a number of things in words.
func Count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}

// SayTable says rows in columns, each aligned to the left (l) or the right (r).
func SayTable(rows [][]string, align string) {
	width := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], Width(printable.Text(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = printable.Text(cell)
			blanks := strings.Repeat(" ", width[i]-Width(cell))
			if align[i] == 'r' {
				cell = blanks + cell
			} else {
				cell += blanks
			}
			line.WriteString("  " + cell)
		}
		Say("%s", strings.TrimRight(line.String(), " "))
	}
}

// InDoubleQuotes returns a text as it stands between double quotes in a command of the user's shell.
func InDoubleQuotes(text string) string { return doubleQuotes.Replace(text) }

// Width returns how many columns of a terminal a text takes: two for a character of East Asia, none for one that combines
// with the character before it.
func Width(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// Cut parts a text behind the characters that fit into so many columns of a terminal.
func Cut(s string, columns int) (head, tail string) {
	state := -1
	for tail = s; tail != ""; {
		_, rest, width, next := uniseg.FirstGraphemeClusterInString(tail, state)
		if columns -= width; columns < 0 {
			break
		}
		tail, state = rest, next
	}
	return s[:len(s)-len(tail)], tail
}
