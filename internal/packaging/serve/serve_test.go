// Package serve has no code: it holds the files that run geosql serve, and tests them.
package serve

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// unit returns the unit with a program that exists, in a file of its own.
func unit(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("geosql.service")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "geosql.service")
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("/usr/bin/geosql"), []byte("/bin/true")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func analyze(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(need.Program(t, "systemd-analyze"), args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
		t.Errorf("systemd-analyze %q: %v\n%s", args, err, out)
	}
}

func TestUnit(t *testing.T) { analyze(t, "verify", unit(t)) }

// The exposure is the one in README.md, or less.
func TestUnitIsHardened(t *testing.T) {
	analyze(t, "security", "--offline=yes", "--threshold=15", unit(t))
}

// Systemd waits longer for the server than the server for statements.
func TestUnitWaits(t *testing.T) {
	text, err := os.ReadFile("geosql.service")
	if err != nil {
		t.Fatal(err)
	}
	number := func(pattern string) int {
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("the unit has no %s", pattern)
		}
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	if drain, wait := number(`--drain (\d+)`), number(`TimeoutStopSec=(\d+)`); wait < drain+10 {
		t.Errorf("systemd waits %d s for a server that drains for %d s", wait, drain)
	}
}

// Every file that runs the server uses flags that the server has.
func TestFlags(t *testing.T) {
	source, err := os.ReadFile("../../../cmd/geosql/serve.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"geosql.service", "Containerfile"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, command, _ := strings.Cut(string(text), "serve")
		for _, m := range regexp.MustCompile(`(?m)--(listen|http|tls-\w+|audit|drain|log-format|max-\w+|require-tls|metrics-\S+)\b`).FindAllStringSubmatch(command, -1) {
			if !bytes.Contains(source, []byte(`"`+m[1]+`"`)) {
				t.Errorf("%s gives --%s, which geosql serve does not have", name, m[1])
			}
		}
	}
}
