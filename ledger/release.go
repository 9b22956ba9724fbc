package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
)

// A Release is the state of a data set that is being released: the data set,
// how, how many of its accounts are charged, and the published file in the end. It is used
// by one goroutine at a time, while the ledger is open.
//
// Every account is charged once, for all that the data set has of it, in ascending order of
// the accounts and before anything is drawn. A process that is killed has charged the first
// of them. The next process charges the others and draws everything again. So one charge
// pays for several draws, and at most one of them may ever be seen: a process that draws keeps the
// result secret until Seal has returned nil.
type Release interface {
	// Charged returns how many accounts are charged, from the first one on.
	Charged() int64

	// Published returns the published data set, or nil if there is none.
	Published() *Published

	// Charge charges the next accounts and stores how many are charged, in one transaction.
	// Each account has one item, and the accounts are in ascending order. Charge takes
	// nothing of the amounts that [Charger.Reserve] has set aside. After a [*RefusalError] none of the
	// items is charged. A [*ReleaseError] says that another process has continued the
	// release.
	Charge(unit budget.Unit, items []Item) error

	// Seal ends the release: the draft with this hash will be published where the plan says.
	// Nothing can be charged or sealed under the release's ID any more.
	Seal(sha256 string) error
}

// A NamedRelease is a release that a ledger keeps.
type NamedRelease struct {
	ID        string
	Plan      ReleasePlan
	Published *Published // nil if it is not sealed
}

// ReleasePlan holds the facts that must not change between two attempts at a release.
type ReleasePlan struct {
	Digest   string // of the data set
	Settings string // that the draws depend on
	Output   string // where it is to be published: a line for each file
}

// Outputs returns where the release is to be published, in one line.
func (p ReleasePlan) Outputs() string { return strings.ReplaceAll(p.Output, "\n", ", ") }

// Published describes the published data set of a release.
type Published struct {
	Output string    // where
	SHA256 string    // of the bytes of each file, in hexadecimal, with spaces between them
	Time   time.Time // when it was sealed
}

// Hash returns the hash of the file at a path, or "" if the release has no output there.
func (p *Published) Hash(path string) string {
	hashes := strings.Fields(p.SHA256)
	outputs := strings.SplitN(p.Output, "\n", len(hashes)) // a single path may have several lines
	if i := slices.Index(outputs, path); i >= 0 {
		return hashes[i]
	}
	return ""
}

// CheckUnchanged returns a [*ReleaseError] that says how the plan of a release differs from
// the one that is wanted now, or nil if it does not.
func (p ReleasePlan) CheckUnchanged(id string, wanted ReleasePlan) error {
	reason := ""
	switch {
	case p.Settings != wanted.Settings:
		reason = fmt.Sprintf("has other settings (%s, not %s)", p.Settings, wanted.Settings)
	case p.Digest != wanted.Digest:
		reason = "has another input"
	case p.Output != wanted.Output:
		reason = "goes to " + p.Outputs()
	default:
		return nil
	}
	return &ReleaseError{id, reason + "; another release needs another id"}
}
