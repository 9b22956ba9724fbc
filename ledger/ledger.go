package ledger

import (
	"context"
	"iter"
	"time"

	"github.com/geosql/geosql/budget"
)

// A Ledger keeps the budgets of accounts. It is safe for concurrent use. Engines implement all of it; a function takes the part
// that it uses.
//
// A charge is stored durably before a method returns nil. A method that returns an
// error has granted nothing. It is a [*RefusalError] if an account has not enough left.
type Ledger interface {
	// ID returns the random 128-bit name, in hexadecimal, that the ledger was given when it
	// was created.
	ID() string

	// Path returns the real path of the ledger's file, or "" if it has none.
	Path() string

	Limits
	Charger
	Questions
	Traces
	Releases
	Facts
	Balances
	Chain

	// Close drops one reference to the ledger, which has one for every time that it was
	// opened, and one for each statement and trace that has not ended. The last one returns
	// the rest of Reserve and closes the ledger, even if it returns an error. An amount that could
	// not be returned stays reserved.
	Close() error
}

// Limits sets the limits of accounts.
type Limits interface {
	// SetLimit sets the limit of an account in a unit, from 0, which blocks it, to
	// [budget.Max]: in all if window is 0, and else in each window of that many seconds, at
	// most MaxWindow. The limit of Everyone holds for every account that has no limit of its
	// own; each such account may spend as much.
	//
	// The limit replaces an earlier one. Spent budget stays spent, and a window that has
	// started stays started. A lower limit takes back unused reservations. When
	// SetLimit has returned, this process grants nothing beyond the limit, and neither does
	// another process to a statement that begins later. A statement that runs in another
	// process is granted at most 1,024 more evaluations. A running statement may use its
	// reservation when the limit gets a window meanwhile.
	SetLimit(account string, unit budget.Unit, eps budget.Amount, window int64) error

	// SetFirstLimit sets a limit without a window, as SetLimit does, unless a limit holds for
	// the account already.
	SetFirstLimit(account string, unit budget.Unit, eps budget.Amount) error
}

// A Charger charges accounts amounts that its callers have worked out.
type Charger interface {
	// Charge charges all items or none. It first takes from the amounts that Reserve has set aside. In
	// Charges, every call is one charge for each account.
	Charge(function string, unit budget.Unit, items []Item) error

	// ChargeOnce charges an account that was never charged in the unit, and takes nothing of
	// the amounts set aside. It is for releases with losses that do not add up: an account gets one,
	// whatever its limit allows. An account that was charged in any window gets an
	// [*AlreadyChargedError], and if several callers ask at a time one is charged.
	ChargeOnce(function string, unit budget.Unit, item Item) error

	// Reserve sets amounts aside for all accounts or for none. Charge and the statements of
	// this process then take from them without waiting for the disk for each account. The
	// rest returns when the ledger closes. An amount reserved in a window can be used and
	// returned in that window only. Reserve ignores the evaluations of the items.
	Reserve(unit budget.Unit, items []Item) error

	// ReserveAll is Reserve in several units: for all demands or for none.
	ReserveAll(demands []Demand) error

	// NewStatement starts a run of an SQL statement. On a closed ledger its charges fail.
	NewStatement() Statement

	// Ready returns the error that a charge would meet now, or nil. It begins a transaction as a charge does, and stores
	// nothing.
	Ready(ctx context.Context) error
}

// Questions answers questions about sealed values, each once.
type Questions interface {
	// Answer returns the answer to a question, in one transaction. An answer that the ledger
	// remembers, as [Choose] says, is returned again and costs its accounts nothing; a role
	// that sees it for the first time pays from budgets of its own. For any other question Answer
	// checks the remaining budget of each account and each role, draws, charges both, remembers the answer
	// and returns it once all of this is stored. It takes nothing from the amounts that Reserve has set
	// aside.
	//
	// A [*RefusalError] names the first account, in the order of accounts, that cannot pay by its own
	// budget or by the role's for it. After any error no part of an answer
	// was returned. If storing fails it may still have reached the disk, as with any charge;
	// then the answer is remembered with its charges, and is returned when it is asked for
	// again. Answer waits until the context is done, and then for the end of a commit that has begun.
	Answer(ctx context.Context, q Question) (Answered, error)

	// AnswerAll answers the first of some questions of one role, in one transaction: one at least, and so many as Answer would
	// answer one after the other. The charges of several for one account have one entry.
	AnswerAll(ctx context.Context, qs []Question) ([]Answered, error)

	// Quote returns the answer that Answer would give now, with the time now for one that would be drawn. It has its
	// content only if the role has seen it. Quote draws, charges and stores nothing, and promises nothing: later questions
	// and charges of others may change it. It waits for transactions of this
	// process that have begun.
	Quote(ctx context.Context, q Question) (Answered, error)

	// QuoteAll returns what AnswerAll would answer, as Quote does. No two of the questions are the same.
	QuoteAll(ctx context.Context, qs []Question) ([]Answered, error)
}

// Traces keeps the traces of accounts from step to step.
type Traces interface {
	// OpenTrace opens the trace of an account. The trace charges the account's budget of the
	// unit under the function's name. OpenTrace returns the state that was saved last, nil
	// for a new trace, and the spent amount that the state does not include. It returns a
	// [*TraceTakenError] if somebody uses the trace or a crash has left it. The ledger stays
	// open until the trace is closed.
	OpenTrace(name, account string, unit budget.Unit, function string) (t Trace, state []byte, lost budget.Amount, err error)

	// RestartTrace lets a trace that a crash has left go on. The trace's reservation
	// counts as spent, and a gap stands in its run for the points that are missing. The
	// ledger may not know a new trace; then account and unit identify it. If a statement over several traces
	// of reserved accounts was left, the traces that have lost points are not known: all traces of these accounts
	// go on, each with a gap, new ones too. RestartTrace reports whether there was
	// anything to do.
	RestartTrace(name, account string, unit budget.Unit) (restarted bool, err error)

	// TraceRun returns the run of a trace as far as it is saved.
	TraceRun(name string) ([]Point, error)
}

// Releases keeps the data sets that are released.
type Releases interface {
	// CannotPay calls each for every item that the limit of its account does not cover now, with
	// the account's standing. It charges nothing. First, unless it is nil, is the limit that
	// holds for Everyone if there is none, as after SetFirstLimit. Each account has one item,
	// and the accounts are in ascending order. An error of the items ends the reading and is
	// returned as it is. The items of a [Shared] ledger may come from the ledger itself. Each must not
	// use the ledger.
	CannotPay(unit budget.Unit, items iter.Seq2[Item, error], first *budget.Amount, each func(Item, Standing)) error

	// FindRelease returns the release that OpenRelease would return, and stores nothing. A
	// release that has not begun has nothing charged. The result is for reading: to charge
	// or seal a release, open it.
	FindRelease(id string, plan ReleasePlan) (Release, error)

	// OpenRelease begins a release, or continues the one that has the ID. A release that is
	// continued must have the same plan, else OpenRelease returns a [*ReleaseError]. A
	// release that was published can be opened but not charged.
	OpenRelease(id string, plan ReleasePlan) (Release, error)

	// AllReleases returns the releases that have begun, by ID.
	AllReleases() ([]NamedRelease, error)
}

// Facts keeps the declarations of an owner, such as roles and columns, in their order.
type Facts interface {
	// Record stores facts, all or none. One that is stored already changes nothing. The IDs of
	// the facts are ignored.
	Record(facts ...Fact) error

	// Facts returns the facts with a higher ID than after, in the order of their IDs.
	Facts(ctx context.Context, after int64) ([]Fact, error)
}

// Balances shows charges, balances and limits to the owner.
type Balances interface {
	// Balance returns the balance of an account, whether the ledger knows it or not. The
	// balance of Everyone has the limit of the accounts that have none of their own.
	Balance(account string, unit budget.Unit) (Balance, error)

	Pager

	// Stored returns how many balances and limits the ledger has, up to a number from which on it does not count them.
	Stored(most int) (n int, err error)

	// Size returns how large the ledger is, in a time that does not depend on it.
	Size(ctx context.Context) (Size, error)

	// AccountBalances returns those of one account, without reading others.
	AccountBalances(account string) ([]Balance, error)

	// LimitChanges returns the limits that were set, in the order of their IDs. Archived
	// ones are not among them, except for the ones that still hold.
	LimitChanges() ([]LimitChange, error)

	// Charges returns the charges in the order of their IDs. It reads them all when the loop
	// starts; later charges are not among them. An error ends the sequence. The spending of roles
	// is not among the charges: it comes on top of the charges to accounts, and is no
	// loss of anybody's.
	Charges() iter.Seq2[Charge, error]

	// RoleBudgets returns the spending of a role, ordered by unit and account.
	RoleBudgets(role string) ([]RoleBudget, error)
}

// Chain is the chain of all entries, to be checked and archived.
type Chain interface {
	// Head returns the ledger's last entry, which stands for all before it. Noted somewhere
	// else it is evidence for Verify.
	Head() (Head, error)

	// Verify reads everything and checks that no entry was changed, removed, inserted or
	// moved after it was written, and that balances, limits and role budgets follow from the entries.
	// With an earlier head, which Head has returned at another time, it also checks that the
	// ledger has grown out of that state, and was not replaced by an older one or rewritten.
	// Archive is "" or the file that Archive moved the first entries to; without it a head
	// from before the archive's end cannot be verified. Each, unless it is nil, is called with the share of
	// the entries that is read, and its error ends the reading.
	Verify(archive string, earlier *Head, each func(share float64) error) (Verified, error)

	// Archive moves the entries before a time to an archive, which is a file of its own. It
	// creates the file if it is missing, and adds to it if it is there. Balances, limits, role budgets,
	// answers and the chain stay: for every account and role budget with entries to go, the ledger gets
	// one that carries their sum over. Only the beginning of the chain can go, so fewer entries
	// go if a clock was set back. Archive returns how many entries it moved.
	//
	// The entries are in the archive, durably, before they leave the ledger. After an error or
	// a crash in between they are in both, and the next call goes on.
	Archive(path string, before time.Time) (moved int64, err error)
}

// A Statement is one run of an SQL statement. A statement and its spenders are used by one
// goroutine at a time. It keeps the ledger open until it ends.
type Statement interface {
	// Spender returns the statement's spender for a function and a unit, always the same one.
	Spender(function string, unit budget.Unit) Spender

	// Charge charges all items or none, as [Charger.Charge] does. In Charges, the calls for a function
	// and a unit are one charge for each account. From the second call on it reserves ahead for
	// accounts that it has charged before.
	Charge(function string, unit budget.Unit, items []Item) error

	// Reserve sets demands aside, in one transaction, for the time of the statement: the part that is not used then returns
	// when it ends. It leaves alone an account that cannot pay its whole demand, so that this account is charged as
	// if Reserve had not been called, and it counts the amounts that [Charger.Reserve] has set aside.
	Reserve(demands []Demand) error

	// OpenTrace is that of a [Ledger], for a statement that may take steps of many traces. It
	// waits some seconds for a statement of another process that takes steps of the account's traces.
	// Traces that are closed are saved together, the last when the statement ends.
	OpenTrace(name, account string, unit budget.Unit, function string) (t Trace, state []byte, lost budget.Amount, err error)

	// End ends the statement. Its spenders charge nothing any more, and their unused
	// reservations return. After an error these stay reserved until a later write
	// of this process succeeds, or for good if the failed write may have been stored. Ending a
	// statement twice is harmless.
	End() error
}

// A Spender charges the evaluations of one function in one statement.
type Spender interface {
	// Charge charges an account for one evaluation. When it returns nil the cost is stored
	// durably, as spent or as reserved. After a [*RefusalError] the account can still be
	// charged the remaining budget. Charge does not keep the account's bytes.
	//
	// Charge allocates nothing while the spender's reservation for the account covers
	// the cost.
	Charge(account []byte, cost budget.Amount) error
}

// A Size says how large a ledger is.
type Size struct {
	Bytes   int64 // on disk, with its log; 0 in memory
	Room    int64 // bytes that its disk has left; negative if that is not known, as of a server's
	Answers int64 // remembered, with a few too many on a server where transactions failed
	Waits   int64 // how often this process has waited for a connection to the ledger's server
}

// Verified counts the entries that [Chain.Verify] has read and found in order.
type Verified struct {
	Entries  int64 // the archive's included
	Balances int64
	Limits   int64
	Head     Head

	Programs []Program // that have written to the ledger, in the order of their first writes
}

// A Program is a build of geosql that has written to a ledger. The ledger notes it for its owner: nothing depends on it.
type Program struct {
	Build string // version and commit
	First time.Time
	Last  time.Time // to the hour
}
