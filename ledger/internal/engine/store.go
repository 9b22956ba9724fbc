// Package engine is the common part of the engines of ledgers: everything that a process keeps
// in memory, such as the reservations of its statements, and the steps of charges, traces,
// releases and questions. Below it is a [Store], which keeps the ledger durably. An engine is a
// Store and a [Core] over it. It imports ledger and budget, and no engine. Start at Store and Core.
package engine

import (
	"context"
	"iter"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Key names a balance or a limit.
type Key struct {
	Account string // ledger.Everyone for the limit of '*'
	Unit    budget.Unit
}

// Needs are the keys of standings, in any order. It is nil for none.
type Needs iter.Seq[Key]

// A Store keeps a ledger durably. It may be used by several goroutines at a time.
type Store interface {
	// Update runs work in a transaction. When it returns nil, the writes of work are stored durably.
	// After an error the caller must grant nothing. After an [*InDoubtError] the writes of work may be
	// stored all the same: then the caller must not return or record them again, and budget may be
	// wasted, which is safe. After any other error nothing is stored.
	//
	// Limits and balances that work reads in the transaction do not change before it ends, except
	// through itself. Callers that wait at the same time may share a transaction. A refusal,
	// as IsRefusal says, comes before work has written anything and concerns its caller alone.
	// After any other error nobody of a shared transaction is granted anything.
	//
	// Work reads the standings of needs. A store may read them together before it runs work, and
	// may give up and run work again. Once the context is done the caller waits no more, but for the end of a commit.
	Update(ctx context.Context, needs Needs, work func(Transaction) error) error

	// View lets work read one state of the stored ledger, until the context is done.
	View(ctx context.Context, work func(Reader) error) error

	// LimitsSet returns the accounts and units with limits that others have set since the last call, or since the ledger was
	// opened, and a Reader of the present limits lets work compare them. It waits for no
	// transaction of this process. Work is not called if no limits were set.
	LimitsSet(work func(Reader, []Key) error) error

	// Now returns the time in microseconds since 1970, by the clock that windows go by.
	Now() int64

	// Retain keeps the ledger open for one more Close.
	Retain() error
	Close() error
}

// A Reader reads one state of a ledger.
type Reader interface {
	// Now returns the time of the transaction, in microseconds since 1970.
	Now() int64

	// Standing returns the standing of an account, which the ledger may not know.
	Standing(Key) (ledger.Standing, error)

	// Ascending begins to read the standings of about n accounts in ascending order, or of Many.
	// Nothing may be written before the result is closed.
	Ascending(unit budget.Unit, n int) (Standings, error)

	// LimitedUnits returns the units in which a limit holds for an account.
	LimitedUnits(account string) ([]budget.Unit, error)

	// Trace returns the row of a trace, or nil if there is none.
	Trace(name string) (*TraceRow, error)

	// Lease returns the row of the lease on the traces of an account in a unit, empty if there is none.
	Lease(Key) (LeaseRow, error)

	// Release returns the row of a release, or nil if there is none.
	Release(id string) (*ReleaseRow, error)

	// Releases calls each for the row of every release, by ID.
	Releases(each func(*NamedRelease)) error

	// Given returns the remembered answers to a question, and whether a role has seen them. The
	// owner, role "", has seen all.
	Given(question []byte, role string) ([]ledger.Given, error)

	// Answer returns a remembered answer, and when it was drawn.
	Answer(id int64) ([]byte, time.Time, error)

	// RoleBudgets begins to read the spending of a role in a unit. The result returns the one for
	// an account.
	RoleBudgets(role string, unit budget.Unit) (func(account string) (ledger.RoleBudget, error), error)
}

// Many is how many accounts there are if nobody knows.
const Many = 1 << 30

// Standings reads the standings of accounts in ascending order.
type Standings interface {
	Standing(account string) (ledger.Standing, error)
	Close()
}

// A Transaction reads and writes. It is used by one goroutine at a time.
type Transaction interface {
	Reader

	// Post writes the entries of postings and the balances after them. Their accounts are in ascending order, and their
	// standings were read in this transaction.
	Post(*Origin, []Posting) error

	// SetLimit writes the entry of a change that sets a limit, and the limit.
	SetLimit(*Change) error

	// ChargeRoleBudgets charges items to the budgets of a role, which can pay them: it writes an entry
	// without a unit for each, and adds to the budget.
	ChargeRoleBudgets(role string, from *Origin, items []ledger.Item) error

	// TakeTrace marks a trace as taken by row.User, who holds row.Held, and adds the trace if it is
	// new. Of the row it writes account and unit of a new trace, user and held.
	TakeTrace(name string, row *TraceRow) error

	// PutTrace writes the row of a trace. Nothing is lost from then on.
	PutTrace(name string, row *TraceRow) error

	// AddPoints adds points to the run of a trace that has row.Saved points.
	AddPoints(name string, saved int64, points []ledger.Point) error

	// FreeTrace leaves a trace to others. It has so many points then, and its hold is lost.
	FreeTrace(name string, saved int64, lost budget.Amount) error

	// TakeLeases leases the traces of accounts, in ascending order, to a user: each may spend so much on
	// points that are not saved, or as much as before if that is more. It returns the accounts that
	// nobody else has leased. No trace of another process becomes marked between transactions that see the lease
	// and transactions that do not.
	TakeLeases(user []byte, unit budget.Unit, accounts []string, most budget.Amount) ([]string, error)

	// TraceKeys returns the keys that existing traces charge.
	TraceKeys(names []string) (map[string]Key, error)

	// LeasedTraces returns the traces of the accounts that a user has leased which are not marked as
	// taken.
	LeasedTraces(user []byte) ([]LeasedTrace, error)

	// EndLeases ends all leases of a user. Their traces are saved.
	EndLeases(user []byte) error

	// BreakLeases ends all leases of a user. Their traces are lost: the amount that each may have spent adds to the
	// loss of later traces. No other transaction runs beside it.
	BreakLeases(user []byte) error

	// AddRelease adds a release without charges.
	AddRelease(id string, plan ledger.ReleasePlan) error

	// SetCharged sets how many accounts of a release are charged.
	SetCharged(id string, charged int64) error

	// SealRelease seals a release with a hash.
	SealRelease(id, sha256 string) error

	// AddAnswer remembers an answer, which the role has seen.
	AddAnswer(question []byte, out ledger.LeftOut, answer []byte, role string) error

	// AddSeen remembers that a role has seen an answer.
	AddSeen(answer int64, role string) error

	// Written returns how many writes the transaction has made.
	Written() int

	// Undo has undo called if the transaction ends and nothing of it is stored. It is not called
	// after an [*InDoubtError].
	Undo(undo func())
}

// InDoubtError is the error of a transaction that is stored, or may be. It does not unwrap to
// its cause, so that nobody runs the transaction again because of that.
type InDoubtError struct{ Cause error }

func (e *InDoubtError) Error() string { return e.Cause.Error() }

// Is makes it an [ledger.ErrInDoubt].
func (e *InDoubtError) Is(target error) bool { return target == ledger.ErrInDoubt }

// A Run is one run of an SQL statement. Its number is that of its first entry, and 0 until that
// entry is stored.
type Run struct{ Number int64 }

// Origin is common to the changes of one call.
type Origin struct {
	Run      *Run
	Time     int64 // microseconds since 1970
	Function string
	Unit     budget.Unit
}

// Origin returns the origin of changes of a run, at a time in microseconds since 1970.
func (r *Run) Origin(time int64, function string, unit budget.Unit) *Origin {
	return &Origin{Run: r, Time: time, Function: function, Unit: unit}
}

// Change is a change of an account's balance or of its limit that is to become an entry.
type Change struct {
	*Origin
	Account     string
	Spent       budget.Amount
	Reserved    budget.Amount
	Evaluations int64

	Term  ledger.Term // that a negative change returns to
	Limit *Limit      // nil for a change of the balance

	taken bool // a note that is being written
}

// Limit is the limit of an account, in all or in a window.
type Limit struct {
	Epsilon budget.Amount
	Seconds int64
}

// TraceRow is a stored trace without its points.
type TraceRow struct {
	Account    string
	Unit       budget.Unit
	State      []byte
	Saved      int64  // points
	User       []byte // a random name of its use; nil when nobody uses the trace
	Held, Lost budget.Amount
}

// ReleaseRow is a stored release.
type ReleaseRow struct {
	Plan      ledger.ReleasePlan
	Charged   int64
	Published *ledger.Published // nil if it is not sealed
}

// Entry returns the entry of a change, but for its ID. Reserved is by how much the reserved amount
// really changes, and the window is that after the change.
func (c *Change) Entry(reserved budget.Amount, window ledger.WindowUse) ledger.Entry {
	e := ledger.Entry{
		Statement: c.Run.Number,
		Time:      c.Time,
		Function:  c.Function, Account: c.Account, Unit: c.Unit,
		Spent: c.Spent, Reserved: reserved,
		Evaluations: c.Evaluations,
		Window:      window,
		Limit:       ledger.NoLimit,
	}
	if c.Limit != nil {
		e.Limit, e.LimitWindow = c.Limit.Epsilon, c.Limit.Seconds
	}
	return e
}

// lastCharge returns the time of the account's last charge after the change, in microseconds since
// 1970, or 0.
func (c *Change) lastCharge(before *ledger.Standing) int64 {
	var last int64
	if !before.LastCharge.IsZero() {
		last = before.LastCharge.UnixMicro()
	}
	if c.Spent == 0 {
		return last
	}
	return max(last, c.Time)
}

// ChargeOf returns the change that charges an item to its account's limit.
func ChargeOf(item ledger.Item, from *Origin) *Change {
	return &Change{Origin: from, Account: item.Account, Spent: item.Epsilon, Evaluations: item.Evaluations}
}
