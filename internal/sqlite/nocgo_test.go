//go:build !geosql_loadable

package sqlite_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// A build without cgo, as without a C compiler, fails with one line of an error, which names the remedy. No
// other package fails beside this one, which would hide the line among others.
func TestBuildWithoutCgo(t *testing.T) {
	need.Program(t, "go")
	for _, p := range []struct{ system, want string }{
		{"linux", "geosql needs cgo: install gcc (and musl-dev), set CGO_ENABLED=1"},
		{"darwin", "geosql needs cgo: run xcode-select --install, set CGO_ENABLED=1"},
		{"windows", "geosql needs cgo: install gcc of MinGW-w64, set CGO_ENABLED=1"},
		{"freebsd", "geosql needs cgo: install a C compiler, set CGO_ENABLED=1"},
	} {
		t.Run(p.system, func(t *testing.T) {
			run := func(args ...string) (string, error) {
				cmd := exec.Command("go", args...)
				cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH=amd64")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := run("build", ".")
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if err == nil || len(lines) != 2 || !strings.HasPrefix(lines[0], "# ") || strings.Count(lines[1], p.want) != 1 {
				t.Errorf("go build says, with %v:\n%s", err, out)
			}
			const failures = "{{with .Error}}{{.}}{{end}}" // of packages that are not even compiled
			for _, args := range [][]string{{"../../cmd/geosql", "../../sqlitefn"}, {"-tags=geosql_loadable", "../../cmd/geosql-extension"}} {
				out, err := run(append([]string{"list", "-e", "-deps", "-f", failures}, args...)...)
				if strings.TrimSpace(out) != "" || err != nil {
					t.Errorf("go list %v, with %v:\n%s", args, err, out)
				}
			}
		})
	}
}
