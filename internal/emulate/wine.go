package emulate

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const windowsCompiler = "x86_64-w64-mingw32-gcc"

var windowsAMD64 = Platform{
	OS: "windows", Arch: "amd64",
	Compiler: windowsCompiler,
	Needs:    []string{"wine", "wineserver"},
	python:   python{"v0.0.0-3.11.11-20241219-1", "python.exe", "Lib/site-packages"}, // wine 8 does not run 3.14
	run: func(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
		prefix, err := winePrefix(ctx)
		if err != nil {
			return nil, err
		}
		return wine(ctx, prefix, "wine", append([]string{program}, args...)...), nil
	},
}

// wine returns a command of wine's. Programs see this machine's files on drive Z, and their children run under
// wine, too, by itself. Temporary files of theirs lie on drive C, which is in the prefix.
func wine(ctx context.Context, prefix, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(),
		"WINEPREFIX="+prefix,
		"WINEARCH=win64",
		"WINEDEBUG=-all", // standard error is the program's; Debian's wine would say there that it lacks wine32
		"WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=", // nothing asks to install .NET or makes menus
	)
	return cmd
}

// Every Windows since 8 has bcryptprimitives.dll, but wine has it only since 8.14. No Go program starts without,
// so tests build a stand-in, which also mends wine's answer to os.RemoveAll. It is for them alone and must never be
// shipped: beside a program, Windows would load it in place of its own, and randomness must come from nobody but
// the system.
//
//go:embed wine/bcryptprimitives.c
var standIn []byte

// winePrefix returns the folder that is wine's Windows for tests. Making it takes seconds and 700 MB.
func winePrefix(ctx context.Context) (string, error) {
	sum := sha256.Sum256(standIn)
	return kept(fmt.Sprintf("wine-%x", sum[:6]), func(draft string) error { return makePrefix(ctx, draft) })
}

func makePrefix(ctx context.Context, prefix string) error {
	system := filepath.Join(prefix, "drive_c", "windows", "system32")
	build := exec.CommandContext(ctx, windowsCompiler, "-x", "c", "-", "-shared", "-Wall", "-Werror",
		"-Wl,--image-base=0x1f0000000", // so near ntdll that its table can lead there
		"-o", filepath.Join(system, "bcryptprimitives.dll"), "-ladvapi32")
	build.Stdin = bytes.NewReader(standIn)
	for _, cmd := range []*exec.Cmd{
		wine(ctx, prefix, "wine", "wineboot", "--init"),
		wine(ctx, prefix, "wineserver", "--wait"), // until all is on disk and nothing knows the folder's first name
		build,
	} {
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, output)
		}
	}
	return nil
}
