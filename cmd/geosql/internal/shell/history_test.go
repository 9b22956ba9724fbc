package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "history")
	h := loadHistory(file)
	for i := range 2*historyEntries + 2 {
		h.Write("SELECT " + strconv.Itoa(i))
	}
	other := loadHistory(file) // shortens the file, and keeps the latest entries
	h.Write(" ")
	h.Write("SELECT 1,\n  '\\n';\n")
	h.Write("SELECT 1,\n  '\\n';")
	other.Write("SELECT '\x1b[2J'") // would clear the screen when it is shown again
	h = loadHistory(file)
	if h.Len() != historyEntries {
		t.Errorf("%d entries", h.Len())
	}
	for i, want := range map[int]string{historyEntries - 1: "SELECT 1,\n  '\\n';", historyEntries - 2: "SELECT 2001", 0: "SELECT 1003"} {
		if got, err := h.GetLine(i); err != nil || got != want {
			t.Errorf("entry %d is %q, %v; want %q", i, got, err, want)
		}
	}
	for _, i := range []int{-1, historyEntries} {
		if got, err := h.GetLine(i); err == nil {
			t.Errorf("entry %d is %q", i, got)
		}
	}
	text, err := os.ReadFile(file)
	if n := strings.Count(string(text), "\n"); err != nil || n != historyEntries+1 {
		t.Errorf("the file has %d lines, %v", n, err)
	}
}

// A history without a place is one that is forgotten.
func TestHistoryWithoutPlace(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", filepath.Join(occupied, "history")} {
		h := loadHistory(file)
		h.Write("SELECT 1")
		if h.Len() != 1 {
			t.Errorf("%d entries", h.Len())
		}
	}
}
