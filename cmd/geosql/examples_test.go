package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// The scripts in examples/sql run as they stand, on a new database.
func TestExamples(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("../../examples/sql/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".sql"), func(t *testing.T) {
			sql, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			r := clitest.Run(t, string(sql), "-csv", filepath.Join(t.TempDir(), "example.db"))
			if r.Status != 0 || r.Err != "" || r.Out == "" {
				t.Errorf("status %d: %s", r.Status, r.Err)
			}
		})
	}
}
