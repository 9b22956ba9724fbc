package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// What the command does as Windows does it. system_unix.go has the same for Unix.

// endKey ends the input of a shell, at once and without Enter. So does Ctrl-D.
const endKey = "Ctrl-Z"

// hasModes says that files have no modes. Whoever may read a folder may read what is made in it.
const hasModes = false

// keepPrivate does nothing: new files are for those whom their folder is for.
func keepPrivate() {}

// stateFolder returns where programs keep what they remember of their user, "" if nowhere.
func stateFolder() string { return os.Getenv("LOCALAPPDATA") }

// pagerProcess returns the process of a pager: a program with its arguments, since sh is rare.
func pagerProcess(ctx context.Context, pager string) *exec.Cmd {
	words := strings.Fields(pager)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// escapedInGlobs is empty: a backslash separates folders.
var escapedInGlobs []string

// inDoubleQuotes escapes what programs take for the end of an argument between double quotes.
var inDoubleQuotes = strings.NewReplacer(`"`, `\"`)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./\\+:-]+$`)

// shellWord returns a word as cmd.exe and PowerShell take it.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return `"` + inDoubleQuotes.Replace(word) + `"`
}
