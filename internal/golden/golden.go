// Package golden compares numbers with those in a file, to the last bit: they have to be the same on every
// platform, so that a domain, a radius or a certificate is the same wherever it is computed.
package golden

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("golden.update", false, "write golden numbers anew, on linux/amd64")

// Numbers are lines of a file, each a name and its numbers, or their hash.
type Numbers struct{ lines []string }

// Add adds numbers under a name, as hexadecimal floating-point literals.
func (n *Numbers) Add(name string, numbers ...float64) {
	line := []string{name}
	for _, x := range numbers {
		line = append(line, strconv.FormatFloat(x, 'x', -1, 64))
	}
	n.lines = append(n.lines, strings.Join(line, " "))
}

// AddHash adds a hash under a name, for numbers that are too many for a file.
func (n *Numbers) AddHash(name string, h *Hash) {
	n.lines = append(n.lines, fmt.Sprintf("%s %d numbers %016x", name, h.count, h.sum.Sum64()))
}

// A Hash is that of a sequence of numbers.
type Hash struct {
	sum   hash.Hash64
	count int
}

// NewHash returns the hash of no numbers.
func NewHash() *Hash { return &Hash{sum: fnv.New64a()} }

// Add adds numbers.
func (h *Hash) Add(numbers ...float64) {
	var b [8]byte
	for _, x := range numbers {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		h.sum.Write(b[:])
		h.count++
	}
}

// Check fails the test unless the lines are those of a file. With -golden.update it writes the file.
func (n *Numbers) Check(t *testing.T, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(n.lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r", ""), "\n"), "\n")
	if len(n.lines) != len(want) {
		t.Errorf("%d lines, %s has %d", len(n.lines), file, len(want))
		return
	}
	for i, line := range n.lines {
		if line != want[i] {
			t.Errorf("%s:%d: %s\nwant %s", file, i+1, line, want[i])
		}
	}
}
