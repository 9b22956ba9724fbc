//go:build unix

package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// The Unix part of the shell. system_windows.go is the one for Windows.

// endKey ends the input of a shell.
const endKey = "Ctrl-D"

// configFolder returns the folder for settings of programs, "" if there is none.
func configFolder() string { return homeFolder("XDG_CONFIG_HOME", ".config") }

// stateFolder returns the folder for state that programs keep of their user, "" if there is none.
func stateFolder() string { return homeFolder("XDG_STATE_HOME", ".local", "state") }

// homeFolder returns the folder in a variable of the environment, or else one of the home folder.
func homeFolder(variable string, otherwise ...string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) { // as the XDG specification says
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(append([]string{home}, otherwise...)...)
}

// pagerProcess returns the process of a pager, which is a command of sh.
func pagerProcess(ctx context.Context, pager string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", pager)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets it restore the terminal
	return cmd
}

// escapedInGlobs holds characters that have a meaning in patterns of files beside *, ? and [, each before its escaped
// form.
var escapedInGlobs = []string{`\`, `\\`}
