package emulate

import (
	"context"
	"os/exec"
)

var windowsAMD64 = Platform{
	OS: "windows", Arch: "amd64",
	Compiler: "x86_64-w64-mingw32-gcc",
	Needs:    []string{"wine"},
	run: func(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "wine", append([]string{program}, args...)...), nil
	},
}
