package wire

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// An Error is an error, or a notice, as a client sees it.
type Error struct {
	Severity string // ERROR, or NOTICE for a notice, unless it is set
	Code     string // the SQLSTATE; XX000, or 00000 for a notice, unless it is set
	Message  string
	Detail   string
	Hint     string
	Position int // of the character in the statement that the error is about, from 1; 0 for none
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func newError(code, message string) *Error { return &Error{Code: code, Message: message} }

func fatal(code, message string) *Error {
	return &Error{Severity: "FATAL", Code: code, Message: message}
}

// Errors of statements that are ended before they have ended.
var (
	ErrCanceled = newError("57014", "canceling statement due to user request")
	ErrTimeout  = newError("57014", "canceling statement due to statement timeout")
)

// Errors of clients that ask nothing for too long.
var (
	ErrIdleInTransaction = fatal("25P03", "terminating connection due to idle-in-transaction timeout")
	ErrIdleSession       = fatal("57P05", "terminating connection due to idle-session timeout")
)

// Errors of clients of a server that stops: in a session, and before, where clients with several hosts try the next one.
var (
	errShutdown = fatal("57P01", "terminating connection due to administrator command")
	errNotNow   = fatal("57P03", "the database system is shutting down")
)

// Moved returns an error of a statement that stands behind a text, with its position in both together.
func Moved(err error, before string) error {
	var e *Error
	if before == "" || !errors.As(err, &e) || e.Position == 0 {
		return err
	}
	moved := *e
	moved.Position += utf8.RuneCountInString(before)
	return &moved
}

// asError returns the client's error for an error of a session. ctx is that of the call which failed.
func asError(ctx context.Context, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if cause := context.Cause(ctx); errors.As(cause, &e) {
		return e
	}
	return newError("XX000", err.Error())
}

func (e *Error) response(severity, code string) pgproto3.ErrorResponse {
	if e.Severity != "" {
		severity = e.Severity
	}
	if e.Code != "" {
		code = e.Code
	}
	return pgproto3.ErrorResponse{
		Severity:            severity,
		SeverityUnlocalized: severity,
		Code:                code,
		Message:             clean(e.Message),
		Detail:              clean(e.Detail),
		Hint:                clean(e.Hint),
		Position:            int32(e.Position),
	}
}
