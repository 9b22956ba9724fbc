package emulate

import (
	"context"
	"os/exec"
)

// The libraries that programs are linked with are those of the cross compiler.
const arm64Root = "/usr/aarch64-linux-gnu"

var linuxARM64 = Platform{
	OS: "linux", Arch: "arm64",
	Compiler: "aarch64-linux-gnu-gcc",
	Needs:    []string{"qemu-aarch64"},
	python:   python{"v0.0.0-3.14.6-20260610-1", "bin/python3.14", "lib/python3.14/site-packages"},
	run: func(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "qemu-aarch64", append([]string{"-L", arm64Root, program}, args...)...), nil
	},
}
