package cli

import "strings"

// Nearest returns the name that a mistyped word most likely stands for, or "" if none is near.
// A name is near if it begins with the word, or if few edits make the word of it: one, or one
// for each three letters of the word. Case does not count.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(1, len(word)/3)+1
	for _, name := range names {
		edits := distance(word, strings.ToLower(name))
		if len(word) > 1 && strings.HasPrefix(strings.ToLower(name), word) {
			edits = min(edits, 1)
		}
		if edits < least {
			best, least = name, edits
		}
	}
	return best
}

// DidYouMean returns " (did you mean NAME?)" about the name that is nearest to a mistyped word, or "" if none is near.
func DidYouMean(word string, names []string) string {
	if near := Nearest(word, names); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// distance returns the least number of letters to insert, delete, replace or swap with their
// neighbour that makes b of a (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range t {
		rows[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			least := min(rows[i][j+1]+1, rows[i+1][j]+1, rows[i][j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				least = min(least, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = least
		}
	}
	return rows[len(s)][len(t)]
}
