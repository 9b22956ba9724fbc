package sqlitefn

import (
	"cmp"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/internal/vdbe"
	"github.com/geosql/geosql/mechanism"
)

// dryRun counts what a statement would charge. While a session has one, releases check
// their arguments as always, and what they ask for is counted instead of charged.
//
// No answer of a dry run depends on a secret: a release draws with the receipt that its
// payer returns, and the receipt of a dry run draws nothing. The release then answers a
// constant that depends on its public parameters only.
type dryRun struct {
	session *session
	stmt    *sqlite.Stmt
	program vdbe.Program
	pure    functionSet
	totals  map[chargeKey]*total
	rules   map[*function]string // how the groups of the aggregates under d1 are charged
	failed  error                // of a call of a function that charges

	// place is the last stand-in for a location, and its text.
	place struct {
		of       mechanism.Location
		lat, lon float64
		text     []byte
	}

	// uncommitted tells whether the statement would begin in a transaction that has changed
	// something. The dry run of one that writes opens a transaction of its own.
	uncommitted bool

	// inexact tells that the count cannot be exact, whatever the statement. Either rows of
	// the ledger were read, which a real execution changes with every charge, or the cost of
	// a counted step depends on a draw.
	inexact bool
}

// chargeKey says which charges are counted together.
type chargeKey struct {
	function *function
	unit     budget.Unit
	account  string
}

// total is a sum of costs, which may exceed every budget: epsilon and times budget.Max.
type total struct {
	evaluations int64
	epsilon     budget.Amount
	times       int64
	perRow      bool // it is for each row of the account
	byValue     bool // it is the largest sum for any sealed value of the account
	once        bool // an account is charged in the unit only once
}

// count adds evaluations of f by an account, which cost price in all, and returns their sum.
func (d *dryRun) count(f *function, account []byte, price budget.Price, evaluations int64) *total {
	t := d.totals[chargeKey{f, price.Unit, string(account)}]
	if t == nil {
		t = new(total)
		d.totals[chargeKey{f, price.Unit, string(account)}] = t
	}
	t.evaluations += evaluations
	t.add(price.Amount)
	return t
}

// add adds an amount to the sum.
func (t *total) add(a budget.Amount) {
	if t.epsilon > budget.Max-a {
		t.epsilon -= budget.Max
		t.times++
	}
	t.epsilon += a
}

// float64 returns the sum.
func (t *total) float64() float64 {
	return float64(t.times)*budget.Max.Float64() + t.epsilon.Float64()
}

// admit returns an error while a statement of the session's own runs, and for a function of the
// owner that the schema of a database calls.
// During a dry run it also refuses functions that change something, since a dry run could
// not undo that.
func (s *session) admit(f *function) error {
	if s.own {
		return errors.New("may not be called while geosql uses its own tables: drop the trigger, view or column of this database that does so")
	}
	if f.flags&ownerOnly == 0 {
		return nil
	}
	if f.scalar != nil && !s.conn.Named(f.name) && !s.calledByTempSchema(f.name) {
		return errors.New("may not be called by the schema of a database")
	}
	if s.dry != nil && !f.reads {
		return errors.New("cannot be dry-run")
	}
	if f.table != nil {
		s.readsLedger()
	}
	return nil
}

// readsLedger tells a dry run that rows of the ledger are read, which a real execution changes.
func (s *session) readsLedger() {
	if s.dry != nil {
		s.dry.inexact = true
	}
}

// calledByTempSchema reports whether a temporary view or trigger may have called a function.
// These belong to the connection itself.
//
// SQLite refuses a function with the flag DIRECTONLY everywhere else in a schema, except, in
// versions such as 3.40, in CHECK constraints. A constraint calls the function although the
// text of no running statement names it.
func (s *session) calledByTempSchema(function string) (calls bool) {
	err := s.query(`SELECT 1 FROM temp.sqlite_schema WHERE instr(lower(sql), ?)`, func(*sqlite.Stmt) { calls = true }, function)
	return calls && err == nil
}

// newDryRun compiles a statement for a dry run, which becomes the session's payer until it is
// closed.
//
// SQLite executes one statement of a connection at a time, and those that began earlier wait
// until this one ends, so nothing else is run dry.
func (s *session) newDryRun(sql string) (*dryRun, error) {
	if err := checkVerb(sql); err != nil {
		return nil, err
	}
	d := &dryRun{
		session: s, totals: map[chargeKey]*total{}, rules: map[*function]string{}, uncommitted: s.conn.Uncommitted(),
	}
	s.dry, s.payer = d, d
	if err := d.compile(sql); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// compile compiles the statement.
func (d *dryRun) compile(sql string) (err error) {
	var tail string
	if d.stmt, tail, err = d.session.conn.Prepare(sql); err != nil {
		return err
	}
	if sqltext.SQLite.First(tail).Text != "" {
		return errors.New("sql holds more than one statement")
	}
	if d.program, err = vdbe.Explain(d.session.conn, sql); err != nil {
		return err
	}
	if err := d.session.checkUndoable(d.program); err != nil {
		return err
	}
	d.pure, err = d.session.pureFunctions()
	return err
}

// standIn returns the stand-in of a mechanism, which most rows share with the row before.
func (d *dryRun) standIn(m mechanism.Location) (lat, lon float64) {
	if d.place.of != m {
		d.place.of = m
		d.place.lat, d.place.lon = m.StandIn()
		d.place.text = appendPoint(nil, d.place.lat, d.place.lon)
	}
	return d.place.lat, d.place.lon
}

// close ends the dry run. Closing the statement may still finish groups, dry.
func (d *dryRun) close() {
	if d.stmt != nil {
		d.stmt.Close()
	}
	d.session.dry, d.session.payer = nil, charger{d.session}
}

// repeats reports whether no released value decides what the statement evaluates.
func (d *dryRun) repeats() bool { return d.program.Repeats(d.pure.has, d.session.table.isFree) }

// run executes the statement without charging or drawing anything, and undoes what it writes.
func (d *dryRun) run() error {
	s := d.session
	var err error
	if d.program.Writes() {
		err = s.runAndUndo(d.stmt)
	} else {
		err = d.stmt.Run()
	}
	return err
}

// runDry makes a dry run of one statement. It also reports whether the statement is proved to
// charge what was counted, if it runs to its end while neither data nor clock change.
func (s *session) runDry(sql string) (d *dryRun, proved bool, err error) {
	if d, err = s.newDryRun(sql); err != nil {
		return nil, false, err
	}
	defer d.close()
	if err := d.run(); err != nil {
		return nil, false, err
	}
	return d, !d.inexact && d.repeats(), nil
}

// groupRule says how the groups of an aggregate under d1 are charged, by why they are not
// proved to be disjoint.
func groupRule(missing error) string {
	if missing == nil {
		return "once for all groups"
	}
	return "once per group: " + missing.Error()
}

// checkUndoable returns an error for a statement that a dry run could not undo.
func (s *session) checkUndoable(program vdbe.Program) error {
	switch {
	case program.HasParameters():
		return errors.New("sql has a parameter, which has no value in a dry run; write the value in its place")
	case program.RollsBack() && !s.conn.AutoCommit():
		return errors.New("sql may roll back the open transaction (OR ROLLBACK)")
	case program.ChangesSchema() && len(s.conn.Running()) > 1:
		// To undo it SQLite would abort the statements that are reading rows.
		return errors.New("sql makes a table, which cannot be dry-run while other statements run")
	}
	return nil
}

// runAndUndo executes a statement that writes, and undoes what it wrote.
func (s *session) runAndUndo(stmt *sqlite.Stmt) (err error) {
	undo := "ROLLBACK TO geosql_dry_run; RELEASE geosql_dry_run"
	if s.conn.AutoCommit() {
		undo = "ROLLBACK" // a RELEASE would be a commit
	}
	if err := s.conn.Exec("SAVEPOINT geosql_dry_run"); err != nil {
		return err
	}
	defer func() {
		if s.conn.AutoCommit() {
			return // SQLite has rolled back
		}
		if failed := s.conn.Exec(undo); failed != nil {
			s.abandon(stmt, failed)
			err = cmp.Or(err, failed)
		}
	}()
	return stmt.Run()
}

const codeInterrupt = 9

// abandon rolls back the whole transaction after a dry run could not be undone: what the
// dry run wrote must not be committed with the rest.
func (s *session) abandon(stmt *sqlite.Stmt, failed error) {
	var e *sqlite.Error
	if errors.As(failed, &e) && e.Code == codeInterrupt {
		// After an interrupt SQLite stops every statement, even ROLLBACK, until the
		// outermost has ended. But when it stops a statement that writes, even one
		// that has not written anything yet, it rolls the transaction back.
		_ = stmt.Run()
		return
	}
	_ = s.conn.Exec("ROLLBACK")
}
