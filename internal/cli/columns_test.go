package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A column may be asked for under several names, and be read once.
func TestReadColumnsTwice(t *testing.T) {
	var got []string
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := ReadColumns(t.Context(), path, [][]string{{"x", "b"}, {"a"}, {"b"}}, func(where func() string, cells []string) error {
		got = append(got, where(), strings.Join(cells, ","))
		return nil
	})
	if err != nil || strings.Join(got, ": ") != "line 2: 2,1,2" {
		t.Errorf("%v, %q", err, got)
	}
}
