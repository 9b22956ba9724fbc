package frame

import (
	"cmp"
	"errors"
	"math/big"
	"sync/atomic"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/internal/vdbe"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism"
)

// DryRun counts the charges that a statement would make. While a session has one, releases check
// their arguments as always, and their prices are counted instead of charged.
//
// No answer of a dry run depends on a secret: a release draws with the receipt that its
// payer returns, and the receipt of a dry run draws nothing. The release then answers a
// constant that depends on its public parameters only.
type DryRun struct {
	session *Session
	sql     string
	stmt    *sqlite.Stmt
	Program vdbe.Program
	pure    functionSet
	totals  map[chargeKey]*Total
	groups  map[*Function]*Groups // of the aggregates under d1
	cures   map[*Function]string  // see cure
	Failed  error                 // of a call of a function that charges

	payments int64 // of rows and groups

	hurried atomic.Bool
	Partial bool // the dry run ended early, see Hurry

	Certainty Certainty // of the costs
	Doubt     string    // why nothing is certain; empty if something is

	// place is the last stand-in for a location, and its text.
	place struct {
		of       mechanism.Location
		lat, lon float64
		text     []byte
	}

	// uncommitted tells whether the statement would begin in a transaction that has changed
	// something. The dry run of one that writes opens a transaction of its own.
	uncommitted bool

	readsLedger bool // rows of the ledger were read, which a real execution changes with every charge
	varies      bool // the cost of a counted step depends on a draw
}

// A Certainty tells how much a dry run proves about the charges of a statement that runs to its end while neither data nor
// clock change.
type Certainty int

const (
	Guessed Certainty = iota // nothing: released values decide the charges
	Bounded                  // no account is charged more than [Total.Most]
	Exact                    // every account is charged the counted sum
)

// chargeKey says which charges are counted together.
type chargeKey struct {
	Function *Function
	Unit     budget.Unit
	Account  string
}

// A Sum is a sum of amounts, which may exceed every budget: epsilon and times budget.Max.
type Sum struct {
	Epsilon budget.Amount
	Times   int64
}

// Total is the sum over all charges.
type Total struct {
	Sum
	more        Sum // that may be charged beyond the sum, since the cost of a step depends on a draw
	Evaluations int64
	perRow      bool  // it is for each row of the account
	rows        int64 // the most rows of the account in a group then
	byValue     bool  // it is the largest sum for any sealed value of the account
	trace       bool  // it is for the steps of traces
	Once        bool  // an account is charged in the unit only once
}

// Groups are the groups of an aggregate under d1.
type Groups struct {
	Count    int64
	Separate error // why they are charged one by one; nil if they cost once
}

// Hurry ends the dry run at its next charge that is beyond the budget of its account. Any goroutine may call it.
func (d *DryRun) Hurry() { d.hurried.Store(true) }

// errPartial ends a dry run early.
var errPartial = errors.New("a budget does not suffice")

// count adds evaluations of f by an account, which cost price in all, and returns their sum.
func (d *DryRun) count(f *Function, account []byte, price budget.Price, evaluations int64) (*Total, error) {
	t := d.totals[chargeKey{f, price.Unit, string(account)}]
	if t == nil {
		t = new(Total)
		d.totals[chargeKey{f, price.Unit, string(account)}] = t
	}
	t.Evaluations += evaluations
	t.Add(price.Amount)
	if !d.hurried.Load() {
		return t, nil
	}
	b, err := d.session.Balance(string(account), price.Unit)
	if err == nil && !t.Within(b) {
		d.Partial, err = true, errPartial
	}
	return t, err
}

// Add adds an amount to the sum.
func (s *Sum) Add(a budget.Amount) {
	if s.Epsilon > budget.Max-a {
		s.Epsilon -= budget.Max
		s.Times++
	}
	s.Epsilon += a
}

// Within reports whether an account may be able to pay the sum. A reserved amount may be set aside for this connection, or return
// before it is needed.
func (s *Sum) Within(b ledger.Balance) bool {
	return b.Limited && s.Times == 0 && s.Epsilon-b.Remaining() <= b.Reserved
}

// AddSum adds another sum.
func (s *Sum) AddSum(other Sum) {
	s.Add(other.Epsilon)
	s.Times += other.Times
}

// Most returns the most that may be charged, unless released values decide that.
func (t *Total) Most() Sum {
	most := t.Sum
	most.AddSum(t.more)
	return most
}

// Float64 returns the sum.
func (s *Sum) Float64() float64 {
	return float64(s.Times)*budget.Max.Float64() + s.Epsilon.Float64()
}

// Rat returns the sum.
func (s *Sum) Rat() *big.Rat {
	all := new(big.Rat).Mul(budget.Max.Rat(), new(big.Rat).SetInt64(s.Times))
	return all.Add(all, s.Epsilon.Rat())
}

// Capped returns the sum as one amount, at most the largest that there is.
func (s *Sum) Capped() budget.Amount {
	if s.Times > 0 {
		return budget.Max
	}
	return s.Epsilon
}

// admit returns an error while a statement of the session's own runs, and for a function of the
// owner that the schema of a database calls.
// During a dry run it also refuses functions that change something, since a dry run could
// not undo that.
func (s *Session) admit(f *Function) error {
	if s.own {
		return errors.New("may not be called while geosql uses its own tables: drop the trigger, view or column of this database that does so")
	}
	if f.Flags&OwnerOnly == 0 {
		return nil
	}
	if f.Scalar != nil && !s.Conn.Named(f.Name) && !s.calledByTempSchema(f.Name) {
		return errors.New("may not be called by the schema of a database")
	}
	if s.dry != nil && !f.Reads {
		return errors.New("cannot be dry-run")
	}
	if f.Table != nil {
		s.ReadsLedger()
	}
	return nil
}

// ReadsLedger tells a dry run that rows of the ledger are read, which a real execution changes.
func (s *Session) ReadsLedger() {
	if s.dry != nil {
		s.dry.readsLedger = true
	}
}

// calledByTempSchema reports whether a temporary view or trigger may have called a function.
// These belong to the connection itself.
//
// SQLite refuses a function with the flag DIRECTONLY everywhere else in a schema, except, in
// versions such as 3.40, in CHECK constraints. A constraint calls the function although the
// text of no running statement names it.
func (s *Session) calledByTempSchema(function string) (calls bool) {
	err := s.Query(`SELECT 1 FROM temp.sqlite_schema WHERE instr(lower(sql), ?)`, func(*sqlite.Stmt) { calls = true }, function)
	return calls && err == nil
}

// NewDryRun compiles a statement for a dry run, which becomes the session's payer until it is
// closed.
//
// SQLite executes one statement of a connection at a time, and statements that began earlier wait
// until this one ends, so nothing else is run dry.
func (s *Session) NewDryRun(sql string) (*DryRun, error) {
	if err := checkVerb(sql); err != nil {
		return nil, err
	}
	d := &DryRun{
		session: s, sql: sql, totals: map[chargeKey]*Total{}, groups: map[*Function]*Groups{}, cures: map[*Function]string{}, uncommitted: s.Conn.Uncommitted(),
	}
	s.dry, s.payer = d, d
	if err := d.compile(sql); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// compile compiles the statement.
func (d *DryRun) compile(sql string) (err error) {
	var tail string
	if d.stmt, tail, err = d.session.Conn.Prepare(sql); err != nil {
		return err
	}
	if sqltext.SQLite.First(tail).Text != "" {
		return errors.New("sql holds more than one statement")
	}
	if d.Program, err = vdbe.Explain(d.session.Conn, sql); err != nil {
		return err
	}
	if err := d.session.checkUndoable(d.Program); err != nil {
		return err
	}
	d.pure, err = d.session.pureFunctions()
	return err
}

// standIn returns the stand-in of a mechanism, which most rows share with the row before.
func (d *DryRun) standIn(m mechanism.Location) (lat, lon float64) {
	if d.place.of != m {
		d.place.of = m
		d.place.lat, d.place.lon = m.StandIn()
		d.place.text = AppendPoint(nil, d.place.lat, d.place.lon)
	}
	return d.place.lat, d.place.lon
}

// Close ends the dry run. Closing the statement may still finish groups, dry.
func (d *DryRun) Close() {
	if d.stmt != nil {
		d.stmt.Close()
	}
	d.session.dry = nil
	d.session.SetPayer(nil)
}

// certainty tells how much is proved of the counted charges once the dry run has ended, and why nothing is.
func (d *DryRun) certainty() (_ Certainty, doubt string) {
	settled := func(name string) bool { return d.pure.has(name) || d.session.Table.isSettled(name) }
	repeats := d.Program.Repeats(settled, d.session.Table.isFree, d.session.isComputed)
	switch {
	case d.readsLedger:
		return Guessed, "it reads the ledger, which changes while it runs"
	case d.Program.Writes() && d.Program.Calls("changes", "total_changes", "last_insert_rowid"):
		return Guessed, "it asks for rows written before, of which a dry run knows nothing"
	case repeats && d.varies:
		return Bounded, ""
	case repeats:
		return Exact, ""
	case d.Program.FiresTriggers():
		return Guessed, "it fires triggers"
	}
	return Guessed, "released or random values decide them"
}

// Run executes the statement without charging or drawing anything, and undoes its writes.
func (d *DryRun) Run() error {
	if d.Program.Writes() {
		return d.session.runAndUndo(d.stmt)
	}
	return d.stmt.Run()
}

// RunDry makes a dry run of one statement.
func (s *Session) RunDry(sql string) (*DryRun, error) {
	d, err := s.NewDryRun(sql)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d, d.Run()
}

// rule says how the groups are charged.
func (g *Groups) rule() string {
	switch {
	case g == nil:
		return ""
	case g.Separate == nil:
		return "once for all groups"
	}
	return "once per group: " + g.Separate.Error()
}

// checkUndoable returns an error for a statement that a dry run could not undo.
func (s *Session) checkUndoable(program vdbe.Program) error {
	switch {
	case program.HasParameters():
		return errors.New("sql has a parameter, which has no value in a dry run; write the value in its place")
	case program.RollsBack() && !s.Conn.AutoCommit():
		return errors.New("sql may roll back the open transaction (OR ROLLBACK)")
	case program.ChangesSchema() && len(s.Conn.Running()) > 1:
		// To undo it SQLite would abort the statements that are reading rows.
		return errors.New("sql makes a table, which cannot be dry-run while other statements run")
	}
	return nil
}

// runAndUndo executes a statement that writes, and undoes its writes.
func (s *Session) runAndUndo(stmt *sqlite.Stmt) (err error) {
	undo := "ROLLBACK TO geosql_dry_run; RELEASE geosql_dry_run"
	if s.Conn.AutoCommit() {
		undo = "ROLLBACK" // a RELEASE would be a commit
	}
	if err := s.Conn.Exec("SAVEPOINT geosql_dry_run"); err != nil {
		return err
	}
	defer func() {
		if s.Conn.AutoCommit() {
			return // SQLite has rolled back
		}
		if failed := s.Conn.Exec(undo); failed != nil {
			s.abandon(stmt, failed)
			err = cmp.Or(err, failed)
		}
	}()
	return stmt.Run()
}

const CodeInterrupt = 9

// abandon rolls back the whole transaction after a dry run could not be undone: the writes of
// the dry run must not be committed with the rest.
func (s *Session) abandon(stmt *sqlite.Stmt, failed error) {
	var e *sqlite.Error
	if errors.As(failed, &e) && e.Code == CodeInterrupt {
		// After an interrupt SQLite stops every statement, even ROLLBACK, until the
		// outermost has ended. But when it stops a statement that writes, even one
		// that has not written anything yet, it rolls the transaction back.
		_ = stmt.Run()
		return
	}
	_ = s.Conn.Exec("ROLLBACK")
}
