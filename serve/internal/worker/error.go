package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/pgfunc"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

func newError(code, format string, args ...any) *wire.Error {
	return &wire.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// asError returns an error as a client sees it.
func asError(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return err
	}
	if p := (*pgfunc.Error)(nil); errors.As(err, &p) {
		return &wire.Error{Code: p.Code, Message: p.Message, Hint: p.Hint, Position: p.Position}
	}
	return err
}

// Result codes of SQLite.
const (
	resultBusy      = 5
	resultLocked    = 6
	resultNoMemory  = 7
	resultReadOnly  = 8
	resultInterrupt = 9
	resultIO        = 10
	resultCorrupt   = 11
	resultFull      = 13
	resultCantOpen  = 14
	resultSchema    = 17
	resultTooBig    = 18
	resultMismatch  = 20
	resultDenied    = 23
	resultNoDB      = 26
)

// interruptedText is the text of resultInterrupt, with which a statement may fail that the compiler runs. The statement that it compiles
// then has the code of any other error.
const interruptedText = "interrupted"

// interrupted returns the client's error for an interrupted statement.
func (db *database) interrupted(ctx context.Context) error {
	if db.guard.TimedOut() {
		return wire.ErrTimeout
	}
	if e := (*wire.Error)(nil); errors.As(context.Cause(ctx), &e) {
		return e
	}
	return wire.ErrCanceled
}

// runError returns the client's error for an error of a running statement.
func (db *database) runError(ctx context.Context, err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return asError(err)
	}
	noted := db.remote.take(e.Message)
	switch {
	case e.Code&0xff == resultInterrupt:
		return db.interrupted(ctx)
	case noted != nil:
		return noted
	}
	if state := pgfunc.State(err); state != "" {
		return newError(state, "%s", e.Message)
	}
	return db.sqliteError(e, "22000")
}

// sqliteError gives an error of SQLite its SQLSTATE, or the one that it has otherwise.
func (db *database) sqliteError(e *sqlite.Error, otherwise string) *wire.Error {
	switch e.Code & 0xff {
	case resultBusy, resultLocked:
		return &wire.Error{Code: "55P03", Message: "the database is being written", Hint: "Ask again."}
	case resultNoMemory:
		return &wire.Error{Code: "53200", Message: "the statement needs more memory than the session may use",
			Hint: "Ask for fewer rows, or let the owner raise the role's memory."}
	case resultReadOnly:
		return newError("25006", "cannot execute this in a read-only transaction")
	case resultTooBig:
		return newError("54000", "a text, blob or row is larger than %d bytes", limits[sqlite.LimitLength])
	case resultDenied:
		return db.denied(e.Message)
	case resultCorrupt, resultNoDB:
		return newError("XX001", "%s", e.Message)
	case resultIO, resultCantOpen, resultFull:
		return newError("58030", "%s", e.Message)
	case resultSchema:
		return &wire.Error{Code: "0A000", Message: "the tables have changed", Hint: "Prepare the statement again."}
	}
	for _, m := range messages {
		if strings.Contains(e.Message, m.part) {
			otherwise = m.code
			break
		}
	}
	return newError(otherwise, "%s", e.Message)
}

// noTable is the part that an unknown table has.
const noTable = "no such table"

// messages are parts of SQLite's messages.
var messages = []struct{ part, code string }{
	{noTable, "42P01"},
	{"no such column", "42703"},
	{"has no column named", "42703"},
	{"ambiguous column name", "42702"},
	{"no such function", "42883"},
	{"wrong number of arguments", "42883"},
	{"no such collation", "42704"},
	{"no such window", "42704"},
	{"no such index", "42704"},
	{"unsafe use of", "42501"}, // of a function that answers, in a view
	{"misuse of aggregate", "42803"},
	{"aggregate functions are not allowed", "42803"},
	{"GROUP BY clause is required", "42803"},
	{"misuse of window function", "42P20"},
	{"Expression tree is too large", "54001"},
	{"parser stack overflow", "54001"},
	{"Recursion limit", "54001"},
	{"too many", "54000"},
	{"at most", "54000"},
	{"pattern too complex", "54000"},
	{"variable number must be", "54000"},
	{"integer overflow", "22003"},
	{"malformed JSON", "22032"},
	{"bad JSON path", "22032"},
	{"syntax error", "42601"},
	{"unrecognized token", "42601"},
	{"incomplete input", "42601"},
	{"ORDER BY term", "42P10"},
	{"do not have the same number of result columns", "42601"},
	{"may not be modified", "25006"},
}

// compileError returns the client's error for a statement that does not compile.
func (db *database) compileError(ctx context.Context, err error, original string) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return asError(err)
	}
	switch {
	case e.Code&0xff == resultInterrupt, e.Message == interruptedText:
		return db.interrupted(ctx)
	case e.Code&0xff == resultNoMemory:
		return &wire.Error{Code: "54001", Message: "the statement is too complex", Hint: "Ask for less at once."}
	}
	if action, _ := db.guard.Denied(); action != 0 {
		return db.denied(e.Message) // SQLite has no code of its own for functions
	}
	w := db.sqliteError(e, "42000")
	switch w.Code {
	case "42601":
		w.Hint = "The dialect is SQLite's."
	case "42883":
		w.Hint = "The dialect is SQLite's: it has no function of that name and number of arguments."
		if instead := pgcatalog.Instead(e.Message[strings.LastIndexByte(e.Message, ' ')+1:]); instead != "" {
			w.Hint = "The dialect is SQLite's: " + instead + "."
		}
	}
	w.Position = position(e, original)
	return w
}

// position returns where in a statement an error is, from 1, or 0 if that is not known: SQLite has
// compiled the statement after it was rewritten.
func position(e *sqlite.Error, original string) int {
	if e.SQL == "" {
		return 0
	}
	same := 0 // bytes at which both begin
	for same < len(e.SQL) && same < len(original) && e.SQL[same] == original[same] {
		same++
	}
	if e.Offset <= same && e.Offset < len(original) {
		return utf8.RuneCountInString(original[:e.Offset]) + 1
	}
	// Text behind the last change is the same again.
	fromEnd := len(e.SQL) - e.Offset
	if at := len(original) - fromEnd; fromEnd > 0 && at >= 0 && original[at:] == e.SQL[e.Offset:] {
		return utf8.RuneCountInString(original[:at]) + 1
	}
	return 0
}

// verbs are the SQL names of the actions that do more than read.
var verbs = map[sqlite.Action]string{sqlite.ActionInsert: "INSERT", sqlite.ActionUpdate: "UPDATE", sqlite.ActionDelete: "DELETE"}

// denied returns the error of a statement that attempts a forbidden action.
func (db *database) denied(message string) *wire.Error {
	action, name := db.guard.Denied()
	switch {
	case verbs[action] != "":
		return readOnly(verbs[action])
	case action == sqlite.ActionRead:
		return newError("42501", "permission denied for table %s", name)
	case action == sqlite.ActionFunction:
		return newError("42501", "permission denied for function %s", name)
	}
	return newError("42501", "permission denied: %s", message)
}

func readOnly(verb string) *wire.Error {
	return newError("25006", "cannot execute %s in a read-only transaction", verb)
}

// noting is a remote that keeps its first error while a statement runs: SQLite passes on the text only.
type noting struct {
	sqlitefn.Remote
	err error
}

func (n *noting) note(err error) error {
	if n.err == nil {
		n.err = err
	}
	return err
}

// take returns the error that SQLite has reported with a message, if it is one for clients.
func (n *noting) take(message string) (e *wire.Error) {
	if n.err != nil && errors.As(n.err, &e) && strings.Contains(message, n.err.Error()) {
		return e
	}
	return nil
}

func (n *noting) Call(function string, args []sqlite.Value) (sqlitefn.Released, error) {
	answer, err := n.Remote.Call(function, args)
	return answer, n.note(err)
}

func (n *noting) Group(function string) sqlitefn.RemoteGroup {
	return notingGroup{n.Remote.Group(function), n}
}

type notingGroup struct {
	sqlitefn.RemoteGroup
	noting *noting
}

func (g notingGroup) Step(args []sqlite.Value) error { return g.noting.note(g.RemoteGroup.Step(args)) }

func (g notingGroup) Final() (sqlitefn.Released, error) {
	answer, err := g.RemoteGroup.Final()
	return answer, g.noting.note(err)
}
