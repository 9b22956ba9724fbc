package keeper

import (
	"sync"
	"time"

	"github.com/geosql/geosql/internal/interval"
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
	Put(function string, args []sqlite.Value) error
	Answers() ([]sqlitefn.Released, error)
	Group(function string, args int) (group, error)
	Limit(quoted sqlitefn.Report)
	Recall(only bool)
	Report() sqlitefn.Report
	Intervals() interval.Of
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

// spareTime is the time that an evaluator waits for the next statement. Opening one reads the names of all accounts.
const spareTime = time.Minute

// A pool keeps evaluators. One serves a statement that asks about sealed values, from its first call until it ends; so
// sessions that ask nothing have none.
type pool struct {
	open   func() (evaluator, error)
	memory *memory // of the spare ones

	mu     sync.Mutex
	spare  []spare // the one that was used last is the last
	closed bool
	timer  *time.Timer // of the oldest; nil if there is none
}

// A spare is an evaluator that waits.
type spare struct {
	evaluator
	since time.Time
	size  int64
}

func (p *pool) get() (evaluator, error) {
	p.mu.Lock()
	if n := len(p.spare); n > 0 {
		s := p.spare[n-1]
		p.spare = p.spare[:n-1]
		p.mu.Unlock()
		_ = p.memory.take(-s.size)
		return s.evaluator, nil
	}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, errStops
	}
	return p.open()
}

// put takes an evaluator back after its evaluation, or closes it if there is no memory for it.
func (p *pool) put(e evaluator, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.memory.take(size) != nil {
		e.Close()
		return
	}
	p.spare = append(p.spare, spare{e, time.Now(), size})
	if p.timer == nil {
		p.timer = time.AfterFunc(spareTime, p.trim)
	}
}

// trim closes the evaluators that have waited too long.
func (p *pool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, old := time.Now(), 0
	for old < len(p.spare) && now.Sub(p.spare[old].since) >= spareTime {
		old++
	}
	p.closeFirst(old)
	p.timer = nil
	if len(p.spare) > 0 && !p.closed {
		p.timer = time.AfterFunc(p.spare[0].since.Add(spareTime).Sub(now), p.trim)
	}
}

// drop closes the spare evaluators to free their memory, and reports whether there were any.
func (p *pool) drop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.spare)
	p.closeFirst(n)
	return n > 0
}

// close closes the idle evaluators, and those put back from now on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.closeFirst(len(p.spare))
}

func (p *pool) closeFirst(n int) {
	for _, s := range p.spare[:n] {
		s.Close()
		_ = p.memory.take(-s.size)
	}
	p.spare = p.spare[n:]
}
