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
	Test     string // which finds it; empty where an audit does
	Package  string // the folder of that test
	Edits    []Edit
}

// Hosts.
const (
	everywhere = ""
	extension  = "extension"
	server     = "server"
)

// Catalogue returns all bugs, by family.
func Catalogue() []Bug {
	return slices.Concat(randomness, noise, aggregates, locations, traces, frame, sealedValues, leases)
}
