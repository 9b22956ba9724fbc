package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/emulate"
)

// A foreign host is a program in C for another platform that has loaded the extension for it, under an emulator. The
// SQLite in it is that of the driver's module.
type foreign struct {
	platform string   // as package emulate calls it
	library  string   // what the extension is called there
	linker   string   // flags of the linker for the library
	flags    []string // of the compiler, for the program
	folder   made
}

var (
	onARM     = foreign{platform: "linux/arm64", library: "geosql.so", flags: []string{"-lm", "-ldl", "-lpthread"}}
	onWindows = foreign{platform: "windows/amd64", library: "geosql.dll", linker: "-extldflags -static", flags: []string{"-static"}}
)

// start builds the host and returns it. That takes minutes, and is asked for with an environment variable.
func (f *foreign) start(t *testing.T) host {
	t.Helper()
	if os.Getenv("GEOSQL_EMULATED") == "" {
		t.Skip("GEOSQL_EMULATED=1 runs hosts of other platforms")
	}
	platform, err := emulate.Named(f.platform)
	if err != nil {
		t.Fatal(err)
	}
	folder := f.folder.get(t, func() (string, error) { return f.build(platform) })
	return func(database string, statements []string) ([]outcome, error) {
		cmd, err := platform.Command(t.Context(), filepath.Join(folder, "host.exe"), f.path(database), f.path(filepath.Join(folder, f.library)))
		if err != nil {
			return nil, err
		}
		for _, s := range statements {
			if strings.Contains(s, "\n") {
				return nil, fmt.Errorf("a statement of several lines: %s", s)
			}
		}
		cmd.Stdin = strings.NewReader(strings.Join(statements, "\n"))
		return printed(cmd)
	}
}

// path returns what a file of this machine is called there, or a name that is no file's.
func (f *foreign) path(name string) string {
	file, copied := strings.CutPrefix(name, deserialized)
	if filepath.IsAbs(file) && strings.HasPrefix(f.platform, "windows/") {
		file = `Z:` + strings.ReplaceAll(file, "/", `\`)
	}
	if copied {
		return deserialized + file
	}
	return file
}

func (f *foreign) build(platform emulate.Platform) (folder string, err error) {
	if missing := platform.Missing(); missing != "" {
		return "", missingError(platform.String() + " is not emulated without " + missing)
	}
	sqlite, err := command("", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3")
	if err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp(scratch, "foreign-"); err != nil {
		return "", err
	}
	library := exec.Command("go", "build", "-tags", "geosql_loadable", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags", f.linker, "-o", filepath.Join(folder, f.library), "../extension")
	library.Env = append(platform.Environ(), "CGO_CFLAGS=-O2 -I"+sqlite)
	program := exec.Command(platform.Compiler, append([]string{"-std=gnu11", "-w", "-I" + sqlite, "-o", filepath.Join(folder, "host.exe"),
		"hosts/c_host.c", filepath.Join(sqlite, "sqlite3-binding.c")}, f.flags...)...)
	for _, cmd := range []*exec.Cmd{library, program} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
		}
	}
	return folder, nil
}
