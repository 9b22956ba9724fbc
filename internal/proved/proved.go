// Package proved remembers the proofs of slow provers, so that a test proves only changes. Tests import it, and it
// imports nothing of geosql's. Start with List.Check.
package proved

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("proved.update", false, "write the present proofs into testdata/proved.txt")

// A List has the sums of the proofs of a package, by name.
type List struct {
	file string
	all  bool
	sums map[string]string
}

// Read returns the list in the folder testdata below dir. With all, or -proved.update, nothing on it counts.
func Read(t *testing.T, dir string, all bool) *List {
	t.Helper()
	l := &List{filepath.Join(dir, "testdata", "proved.txt"), all || *update, map[string]string{}}
	data, err := os.ReadFile(l.file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		l.sums[name] = sum
	}
	if *update {
		t.Cleanup(func() {
			if err := l.write(); err != nil && !t.Failed() {
				t.Error(err)
			}
		})
	}
	return l
}

// All reports whether everything is to be proved anew.
func (l *List) All() bool { return l.all }

// Has reports whether a proof is listed that was made of the same input.
func (l *List) Has(name string, input ...string) bool { return l.sums[name] == sum(input) }

// Check runs prove if the proof is not listed, and then fails the test even if it succeeds, so that the list is kept up
// to date.
func (l *List) Check(t *testing.T, name string, input []string, prove func() error) {
	t.Helper()
	listed := l.Has(name, input...)
	if listed && !l.all {
		return
	}
	switch err := prove(); {
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case *update:
		l.sums[name] = sum(input)
	case !listed:
		t.Errorf("%s lacks %q, which is proved now: run the test with -args -proved.update", l.file, name)
	}
}

func sum(input []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(input, "\x00"))))
}

func (l *List) write() error {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(l.sums)) {
		fmt.Fprintln(&b, l.sums[name], name)
	}
	return os.WriteFile(l.file, b.Bytes(), 0o644)
}
