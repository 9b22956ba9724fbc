package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// historyEntries is the number of entries that a history keeps.
const historyEntries = 1000

// A history holds the input of the shell, the newest last: whole statements, which may have several
// lines, and commands of the shell. It is a convenience: failing to read or write it is not an
// error. Each entry is a line of the file and is written when it is typed, so that two shells
// at a time keep the entries of both.
type history struct {
	file    string // "" keeps nothing
	entries []string
}

// historyFile returns the file of the user's history, "" if there is no place for it.
func historyFile() string {
	dir := stateFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "geosql", "history")
}

// loadHistory reads a history. It shortens a file that has grown to twice the kept size.
func loadHistory(file string) *history {
	h := &history{file: file}
	text, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(text)) {
		h.keep(decodeEntry.Replace(strings.TrimSuffix(line, "\n")))
	}
	if strings.Count(string(text), "\n") >= 2*historyEntries {
		h.rewrite()
	}
	return h
}

// An entry is one line of the file.
var (
	encodeEntry = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	decodeEntry = strings.NewReplacer(`\\`, `\`, `\n`, "\n")
)

// rewrite replaces the file by the entries that are kept. A shell that adds an entry meanwhile
// loses that one.
func (h *history) rewrite() {
	var text strings.Builder
	for _, entry := range h.entries {
		text.WriteString(encodeEntry.Replace(entry) + "\n")
	}
	short := h.file + ".new"
	if err := os.WriteFile(short, []byte(text.String()), 0o600); err == nil {
		_ = os.Rename(short, h.file)
	}
}

// Write adds an entry and writes it to the file, which only its user can read: statements name
// accounts. It is a method of the line editor's interface, as are the next three.
func (h *history) Write(entry string) (int, error) {
	entry = strings.TrimRight(asTyped(entry), " \t\n")
	if h.keep(entry) && h.file != "" {
		h.append(encodeEntry.Replace(entry) + "\n")
	}
	return len(h.entries), nil
}

func (h *history) append(line string) {
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(line)
}

// keep adds an entry to those in memory, unless it is blank, repeats the last one or has a
// control character, which nobody types and a search would show to the terminal as it is. It
// reports whether it did.
func (h *history) keep(entry string) bool {
	n := len(h.entries)
	if strings.TrimSpace(entry) == "" || n > 0 && h.entries[n-1] == entry || strings.ContainsFunc(entry, isControl) {
		return false
	}
	h.entries = append(h.entries, entry)
	if n == historyEntries {
		h.entries = h.entries[1:]
	}
	return true
}

// isControl reports whether a character is a control character that does not belong to text.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// GetLine returns entry i, counted from the oldest.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.entries) {
		return "", errors.New("no such entry")
	}
	return h.entries[i], nil
}

// Len returns the number of entries.
func (h *history) Len() int { return len(h.entries) }

// Dump returns the entries.
func (h *history) Dump() any { return h.entries }
