package keeper

import (
	"sync"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// An evaluator evaluates functions over sealed values, as sqlitefn.Evaluator does.
type evaluator interface {
	Begin(a sqlitefn.Analyst, quote bool) evaluation
	Close()
}

// An evaluation is that of one statement, as sqlitefn.Evaluation is.
type evaluation interface {
	Call(function string, args []sqlite.Value) (sqlitefn.Released, error)
	Group(function string, args int) (group, error)
	Limit(quoted sqlitefn.Report)
	Report() sqlitefn.Report
	End()
}

// A group is one of an aggregate, as sqlitefn.EvaluatedGroup is.
type group interface {
	Step(args []sqlite.Value) error
	Final() (sqlitefn.Released, error)
	Drop()
}

// openEvaluator opens an evaluator with a connection of its own.
func (k *Keeper) openEvaluator() (evaluator, error) {
	conn, err := sqlite.Open(k.options.Path, sqlite.ReadOnly)
	if err != nil {
		return nil, err
	}
	conn.BusyTimeout(busyTimeout)
	err = conn.Exec("PRAGMA trusted_schema = OFF")
	if err == nil {
		err = sqlitefn.Attach(conn.Handle(), sqlitefn.WithKeyring(k.options.Keyring),
			sqlitefn.WithLedger(k.options.Ledger), sqlitefn.WithLedgerMode(k.options.LedgerMode))
	}
	var e *sqlitefn.Evaluator
	if err == nil {
		e, err = sqlitefn.NewEvaluator(conn.Handle(), k.questions)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &connEvaluator{conn, e}, nil
}

// A connEvaluator is an evaluator with its connection.
type connEvaluator struct {
	conn      *sqlite.Conn
	evaluator *sqlitefn.Evaluator
}

func (e *connEvaluator) Begin(a sqlitefn.Analyst, quote bool) evaluation {
	return &connEvaluation{e.evaluator.Begin(a, quote)}
}

func (e *connEvaluator) Close() { _ = e.conn.Close() }

type connEvaluation struct{ *sqlitefn.Evaluation }

func (e *connEvaluation) Group(function string, args int) (group, error) {
	g, err := e.Evaluation.Group(function, args)
	if err != nil {
		return nil, err // not a nil *EvaluatedGroup
	}
	return g, nil
}

// mostSpare is how many evaluators wait for the next statement.
const mostSpare = 8

// A pool keeps evaluators. One serves a statement that asks about sealed values, from its first call until it ends; so
// sessions that ask nothing have none.
type pool struct {
	open func() (evaluator, error)

	mu     sync.Mutex
	spare  []evaluator
	closed bool
}

func (p *pool) get() (evaluator, error) {
	p.mu.Lock()
	if n := len(p.spare); n > 0 {
		e := p.spare[n-1]
		p.spare = p.spare[:n-1]
		p.mu.Unlock()
		return e, nil
	}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, errStops
	}
	return p.open()
}

// put takes an evaluator back, whose evaluation has ended.
func (p *pool) put(e evaluator) {
	p.mu.Lock()
	keep := !p.closed && len(p.spare) < mostSpare
	if keep {
		p.spare = append(p.spare, e)
	}
	p.mu.Unlock()
	if !keep {
		e.Close()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	spare := p.spare
	p.spare, p.closed = nil, true
	p.mu.Unlock()
	for _, e := range spare {
		e.Close()
	}
}
