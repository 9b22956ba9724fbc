//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// What the command does as Unix does it. system_windows.go has the same for Windows.

// endKey ends the input of a shell.
const endKey = "Ctrl-D"

// hasModes says that files have modes.
const hasModes = true

// keepPrivate makes every file that the command creates its owner's alone, also those that SQL
// creates, as with ATTACH and VACUUM INTO. Files for a group get their mode explicitly.
func keepPrivate() { syscall.Umask(0o077) }

// stateFolder returns where programs keep what they remember of their user, "" if nowhere.
func stateFolder() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // as the XDG specification says
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state")
}

// pagerProcess returns the process of a pager, which is a command of sh.
func pagerProcess(ctx context.Context, pager string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", pager)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets it restore the terminal
	return cmd
}

// escapedInGlobs holds characters that have a meaning in patterns of files beside *, ? and [, each before what stands
// for it.
var escapedInGlobs = []string{`\`, `\\`}

// inDoubleQuotes escapes what has a meaning for a shell between double quotes.
var inDoubleQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`")

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,+:-]+$`)

// shellWord returns a word as a shell takes it.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
