package gappa

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// proved lists what Gappa has proved: for each proof the sum of its scripts, and its name.
type proved []string

// line returns the line of a proof with these scripts.
func line(name string, texts []string) string {
	return fmt.Sprintf("%x %s", sha256.Sum256([]byte(strings.Join(texts, "\x00"))), name)
}

func readProved(file string) (proved, error) {
	data, err := os.ReadFile(file)
	return strings.Split(string(data), "\n"), err
}

func (p proved) write(file string) error {
	return os.WriteFile(file, []byte(strings.Join(p, "\n")+"\n"), 0o644)
}
