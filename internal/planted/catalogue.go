//go:build planted

package planted

import "slices"

// A Bug is a way to break a promise.
type Bug struct {
	Name     string // lower-case words with hyphens
	Title    string // says what is wrong
	Source   string // where it was published; empty if nowhere
	Function string // of SQL, whose claim breaks
	Host     string // where it shows: library, extension or server; empty for everywhere
	Test     string // of package ledger/file, which finds it; empty where an audit does
	Edits    []Edit
}

// An Edit replaces a text of a source file, which is there exactly once.
type Edit struct {
	File     string // from the root of the module
	Old, New string
	Imports  []string // packages that the new text needs, whether the file imports them or not
}

// Hosts.
const (
	everywhere = ""
	extension  = "cmd/geosql-extension"
	server     = "server"
)

// Catalogue returns all bugs, by family.
func Catalogue() []Bug {
	return slices.Concat(randomness, noise, aggregates, locations, traces, frame, sealedValues, leases)
}
