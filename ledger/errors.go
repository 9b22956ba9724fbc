package ledger

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger/rules"
)

// Errors of a ledger that somebody has to look after. The errors of its methods wrap them. But for ErrInDoubt, nothing was charged.
var (
	// ErrLost is the error of a server that lacks charges which were acknowledged. Nobody can charge the ledger until its owner
	// restores a newer copy or accepts the loss.
	ErrLost = errors.New("the server lacks charges")

	// ErrLossAccepted is the error of a process that had the ledger open when its owner accepted a loss. It closes the ledger
	// and opens it again.
	ErrLossAccepted = errors.New("the owner has accepted that the server lost charges: close the ledger and open it again")

	// ErrUnreachable is the error of a ledger on a server that cannot be reached, or does not answer in time.
	ErrUnreachable = errors.New("the ledger cannot be reached")

	// ErrInDoubt is the error of a charge that may be stored, since a server could not be reached when it was to answer. It grants
	// nothing.
	ErrInDoubt = errors.New("it is not known whether the charge is stored")
)

// AlreadyChargedError is the error of a second charge in a unit that allows an account one
// charge. Nothing was charged.
type AlreadyChargedError struct {
	Account string
	Unit    budget.Unit
	Asked   budget.Amount
}

// SQLiteCode returns SQLITE_AUTH_USER, the result code of a refused call.
func (e *AlreadyChargedError) SQLiteCode() int { return rules.CodeDenied }

func (e *AlreadyChargedError) Error() string {
	return fmt.Sprintf("account %s was charged in unit %s before, where releases do not add up: there is one at the most",
		printable.SQL(e.Account), printable.SQL(string(e.Unit)))
}

// TraceTakenError is the error of a trace that somebody else uses, or that a crash has left.
// Nothing was charged.
type TraceTakenError struct{ Trace string }

func (e *TraceTakenError) Error() string {
	return fmt.Sprintf("trace %s is in use, or was left by a crash; then points are missing from its run, and "+
		"SELECT trace_restart(trace) goes on, and counts the reserved budget as spent", printable.SQL(e.Trace))
}

// ReleaseError is the error of a release that cannot go on, because its plan has changed or
// another process has continued it. Nothing was charged.
type ReleaseError struct {
	ID     string
	Reason string // the state of the release, worded to follow its name
}

func (e *ReleaseError) Error() string {
	return fmt.Sprintf("release %s %s", printable.SQL(e.ID), e.Reason)
}
