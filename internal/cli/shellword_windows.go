package cli

import (
	"regexp"
	"strings"
)

// doubleQuotes escapes characters that programs take for the end of an argument between double quotes.
var doubleQuotes = strings.NewReplacer(`"`, `\"`)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./\\+:-]+$`)

// ShellWord returns a word as cmd.exe and PowerShell take it.
func ShellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return `"` + doubleQuotes.Replace(word) + `"`
}
