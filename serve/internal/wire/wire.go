// Package wire speaks the PostgreSQL protocol, versions 3.0 and 3.2, to clients, and asks a Handler for
// everything that is not protocol: logins and the meaning of statements. It knows no SQL but FETCH, with
// which it describes the cursors that statements have declared, and the tags of DEALLOCATE and DISCARD ALL.
// It imports pgproto3 and package throttle. Start at Server and Handler.
//
// A Server accepts connections. Each has a goroutine of its own, which calls the connection's Session and its
// statements and rows, one call at a time.
package wire

import (
	"context"
	"net"
	"time"
)

// A Handler answers the clients of a Server. Its methods are called by several goroutines at once.
type Handler interface {
	// Login returns the verifier of a user's password, or false if there is no such user or the user may not log
	// in. The server then asks for a password all the same, and refuses it with the same words as a wrong one.
	// Whether the user may use the database is for NewSession to say, which is called after the password was
	// right. An error ends the connection; its text is logged and not shown.
	Login(ctx context.Context, user, database string) (Verifier, bool, error)

	// NewSession begins the session of a user who has proved to know the password. An error ends the
	// connection and is shown to the client. ctx lasts as long as the session.
	NewSession(ctx context.Context, login *Login) (Session, error)
}

// A Login says who has connected, and how.
type Login struct {
	User     string
	Verifier Verifier // of the password, as Handler.Login returned it: a user of the same name may have taken its place since
	Database string   // the user's name unless the client named one

	// Parameters holds the other parameters of the startup packet under the names that the client gave, such as
	// application_name, DateStyle and options. Parameters that Client reports are not among them: client_encoding.
	Parameters map[string]string

	Remote net.Addr
	TLS    bool

	// ProcessID is the number that identifies the session in cancel requests. pg_backend_pid() returns it.
	ProcessID uint32

	// Client takes the session's notices and changes of settings.
	Client Client

	// End ends the session with an error, which the client is sent if it reads. Any goroutine may call it.
	End func(reason *Error)
}

// A Client takes notices and changes of settings for the client of a session. They are sent before the
// answer of the call that gave them, or with the next answer. It may be called by any goroutine.
type Client interface {
	// Notice sends a notice. Its severity is NOTICE unless it has another one.
	Notice(notice *Error)
	// Parameter says that a setting has changed that clients follow, such as application_name or TimeZone.
	Parameter(name, value string)
}

// A Session is one connection's view of the database. Its methods, and those of its statements and rows, are called
// by one goroutine.
//
// Errors may be, or wrap, an *Error for the client to see. Other errors have SQLSTATE XX000, or 57014 if the
// client canceled.
type Session interface {
	// Prepare compiles the first statement of sql and returns the text behind it, "" if only
	// space, comments and semicolons follow. The statement is nil if there is none in sql. parameterTypes
	// holds the types of the first parameters as far as the client declares them, with 0 for types that it leaves open.
	//
	// Prepare does not run the statement.
	Prepare(ctx context.Context, sql string, parameterTypes []uint32) (stmt Statement, rest string, err error)

	// Ready is called when the answer to a client's request is complete, and returns whether the session is in a
	// transaction. failed reports whether the request ended with an error, also with one that the session does
	// not know of, such as a parameter that cannot be read: it ends the transaction as any error does.
	Ready(failed bool) TxStatus

	// IdleTimeout returns how long the client may take until its next message, 0 for ever, and the error that ends the
	// session of one that takes longer. executing reports whether its request is not complete or portals are open.
	IdleTimeout(executing bool) (limit time.Duration, reason *Error)

	// Hold is called before the server keeps so many bytes for the client's messages, texts and parameters, and with a
	// negative number when it drops them. If it returns an error, it does not keep them.
	Hold(bytes int64) error

	// Close ends the session. All statements and rows have been closed by then.
	Close()
}

// TxStatus is the state of a transaction, as the protocol has it.
type TxStatus byte

// The states of a transaction.
const (
	Idle          TxStatus = 'I' // no transaction block
	InTransaction TxStatus = 'T'
	Failed        TxStatus = 'E' // in a transaction block that only a rollback ends
)

// A Statement is a prepared statement. Several Rows of it, and of other statements, may be open at a time. All of its
// Rows are closed before it.
//
// Clients describe statements, and portals, that they never execute, and describe them before they execute them.
// So Parameters and Columns must follow from the statement alone. The server calls Query when a client executes
// the statement, and never to describe it: only Query, and the Rows that it returns, may step the statement, and so only
// they may charge.
type Statement interface {
	// Parameters returns the types of all parameters.
	Parameters() []uint32

	// Columns returns the columns of the rows. A statement without rows has none, and COPY has none.
	Columns() []Column

	// Query begins to execute the statement. It has one argument for each parameter: nil, an int64, a float64, a
	// bool, a string or a []byte, by the parameter's type. Parameters of types that are none of these, such as
	// numeric and date, are strings. The context ends when the Rows are closed or the client cancels.
	Query(ctx context.Context, args []any) (Rows, error)

	Close()
}

// A Column is a column of a result.
type Column struct {
	Name string
	OID  uint32 // of the type

	// TypeModifier is the modifier of the type plus one: 0 for none.
	TypeModifier int32

	// Table and Number are the table and column behind it, if there is one.
	Table  uint32
	Number uint16
}

// Rows are the rows of one execution. A client may fetch some, do other things, and fetch more.
type Rows interface {
	// Next writes the next row: one value for each column, in order. It reports false without having written
	// anything if there is no more row. After an error, or false, it is not called again.
	Next(row Row) (bool, error)

	// Copy returns how the rows are copied to the client if the statement is COPY .. TO STDOUT, otherwise nil.
	Copy() *Copy

	// Tag returns the command tag of a statement that ended, such as "SELECT 3" or "BEGIN", if rows rows were
	// sent since the client last asked for some. After DEALLOCATE with a name in double quotes, after DEALLOCATE ALL
	// and after DISCARD ALL, prepared statements are closed.
	Tag(rows int64) string

	Close()
}
