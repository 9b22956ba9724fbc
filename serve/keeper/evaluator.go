package keeper

import (
	"sync"
	"time"

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
	conn, err := k.connect()
	if err != nil {
		return nil, err
	}
	err = sqlitefn.Attach(conn.Handle(), sqlitefn.WithKeyring(k.options.Keyring), sqlitefn.WithLedger(k.options.Ledger))
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

// spareTime is how long an evaluator waits for the next statement. Opening one reads the names of all accounts.
const spareTime = time.Minute

// A pool keeps evaluators. One serves a statement that asks about sealed values, from its first call until it ends; so
// sessions that ask nothing have none.
type pool struct {
	open func() (evaluator, error)

	mu     sync.Mutex
	spare  []spare // the one that was used last is the last
	closed bool
	timer  *time.Timer // of the oldest; nil if there is none
}

// A spare is an evaluator that waits.
type spare struct {
	evaluator
	since time.Time
}

func (p *pool) get() (evaluator, error) {
	p.mu.Lock()
	if n := len(p.spare); n > 0 {
		e := p.spare[n-1].evaluator
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
	defer p.mu.Unlock()
	if p.closed {
		e.Close()
		return
	}
	p.spare = append(p.spare, spare{e, time.Now()})
	if p.timer == nil {
		p.timer = time.AfterFunc(spareTime, p.trim)
	}
}

// trim closes the evaluators that have waited too long.
func (p *pool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for len(p.spare) > 0 && now.Sub(p.spare[0].since) >= spareTime {
		p.spare[0].Close()
		p.spare = p.spare[1:]
	}
	p.timer = nil
	if len(p.spare) > 0 && !p.closed {
		p.timer = time.AfterFunc(p.spare[0].since.Add(spareTime).Sub(now), p.trim)
	}
}

// close closes those that wait, and those that are put back from now on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, e := range p.spare {
		e.Close()
	}
	p.spare = nil
}
