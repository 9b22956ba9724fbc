package main

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// historyLines is the number of lines that a history keeps.
const historyLines = 1000

// A history holds the lines typed, the newest last. It is a convenience: failing to
// read or write it is not an error.
type history struct {
	file  string // "" keeps nothing
	lines []string
}

// historyFile returns the file of the user's history, "" if there is no place for it.
func historyFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "geosql", "history")
}

func loadHistory(file string) *history {
	h := &history{file: file}
	text, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(text)) {
		h.Add(strings.TrimSuffix(line, "\n"))
	}
	return h
}

// save writes the history to a file that only its user can read: statements name accounts.
func (h *history) save() {
	if h.file == "" || len(h.lines) == 0 {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return
	}
	_ = os.WriteFile(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
}

// Add adds a line, unless it is blank, repeats the last one or has a control character,
// which nobody types and the editor would show to the terminal as it is.
func (h *history) Add(line string) {
	n := len(h.lines)
	if strings.TrimSpace(line) == "" || n > 0 && h.lines[n-1] == line || strings.ContainsFunc(line, unicode.IsControl) {
		return
	}
	h.lines = append(h.lines, line)
	if n == historyLines {
		h.lines = h.lines[1:]
	}
}

// Len returns the number of lines.
func (h *history) Len() int { return len(h.lines) }

// At returns line i, counted from the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
