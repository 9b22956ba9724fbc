package cli

import "github.com/rivo/uniseg"

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
