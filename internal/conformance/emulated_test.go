package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/sqlitefn"
)

// A foreign host is Python for another platform, under an emulator, in which the wheel for that platform is installed.
type foreign struct {
	platform string // as package emulate calls it
	library  string // the extension's name there
	folder   made
}

var (
	onARM     = foreign{platform: "linux/arm64", library: "geosql.so"}
	onWindows = foreign{platform: "windows/amd64", library: "geosql.dll"}
)

// start builds the host and returns it.
func (f *foreign) start(t *testing.T) host {
	t.Helper()
	f.need(t)
	return func(database string, statements []string) ([]outcome, error) {
		cmd, err := f.python(t, filepath.Join("hosts", "sqlite3_host.py"))
		if err != nil {
			return nil, err
		}
		return ask(cmd, f.path(database), statements)
	}
}

// need installs the wheel. That takes minutes, and is asked for with an environment variable.
func (f *foreign) need(t *testing.T) {
	t.Helper()
	if os.Getenv("GEOSQL_EMULATED") == "" {
		t.Skip("GEOSQL_EMULATED=1 runs hosts of other platforms")
	}
	platform, err := emulate.Named(f.platform)
	if err != nil {
		t.Fatal(err)
	}
	need.Programs(t, platform.Programs()...)
	f.folder.get(t, func() (string, error) { return f.install(t, platform) })
}

// python returns a command of Python there, which finds the installed package.
func (f *foreign) python(t *testing.T, args ...string) (*exec.Cmd, error) {
	platform, err := emulate.Named(f.platform)
	if err != nil {
		return nil, err
	}
	program, err := platform.Python(t.Context())
	if err != nil {
		return nil, err
	}
	cmd, err := platform.Command(t.Context(), program, args...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, "PYTHONPATH="+f.path(f.folder.path), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = strings.NewReader("") // a pipe
	return cmd, nil
}

// path returns the path of a file of this machine there, or a name that is no file's.
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

// install builds the extension, packs it, and has the platform's own pip install the wheel, which refuses those for
// other platforms.
func (f *foreign) install(t *testing.T, platform emulate.Platform) (folder string, err error) {
	sqlite, err := command("", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3")
	if err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp(scratch, "foreign-"); err != nil {
		return "", err
	}
	library, packed := filepath.Join(folder, f.library), filepath.Join(folder, "packed")
	build := exec.Command("go", "build", "-tags", "geosql_loadable", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-o", library, "../../cmd/geosql-extension")
	build.Env = append(platform.Environ(), "CGO_CFLAGS=-O2 -I"+sqlite)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", build, err, out)
	}
	if _, err := command("../..", "go", "run", "./internal/packaging", packed, library); err != nil {
		return "", err
	}
	wheels, err := filepath.Glob(filepath.Join(packed, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("wheels %q, %v", wheels, err)
	}
	installed := filepath.Join(folder, "installed")
	pip, err := f.python(t, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", "--target", f.path(installed), f.path(wheels[0]))
	if err != nil {
		return "", err
	}
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", pip, err, out)
	}
	return installed, nil
}

// The wheel keeps its promise on its platform.
func TestPythonPackageOnOtherPlatforms(t *testing.T) {
	for _, f := range []*foreign{&onARM, &onWindows} {
		t.Run("Python on "+f.platform, func(t *testing.T) {
			f.need(t)
			cmd, err := f.python(t, filepath.Join("hosts", "python_package.py"))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != sqlitefn.Version {
				t.Errorf("%v, prints\n%s, want %s", err, out, sqlitefn.Version)
			}
		})
	}
}
