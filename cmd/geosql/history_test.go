package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "history")
	h := loadHistory(file)
	for i := range historyLines + 2 {
		h.Add("SELECT " + strconv.Itoa(i))
	}
	h.Add(" ")
	h.Add("last")
	h.Add("last")
	h.Add("SELECT '\x1b[2J'") // would clear the screen when it is shown again
	h.save()
	h = loadHistory(file)
	if h.Len() != historyLines || h.At(0) != "last" || h.At(1) != "SELECT 1001" || h.At(historyLines-1) != "SELECT 3" {
		t.Errorf("%d lines, %q, %q, %q", h.Len(), h.At(0), h.At(1), h.At(h.Len()-1))
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
		h.Add("SELECT 1")
		h.save()
		if h.Len() != 1 {
			t.Errorf("%d lines", h.Len())
		}
	}
}
