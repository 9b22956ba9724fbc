//go:build planted

// Package planted has a catalogue of bugs that break a promise of geosql on purpose, so that geosql audit can be
// shown to find them. Each is one that such systems have had, or one that is easy to write.
//
// No other package has a hook for them: a [Bug] is an [Edit] or several, each of which names a function and a short
// piece of it, and has the statements that go there. The command overlay writes edited copies of the files for
// `go build -overlay`, so that one binary has all bugs, and the environment variable GEOSQL_PLANTED chooses the one
// that is active:
//
//	go run -tags planted ./internal/planted/overlay DIR
//	go build -tags planted -overlay DIR/overlay.json -o DIR/geosql ./cmd/geosql
//	GEOSQL_PLANTED=clamped-tails DIR/geosql audit dx_sum
//
// A test fails where an edit does not find its function or piece, or a copy does not compile. Nothing here is compiled
// without the build tag planted.
package planted

import (
	"fmt"
	"os"
	"slices"
)

// Variable is the environment variable that names the active bug.
const Variable = "GEOSQL_PLANTED"

// active is the name of the active bug, or "" for none.
var active = os.Getenv(Variable)

func init() {
	if active == "" || slices.ContainsFunc(Catalogue(), func(b Bug) bool { return b.Name == active }) {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: there is no planted bug '%s'; docs/audit.md lists them\n", Variable, active)
	os.Exit(2)
}

// Is reports whether the bug of that name is active. Only edited copies of the source call it.
func Is(name string) bool { return active == name }
