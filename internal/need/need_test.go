package need

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorder records how a test of its kind ends.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper()           {}
func (r *recorder) Skip(args ...any)  { r.skipped = args[0].(string) }
func (r *recorder) Fatal(args ...any) { r.failed = args[0].(string) }

// Installed programs are found by the first path; for others a line names the package.
func TestProgram(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "psql"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CI", "")
	t.Setenv("PATH", folder)
	r := &recorder{TB: t}
	if got, want := Program(r, "psql"), filepath.Join(folder, "psql"); got != want || r.skipped != "" {
		t.Errorf("psql is %s, want %s; %s", got, want, r.skipped)
	}
	if Program(r, "spin"); r.skipped != "spin is not installed (Debian: spin)" {
		t.Errorf("a missing program skips a test with %q", r.skipped)
	}
	t.Setenv("CI", "true")
	if Program(r, "spin"); !strings.Contains(r.failed, "spin is not installed") {
		t.Errorf("a missing program fails a test in CI with %q", r.failed)
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), "knows no package") {
		t.Errorf("a program that nobody has is an error, not %v", err)
	}
}

// A PATH without /usr/bin hides the folders beside it, too.
func TestFolders(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	if got := folders(); !slices.Equal(got, []string{"/nowhere"}) {
		t.Errorf("folders are %q", got)
	}
	t.Setenv("PATH", "/nowhere:/usr/bin")
	if got := folders(); len(got) < 3 || got[2] != "/usr/sbin" {
		t.Errorf("folders are %q", got)
	}
}

// CI installs whatever tests ask for, or they would be skipped there unnoticed, before they began to fail.
func TestCIInstalls(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(string(script), "\\\n", " "))
	for program, from := range packages {
		if program != "go" && !slices.Contains(words, from) {
			t.Errorf(".ci/run does not install %s, which has %s", from, program)
		}
	}
}
