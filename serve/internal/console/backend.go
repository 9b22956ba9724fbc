package console

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// OwnerName is the name that the owner logs in under. No role has it.
const OwnerName = "owner"

// ErrLogin says that there is no such user, or that the password is not the user's.
var ErrLogin = errors.New("the name or the password is wrong")

// A Backend is the server behind the console. Its methods, and those of its sessions but for Quote and Run, are called
// by several goroutines at once.
//
// Errors of sessions that are, or wrap, a *wire.Error, a *sqlitefn.PermissionError or a *sqlitefn.OverQuoteError are
// shown; others are logged, and the user is told that the server has failed. One with SQLSTATE 57P01 or 28000 ends the
// login too. Nothing that is shown has the name of an account: accounts have pseudonyms here.
type Backend interface {
	// Login begins a session. It returns ErrLogin, after the same time, for a user who does not exist and for a
	// wrong password: see wire.Verifier.Fits. The session outlives the context.
	Login(ctx context.Context, c Credentials) (Session, error)
}

// Credentials are a user's name and password.
type Credentials struct {
	User, Password string

	Remote net.Addr // where the browser is
	TLS    bool
}

// A Session is a user's access to the database after a login.
type Session interface {
	Owner() bool // whether this is the owner, who may change roles

	Schema(ctx context.Context) (*Schema, error)

	// Quote returns the cost that a statement would have. It charges and draws nothing. Quote and Run are called by one
	// goroutine at a time, and not while Rows are open.
	Quote(ctx context.Context, q Question) (Outcome, error)

	// Run begins to execute a statement. Calls fail, with a *sqlitefn.OverQuoteError and before they charge, that
	// would make it cost more than quoted. If the context ends, so does the statement.
	Run(ctx context.Context, q Question, quoted sqlitefn.Report) (Rows, error)

	// Budgets returns the role's budgets. The owner, who has none, gets those of all roles.
	Budgets(ctx context.Context) ([]Budget, error)

	// History returns the role's latest statements, or for the owner those of all roles, the latest first.
	History(ctx context.Context, most int) ([]Asked, error)

	// Saved returns the questions that the role has saved, in the order of their names. Save saves one, in place of one of the
	// same name; without SQL it removes that.
	Saved(ctx context.Context) ([]SavedQuestion, error)
	Save(ctx context.Context, q SavedQuestion) error

	// For the owner:
	Left(ctx context.Context) ([]Left, error)
	Roles(ctx context.Context) ([]*role.Role, error)
	AddRole(ctx context.Context, r *role.Role) error
	DropRole(ctx context.Context, name string) error

	// Close ends the session. Its statements have been canceled, and their Rows closed.
	Close()
}

// A Question is one statement of SQL.
type Question struct {
	SQL     string
	Epsilon budget.Amount // of SQL's own aggregates over sealed columns, as SET geosql.epsilon has it; 0 leaves it unset
}

// An Outcome is the cost of a statement, spent or foreseen, and the server's notices about it.
type Outcome struct {
	Report  sqlitefn.Report
	Notices []*wire.Error

	Intervals interval.Of // of the numbers that the execution has answered; nil if there are none
}

// Rows are the rows of one execution. They are used by one goroutine.
type Rows interface {
	Columns() []ResultColumn

	// Next returns the next row, of nil, bool, int64, float64, string and []byte, or io.EOF after the last one.
	// The row is used until the next call.
	Next() ([]any, error)

	// Close ends the execution, if rows are left too, and returns its cost, also after an error.
	Close() Outcome
}

// A ResultColumn is a column of a result.
type ResultColumn struct {
	Name string `json:"name"`
	Type string `json:"type"` // such as integer, text
}

// A Schema lists the tables and functions of the database.
type Schema struct {
	Database  string     `json:"database"`
	Tables    []Table    `json:"tables"`
	Functions []Function `json:"functions"`
	Domains   []Domain   `json:"domains"`
	Examples  []Example  `json:"examples"`
}

// A Table is a table, or a view.
type Table struct {
	Name    string   `json:"name"`
	View    bool     `json:"view"`
	Columns []Column `json:"columns"`
}

// A Column is a column of a table.
type Column struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Sealed *Sealed `json:"sealed"` // nil if it is public
}

// Sealed describes the values of a sealed column: readings of a universe or locations of a domain.
type Sealed struct {
	Universe string      `json:"universe,omitempty"`
	Domain   string      `json:"domain,omitempty"`
	Unit     budget.Unit `json:"unit"`
	Granted  bool        `json:"granted"` // whether the role may ask about it
}

// A Function is a function that statements may call.
type Function struct {
	Name       string   `json:"name"`
	Signatures []string `json:"signatures"` // such as dx_sum(sealed, epsilon [, metric])
	Does       string   `json:"does"`
	Charges    bool     `json:"charges"`
}

// A Domain is the box of a domain, in degrees.
type Domain struct {
	Name  string  `json:"name"`
	South float64 `json:"south"`
	West  float64 `json:"west"`
	North float64 `json:"north"`
	East  float64 `json:"east"`

	Region string `json:"region,omitempty"` // WKT, unless it is too long to be drawn
}

// A Budget is a role's limit for each account in a unit, and its spending.
type Budget struct {
	Role     string
	Unit     budget.Unit
	Limit    budget.Amount
	Call     budget.Amount // the most that one call may spend; 0 if there is no such bound
	Accounts int           // that the role has been charged for
	Most     budget.Amount // the largest amount that it has spent on one of them
}

// Asked is a statement that was answered or refused.
type Asked struct {
	At      time.Time
	Role    string
	Report  sqlitefn.Report // its cost
	Refused string          // the SQLSTATE of a refusal; empty if it was answered

	SQL     string // empty if it is too long, or not the reader's
	Epsilon string // of SQL's own aggregates, or empty
}

// A SavedQuestion is a question with a name.
type SavedQuestion struct {
	Name    string `json:"name"`
	SQL     string `json:"sql"`
	Epsilon string `json:"epsilon,omitempty"` // of SQL's own aggregates, or empty
}

// Left tells how much of their limits in a unit the accounts have left that the ledger knows.
type Left struct {
	Unit     budget.Unit `json:"unit"`
	Accounts int         `json:"accounts"`
	Tenths   [11]int     `json:"tenths"` // accounts by what is left: nothing, up to a tenth of the limit, up to two, ..
}
