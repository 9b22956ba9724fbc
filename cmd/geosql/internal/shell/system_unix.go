//go:build unix

package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// What the command does as Unix does it. system_windows.go has the same for Windows.

// endKey ends the input of a shell.
const endKey = "Ctrl-D"

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
