package sqlitefn

import (
	"cmp"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/vdbe"
)

// dryRun counts what a statement would charge. While a session has one, releases
// check their arguments as always, and what they ask for is counted here instead
// of being charged.
//
// No answer of a dry run depends on a secret: a release draws with the hand that its
// payer returns, and that of a dry run draws nothing. What a release then answers is a
// constant of its public parameters.
type dryRun struct {
	session *session
	totals  map[chargeKey]*total
	// varies tells that the count cannot be exact, whatever the statement: rows of
	// the ledger were read, which in a real run change with every charge, or what
	// was counted costs what comes of a draw.
	inexact bool
}

// spend is what is counted apart.
type chargeKey struct {
	function *function
	unit     budget.Unit
	account  string
}

// total is a sum of costs, which may exceed every budget.
type total struct {
	evaluations int64
	epsilon     budget.Amount // and times budget.Max
	times       int64
}

func (d *dryRun) count(f *function, account []byte, price budget.Price, evaluations int64) {
	t := d.totals[chargeKey{f, price.Unit, string(account)}]
	if t == nil {
		t = new(total)
		d.totals[chargeKey{f, price.Unit, string(account)}] = t
	}
	t.evaluations += evaluations
	if t.epsilon > budget.Max-price.Amount {
		t.epsilon -= budget.Max
		t.times++
	}
	t.epsilon += price.Amount
}

func (t *total) float64() float64 {
	return float64(t.times)*budget.Max.Float64() + t.epsilon.Float64()
}

// admit refuses what the owner alone may call where the schema of a database calls it, and
// within a dry run what changes something, which a dry run could not take back.
func (s *session) admit(f *function) error {
	if f.flags&ownerOnly == 0 {
		return nil
	}
	if f.scalar != nil && !s.conn.Named(f.name) && !s.calledByTempSchema(f.name) {
		return errors.New("may not be called by the schema of a database")
	}
	if s.dry == nil {
		return nil
	}
	if !f.reads {
		return errors.New("cannot be dry-run")
	}
	if f.table != nil {
		s.dry.inexact = true
	}
	return nil
}

// calledByTempSchema reports whether a temporary view or trigger may have called a function. These
// are the connection's own.
//
// SQLite refuses a function with the flag DIRECTONLY in all else that a schema holds, but in
// versions such as 3.40 not in CHECK constraints: those call what the text of no running
// statement names.
func (s *session) calledByTempSchema(function string) (calls bool) {
	err := s.query(`SELECT 1 FROM temp.sqlite_schema WHERE instr(lower(sql), ?)`, func(*sqlite.Stmt) { calls = true }, function)
	return calls && err == nil
}

// runDry runs one statement without charging or drawing anything, and undoes what
// it writes. It also reports whether the statement is proved to charge what was
// counted, if it comes to its end while neither data nor clock change.
func (s *session) runDry(sql string) (d *dryRun, proved bool, err error) {
	if err := checkVerb(sql); err != nil {
		return nil, false, err
	}
	// SQLite runs one statement of a connection at a time, and those it has
	// begun before stand still until this one ends: nothing else is run dry. The
	// end comes after the statement is closed, which may still finish groups.
	d = &dryRun{session: s, totals: map[chargeKey]*total{}}
	s.dry, s.payer = d, d
	defer func() { s.dry, s.payer = nil, charger{s} }()

	stmt, tail, err := s.conn.Prepare(sql)
	if err != nil {
		return nil, false, err
	}
	defer stmt.Close()
	if skipBlank(tail) != "" {
		return nil, false, errors.New("sql holds more than one statement")
	}
	program, err := s.explain(sql)
	if err != nil {
		return nil, false, err
	}
	if err := s.checkUndoable(program); err != nil {
		return nil, false, err
	}
	if program.Writes() {
		err = s.runAndUndo(stmt)
	} else {
		err = stmt.Run()
	}
	if err != nil {
		return nil, false, err
	}
	pure, err := s.pureFunctions()
	if err != nil {
		return nil, false, err
	}
	return d, !d.inexact && program.Repeats(pure.has), nil
}

// checkUndoable refuses a statement that a dry run could not make undone.
func (s *session) checkUndoable(program vdbe.Program) error {
	switch {
	case program.HasParameters():
		return errors.New("sql has a parameter, which has no value in a dry run; write the value in its place")
	case program.RollsBack() && !s.conn.AutoCommit():
		return errors.New("sql may roll back the open transaction (OR ROLLBACK)")
	case program.ChangesSchema() && s.conn.Running() > 1:
		// To take a table back SQLite stops all that stand on rows of tables.
		return errors.New("sql makes a table, which cannot be dry-run while other statements run")
	}
	return nil
}

// runAndUndo runs a statement that writes and undoes it.
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
			return // SQLite has rolled back by itself
		}
		if failed := s.conn.Exec(undo); failed != nil {
			s.abandon(stmt, failed)
			err = cmp.Or(err, failed)
		}
	}()
	return stmt.Run()
}

const codeInterrupt = 9

// abandon rolls back the whole transaction after what was to undo a dry run has
// failed: what the dry run wrote must not be committed with the rest.
func (s *session) abandon(stmt *sqlite.Stmt, failed error) {
	var e *sqlite.Error
	if errors.As(failed, &e) && e.Code == codeInterrupt {
		// An interrupt stops every statement until the outermost has ended,
		// ROLLBACK too. But stopping one that writes, be it before it writes
		// anything, SQLite rolls the transaction back.
		_ = stmt.Run()
		return
	}
	_ = s.conn.Exec("ROLLBACK")
}
