package ledger

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
)

// codeDenied is SQLITE_AUTH_USER, the result code of a call that was refused.
const codeDenied = 23 | 1<<8

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

// RefusalError is the error of a charge or reservation for which an account, or the budget of a
// role for it, does not have enough left. Nothing was charged.
type RefusalError struct {
	Role       string // role with a short budget for the account, or "" if the account's own limit is
	Account    string
	Unit       budget.Unit
	Asked      budget.Amount
	Left       budget.Amount // less than Asked; includes the amounts that the asking statement holds
	Limit      budget.Amount
	Limited    bool          // whether there is a limit at all
	Window     int64         // seconds after which the limit opens again; 0: never
	Reopens    time.Time     // when the current window ends; zero where none has started
	OtherUnits []budget.Unit // without a limit: the units that have one for this account or '*'
}

// SQLiteCode returns SQLITE_AUTH_USER, the result code of a refused call.
func (r *RefusalError) SQLiteCode() int { return codeDenied }

// Error returns one line with the amount asked for, the remaining amount and, where no limit was ever
// set, the SQL that sets one. All amounts have the same number of decimals, so that they
// compare at a glance.
func (r *RefusalError) Error() string {
	if !r.Limited {
		return r.noLimitText()
	}
	n := decimals(r.Asked, r.Left, r.Limit)
	per := func(a budget.Amount) string { return fixed(a, n) + "/" + string(r.Unit) }
	amounts := fmt.Sprintf("%s left of %s, %s asked, %s short", per(r.Left), per(r.Limit), per(r.Asked), per(r.Asked-r.Left))
	if r.Role != "" {
		return fmt.Sprintf("role %s has, for account %s, %s", printable.SQL(r.Role), printable.SQL(r.Account), amounts)
	}
	return fmt.Sprintf("account %s has %s", printable.SQL(r.Account), amounts) + r.windowText()
}

// windowText says when the limit opens again.
func (r *RefusalError) windowText() string {
	switch {
	case r.Window == 0:
		return ""
	case r.Reopens.IsZero(): // nothing is used: the limit itself is below the amount asked for
		return fmt.Sprintf("; no window of %d s holds more", r.Window)
	}
	return fmt.Sprintf("; the window of %d s reopens at %s", r.Window, r.Reopens.Format(time.RFC3339))
}

// noLimitText says that there is no limit, and how to set one.
func (r *RefusalError) noLimitText() string {
	account, unit := printable.SQL(r.Account), printable.SQL(string(r.Unit))
	exist := ""
	if len(r.OtherUnits) > 0 {
		names := make([]string, len(r.OtherUnits))
		for i, u := range r.OtherUnits {
			names[i] = printable.SQL(string(u))
		}
		exist = " (limits exist for " + strings.Join(names, ", ") + ")"
	}
	return fmt.Sprintf("account %s has no budget in unit %s%s; set one: SELECT budget_limit(%s, %s, EPSILON) or budget_limit('*', %s, EPSILON)",
		account, unit, exist, account, unit, unit)
}

// decimals returns how many digits the longest amount has after the point.
func decimals(amounts ...budget.Amount) int {
	n := 0
	for _, a := range amounts {
		if _, fraction, ok := strings.Cut(a.String(), "."); ok {
			n = max(n, len(fraction))
		}
	}
	return n
}

// fixed formats an amount with n digits after the point, which are at least as many as it has.
func fixed(a budget.Amount, n int) string {
	whole, fraction, _ := strings.Cut(a.String(), ".")
	if n == 0 {
		return whole
	}
	return whole + "." + fraction + strings.Repeat("0", n-len(fraction))
}

// AlreadyChargedError is the error of a second charge in a unit that allows an account one
// charge. Nothing was charged.
type AlreadyChargedError struct {
	Account string
	Unit    budget.Unit
	Asked   budget.Amount
}

// SQLiteCode returns SQLITE_AUTH_USER, the result code of a refused call.
func (e *AlreadyChargedError) SQLiteCode() int { return codeDenied }

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
