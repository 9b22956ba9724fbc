package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/audit"
	"github.com/geosql/geosql/internal/cli/clitest"
)

func TestAuditArguments(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		text   string
	}{
		{"dx_summ", 2, "audit: dx_summ is none of the functions that release values (did you mean dx_sum?)"},
		{"--minutes 0", 2, "audit: --minutes must be above 0"},
		{"--minutes -1", 2, "audit: --minutes must be above 0"},
		{"--minutes nan", 2, `"nan" is not a number`},
		{"--minutes 1e9", 2, "audit: --minutes must be above 0 and at most 527040"},
		{"--server --extension geosql.so", 2, "audit: --extension and --server are two places to audit: give one of them"},
		{"--extension none.so", 1, "none.so: " + clitest.NoSuchFile},
		{"--server geoind_gauss", 1, "serve has no function geoind_gauss that releases values"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"audit"}, strings.Fields(c.args)...)...), c.status, c.text)
	}
	variable := "TMPDIR"
	if runtime.GOOS == "windows" {
		variable = "TMP"
	}
	t.Setenv(variable, clitest.TempFile(t, "none"))
	clitest.WantError(t, clitest.Run(t, "", "audit"), 1, "("+variable+" may name another folder)")
	clitest.Help(t, "audit", "-h")
}

// An audit that is interrupted reports its findings until then, and leaves nothing behind.
func TestAuditInterrupted(t *testing.T) {
	for _, place := range []string{"", "--server"} {
		t.Run("in "+place, func(t *testing.T) {
			t.Parallel() // it only waits
			if place == "--server" && runtime.GOOS == "windows" {
				t.Skip("geosql serve does not serve from Windows")
			}
			folder := t.TempDir()
			cmd := clitest.Command(t, strings.Fields("audit dx_value --json --minutes 5 "+place)...)
			cmd.Env = append(cmd.Environ(), clitest.TempIn(folder)...)
			var out strings.Builder
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			clitest.Await(t, "database of the audit", func() bool {
				files, err := filepath.Glob(filepath.Join(folder, "geosql-audit-*", "*"))
				return err == nil && len(files) > 0
			})
			if err := clitest.Signal(cmd.Process, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if status := clitest.ExitStatus(t, cmd.Wait()); status != 130 {
				t.Errorf("ends with %d", status)
			}
			var r audit.Report
			if err := json.Unmarshal([]byte(out.String()), &r); err != nil || len(r.Functions) != 1 || r.Functions[0].Function != "dx_value" {
				t.Errorf("reports %s, %v", out.String(), err)
			}
			if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
				t.Errorf("leaves %v, %v", left, err)
			}
		})
	}
}
