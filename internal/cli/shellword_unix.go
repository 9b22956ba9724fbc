//go:build unix

package cli

import (
	"regexp"
	"strings"
)

// doubleQuotes escapes characters with a meaning for a shell between double quotes.
var doubleQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`")

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,+:-]+$`)

// ShellWord returns a word as a shell takes it.
func ShellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
