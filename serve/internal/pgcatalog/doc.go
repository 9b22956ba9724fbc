// Package pgcatalog is the bridge between clients of PostgreSQL and a database of SQLite. It
// imports internal/sqltext and internal/sqlite. Start at Install and Rewrite.
//
// [Install] gives a connection the relations and functions with which psql, drivers and tools
// inspect a database. [Rewrite] turns their PostgreSQL statements into
// SQLite's. [Parse] finds the statements that the server itself has to answer, such as
// SET and FETCH. The dialect stays SQLite's: a feature of PostgreSQL that SQLite lacks is an [Error]
// that says so.
//
// Nothing here protects anything. A session sees everything that its connection may read, and the functions
// open nothing.
package pgcatalog

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

// codes are the SQLSTATEs of errors of functions, which SQLite passes on as extended result codes.
var codes = []string{codeNotSupported, codeSyntax, codeNoTable, codeNoObject, codeNoFunction, codeBadText, codeBadPattern,
	codeBadParameter, codeLimitExceeded, codeNoSchema}

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
	codeNotSupported  = "0A000"
	codeSyntax        = "42601"
	codeNoTable       = "42P01"
	codeNoObject      = "42704"
	codeNoFunction    = "42883"
	codeBadText       = "22P02"
	codeBadPattern    = "2201B"
	codeBadParameter  = "22023"
	codeLimitExceeded = "54000"
	codeNoSchema      = "3F000"
)
