package shell

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// What the command does as Windows does it. system_unix.go has the same for Unix.

// endKey ends the input of a shell, at once and without Enter. So does Ctrl-D.
const endKey = "Ctrl-Z"

// stateFolder returns where programs keep what they remember of their user, "" if nowhere.
func stateFolder() string { return os.Getenv("LOCALAPPDATA") }

// pagerProcess returns the process of a pager: a program with its arguments, since sh is rare.
func pagerProcess(ctx context.Context, pager string) *exec.Cmd {
	words := strings.Fields(pager)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// escapedInGlobs is empty: a backslash separates folders.
var escapedInGlobs []string
