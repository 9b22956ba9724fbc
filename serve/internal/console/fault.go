package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A fault is an error as a browser sees it. Its code is a SQLSTATE, or one of the words below.
type fault struct {
	status   int
	Code     string      `json:"code"`
	Message  string      `json:"message"`
	Detail   string      `json:"detail,omitempty"`
	Hint     string      `json:"hint,omitempty"`
	Position int         `json:"position,omitempty"` // of the character in the statement, from 1
	Report   *reportJSON `json:"report,omitempty"`   // of the spending before it
}

func (f *fault) Error() string { return f.Message }

// Codes of faults that are not SQLSTATEs.
const (
	codeLoggedOut = "logged_out"
	codeLogin     = "login"
	codeWait      = "wait"
	codeForbidden = "forbidden"
	codeToken     = "token"
	codeRequest   = "request"
	codeTooLarge  = "too_large"
	codeBusy      = "busy"
	codeCosts     = "costs"         // a statement without a quote would cost something
	codeChanged   = "cost_changed"  // it would cost more than quoted
	codeUnknown   = "quote_unknown" // the quote is old, has been used, or is for something else
	codeServer    = "server"
)

func newFault(status int, code, message, hint string) *fault {
	return &fault{status: status, Code: code, Message: message, Hint: hint}
}

var errLoggedOut = newFault(http.StatusUnauthorized, codeLoggedOut, "you are not logged in, or were away for too long", "Log in again.")

// onPage has hints name the controls of the page, which knows no SET.
var onPage = strings.NewReplacer(
	"SET geosql.epsilon = 0.1", "write 0.1 into \u201cEpsilon of plain aggregates\u201d below the statement",
	" SET geosql.preflight = off runs it as far as the budgets reach.", "")

// faultOf returns the browser's text for an error of a backend. Only these texts are made for it.
func (s *Server) faultOf(ctx context.Context, err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	var overQuote *sqlitefn.OverQuoteError
	if errors.As(err, &overQuote) {
		return newFault(http.StatusConflict, codeChanged, "the cost has changed since you were shown it: in "+string(overQuote.Unit)+" it would be more now",
			"This answer was not charged. Look at the new cost and decide again.")
	}
	var e *wire.Error
	if errors.As(err, &e) {
		code := e.Code
		if code == "" {
			code = "XX000"
		}
		return &fault{status: http.StatusUnprocessableEntity, Code: code, Message: e.Message, Detail: e.Detail, Hint: onPage.Replace(e.Hint), Position: e.Position}
	}
	var denied *sqlitefn.PermissionError
	if errors.As(err, &denied) {
		return newFault(http.StatusUnprocessableEntity, "42501", denied.Reason, "")
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return newFault(http.StatusUnprocessableEntity, "57014", "the statement was canceled", "")
	}
	s.log.Error("a request of the console failed", "error", err)
	return newFault(http.StatusInternalServerError, codeServer, "the server has failed", "Its log says why. Ask the owner.")
}

// endsLogin reports whether a fault says that the session is no more.
func (f *fault) endsLogin() bool { return f.Code == "57P01" || f.Code == "28000" }

func (f *fault) send(w http.ResponseWriter) { sendJSON(w, f.status, map[string]*fault{"error": f}) }

func sendJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // an infinite number in a report, or in a declaration
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"server","message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}
