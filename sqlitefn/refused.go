package sqlitefn

import (
	"time"

	"github.com/geosql/geosql/budget"
)

// A RefusedError is the error of a statement for which an account does not have enough left.
// It depends on public arguments and on the balance only. The connections of a [Connector]
// return it, wrapped around the driver's error, wherever a statement fails so; [errors.As]
// finds both. Programs that open connections otherwise get the driver's error, with the extended
// code SQLITE_AUTH_USER, and ask the same connection for SELECT geosql_last_refusal().
type RefusedError struct {
	Function string // that asked
	Account  string
	Unit     budget.Unit
	Asked    budget.Amount
	Left     budget.Amount // less than Asked; 0 without a limit
	Short    budget.Amount // Asked less Left
	Reopens  time.Time     // when the current window of the limit ends; zero if it has none, or none has started

	text   string // as SQLite reports it
	driver error
}

// Error returns the text of the driver's error: one line that begins with the function.
func (e *RefusedError) Error() string { return e.text }

// Unwrap returns the driver's error.
func (e *RefusedError) Unwrap() error { return e.driver }
