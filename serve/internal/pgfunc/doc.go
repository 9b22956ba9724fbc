// Package pgfunc has functions of PostgreSQL that SQLite lacks. They compute on public and released values, and know nothing of
// the session. Start at [List], [Aggregates] and [Tables].
//
// To vdbe they are like SQLite's own functions: a sealed value among their arguments is a misuse.
package pgfunc

import (
	"errors"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
)

// An Error is an error for a client, with its SQLSTATE.
type Error struct {
	Code     string // SQLSTATE
	Message  string
	Hint     string
	Position int // of the character in the statement, from 1; 0 if none is known
}

func (e *Error) Error() string { return e.Message }

// codes are the SQLSTATEs of errors, which SQLite passes on as extended result codes.
var codes = []string{CodeNotSupported, CodeSyntax, CodeNoTable, CodeNoObject, CodeNoFunction, CodeBadText, CodeBadPattern,
	CodeBadParameter, CodeLimitExceeded, CodeNoSchema, CodeBadTime, CodeTimeRange,
	CodeOutOfRange}

// firstCode is the extended part of the first of them. SQLite's own are far lower.
const firstCode = 200

// SQLiteCode returns the result code with which a function fails.
func (e *Error) SQLiteCode() int {
	if i := slices.Index(codes, e.Code); i >= 0 {
		return sqlite.CodeError | (firstCode+i)<<8
	}
	return sqlite.CodeError
}

// State returns the SQLSTATE of an error of this package, also of one that a function returned
// through SQLite, or an empty text.
func State(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	if e := (*sqlite.Error)(nil); errors.As(err, &e) && e.Code&0xff == sqlite.CodeError {
		if i := e.Code>>8 - firstCode; i >= 0 && i < len(codes) {
			return codes[i]
		}
	}
	return ""
}

// SQLSTATEs of the errors of this package.
const (
	CodeNotSupported  = "0A000"
	CodeSyntax        = "42601"
	CodeNoTable       = "42P01"
	CodeNoObject      = "42704"
	CodeNoFunction    = "42883"
	CodeBadText       = "22P02"
	CodeBadPattern    = "2201B"
	CodeBadParameter  = "22023"
	CodeLimitExceeded = "54000"
	CodeOutOfRange    = "22003"
	CodeNoSchema      = "3F000"
	CodeBadTime       = "22007"
	CodeTimeRange     = "22008"
)
