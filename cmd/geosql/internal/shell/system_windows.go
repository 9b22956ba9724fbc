package shell

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// The Windows part of the shell. system_unix.go is the one for Unix.

// endKey ends the input of a shell, at once and without Enter. So does Ctrl-D.
const endKey = "Ctrl-Z"

// configFolder returns the folder for settings of programs, "" if there is none.
func configFolder() string { return os.Getenv("APPDATA") }

// stateFolder returns the folder for state that programs keep of their user, "" if there is none.
func stateFolder() string { return os.Getenv("LOCALAPPDATA") }

// pagerProcess returns the process of a pager: a program with its arguments, since sh is rare.
func pagerProcess(ctx context.Context, pager string) *exec.Cmd {
	words := strings.Fields(pager)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// escapedInGlobs is empty: a backslash separates folders.
var escapedInGlobs []string
