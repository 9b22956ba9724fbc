// Package emulate builds for platforms that this machine is not, and runs the programs there: those for
// linux/arm64 under qemu, those for windows/amd64 under wine. Only tests and the commands that run them use it.
package emulate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// A Platform is one that programs can be built for and run on from here.
type Platform struct {
	OS, Arch string   // as Go names them
	Compiler string   // of C
	Needs    []string // further programs
	python   python
	run      func(ctx context.Context, program string, args ...string) (*exec.Cmd, error)
}

// String returns the platform as the go command writes it, such as linux/arm64.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Platforms are all that can be emulated.
func Platforms() []Platform { return []Platform{linuxARM64, windowsAMD64} }

// Named returns the platform that String calls so.
func Named(name string) (Platform, error) {
	for _, p := range Platforms() {
		if p.String() == name {
			return p, nil
		}
	}
	return Platform{}, fmt.Errorf("%s is not emulated; platforms are %v", name, Platforms())
}

// Programs lists the programs that build for the platform and run its programs.
func (p Platform) Programs() []string { return append([]string{p.Compiler}, p.Needs...) }

// Environ returns this process's environment, changed so that the go command builds for the platform.
func (p Platform) Environ() []string {
	return append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=1", "CC="+p.Compiler)
}

// emulator is the variable of the environment that names a program's emulator.
const emulator = "GEOSQL_EMULATOR"

// Emulator names this program's emulator, if gotest has started it, or is "".
func Emulator() string { return os.Getenv(emulator) }

// NeedsFiles skips a test of many thousand transactions of one ledger under wine. There a file that was opened and closed while
// it is locked stays open until the lock is gone. A ledger is locked while it is open, and every transaction looks
// where its files are.
func NeedsFiles(t testing.TB) {
	t.Helper()
	if Emulator() == "wine" {
		t.Skip("so many transactions of one ledger are more files than wine can have open")
	}
}

// Command returns a command that runs a program of the platform.
func (p Platform) Command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	command, err := p.run(ctx, program, args...)
	if err != nil {
		return nil, err
	}
	command.Env = append(command.Environ(), emulator+"="+p.Needs[0])
	return command, nil
}
