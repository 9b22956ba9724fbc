package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// store keeps a ledger. It has the methods of [engine.Store] that do not count references.
type store struct {
	pool  *pgxpool.Pool
	id    string // of the ledger
	queue engine.Queue
	clock clock

	// turn has an element during a transaction.
	turn   chan struct{}
	writer *writer // nil until something is written
	noted  int64   // when the program was noted, 0 before

	limits struct {
		sync.Mutex
		revision int64 // of the last limit that was looked at
	}

	warning  atomic.Pointer[warning] // the last one of the server
	outdated atomic.Bool             // the owner has accepted a loss
	closed   atomic.Bool
}

// warning is a warning of the server on a connection.
type warning struct {
	conn *pgconn.PgConn
	text string
}

// Now implements [engine.Store].
func (s *store) Now() int64 { return s.clock.now() }

// shutdown closes the connections and gives up the writer.
func (s *store) shutdown() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.closed.Store(true)
	s.pool.Close()
	if s.writer == nil {
		return nil
	}
	return s.writer.file.Close()
}

// plan is known of a transaction before it begins.
type plan struct {
	keys  []engine.Key // their balances are locked
	alone bool         // whether no other transaction may run beside it
}

// again is the error of a transaction that has to run again, with more in its plan.
type again struct{}

func (again) Error() string { return "the transaction has to run again" }

// Update implements [engine.Store].
func (s *store) Update(ctx context.Context, needs engine.Needs, work func(engine.Transaction) error) error {
	if needs != nil {
		for k := range needs { // before others share the transaction
			if err := checkKey(k); err != nil {
				return err
			}
		}
	}
	return s.queue.Do(&engine.Job{Context: ctx, Needs: needs, Work: work})
}

// enter waits for this process's turn. Others can join until it has come.
func (s *store) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// commit runs the jobs that wait in a transaction, and ends the turn.
func (s *store) commit() error {
	defer func() { <-s.turn }()
	return s.run(s.queue.Take())
}

// update runs work in a transaction, as Update does.
func (s *store) update(work func(*transaction) error) error {
	return engine.Wrap(s.Update(context.Background(), nil, func(t engine.Transaction) error { return work(t.(*transaction)) }))
}

// attempts bounds how often a transaction runs that others come in the way of.
const attempts = 100

// run runs jobs in a transaction, all or none, until a caller gives up. It is called in turn.
func (s *store) run(jobs []*engine.Job) error {
	if engine.GivenUp(jobs) {
		return engine.ErrGaveUp
	}
	ctx, end := engine.Within(jobs)
	defer end()
	err := s.runAll(ctx, jobs)
	if err != nil && ctx.Err() != nil && !engine.Is[*engine.InDoubtError](err) {
		return engine.ErrGaveUp
	}
	return err
}

// runAll runs jobs in a transaction, all or none, until the context is done.
func (s *store) runAll(ctx context.Context, jobs []*engine.Job) error {
	var p plan
	for _, j := range jobs {
		if j.Needs != nil {
			p.keys = slices.AppendSeq(p.keys, iter.Seq[engine.Key](j.Needs))
		}
	}
	return retry(ctx, func(soon context.Context) error { return s.runOnce(ctx, soon, jobs, &p) })
}

// retry tries something that stores nothing if it fails, until it succeeds, others have come in its
// way too often, the server is away for too long, or the context is done.
func retry(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	for n := 1; ; n++ {
		err := try(ctx)
		switch {
		case err == nil || n == attempts || !canRunAgain(err):
			return explainConnect(err)
		case engine.Is[again](err):
			continue
		case time.Since(began) > away || pause(ctx, n) != nil:
			return explainConnect(err)
		}
	}
}

// canRunAgain reports whether nothing is stored after an error, and the transaction may succeed if
// it runs again.
func canRunAgain(err error) bool {
	const (
		uniqueViolation    = "23505" // somebody has added the missing row
		serialization      = "40001"
		deadlock           = "40P01"
		lockNotAvailable   = "55P03" // of a balance that was not in the plan
		adminShutdown      = "57P01"
		crashShutdown      = "57P02"
		cannotConnectNow   = "57P03"
		idleInTransaction  = "25P03"
		tooManyConnections = "53300"
	)
	return engine.Is[again](err) || engine.Is[*lostError](err) || hasCode(err, uniqueViolation, serialization, deadlock, lockNotAvailable,
		adminShutdown, crashShutdown, cannotConnectNow, idleInTransaction, tooManyConnections)
}

// pause waits before the next attempt, longer and longer, at most until the context is done.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(time.Duration(attempt)*5*time.Millisecond, 500*time.Millisecond)):
		return nil
	}
}

// lostError is the error of a connection that was lost, or that could not be made, while nothing
// can have been stored.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Is makes it an [ledger.ErrUnreachable].
func (e *lostError) Is(target error) bool { return target == ledger.ErrUnreachable }

// lost returns a lostError for errors that are not the server's answer to a statement.
func lost(err error) error {
	if err == nil || err == engine.ErrClosed || engine.Is[*pgconn.PgError](err) || engine.Is[*lostError](err) {
		return err
	}
	return &lostError{err}
}

// acquire returns a connection on which the server answers.
func (s *store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for {
		if s.closed.Load() {
			return nil, engine.ErrClosed
		}
		conn, err := s.pool.Acquire(ctx)
		if err != nil {
			return nil, lost(explainAcquire(err))
		}
		if answers(ctx, conn) {
			return conn, nil
		}
		discard(conn)
	}
}

// answers reports whether the server answers on a connection, unless it was used a moment ago.
func answers(ctx context.Context, conn *pgxpool.Conn) bool {
	data := conn.Conn().PgConn().CustomData()
	last, used := data["used"].(time.Time)
	data["used"] = time.Now()
	if !used || time.Since(last) < time.Second {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	return conn.Ping(ctx) == nil
}

// runOnce runs jobs in a transaction, which begins and ends soon. In between it takes as long as it needs to.
func (s *store) runOnce(ctx, soon context.Context, jobs []*engine.Job, p *plan) error {
	t, err := s.begin(soon, p)
	if err != nil {
		return err
	}
	defer t.end() // also if a job panics
	t.ctx = ctx
	err = engine.RunJobs(jobs, t)
	switch {
	case t.again: // whatever a job made of the error
		return again{}
	case err != nil:
		return err
	case t.written == 0:
		return nil
	}
	if err := t.commit(soon); err != nil {
		return err
	}
	t.end()
	s.noteProgram(soon, t.now)
	return nil
}

// noteProgram notes that this program writes to the ledger, if it has not done so for a while. Nothing depends on
// that: a role may not be allowed to do it, and a server that is away need not be waited for.
func (s *store) noteProgram(ctx context.Context, now int64) {
	if s.noted != 0 && now-s.noted < engine.ProgramPause {
		return
	}
	s.noted = now
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = transact(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
INSERT INTO geosql.meta AS m SELECT $1::text, n.now || ' ' || n.now FROM (SELECT $2::bigint AS now) AS n
WHERE NOT EXISTS (SELECT FROM geosql.meta WHERE key = $1 AND split_part(value, ' ', 2)::bigint > n.now - $3)
ON CONFLICT (key) DO UPDATE SET value = split_part(m.value, ' ', 1) || ' ' || $2`, engine.ThisProgram(), now, engine.ProgramPause)
		return err
	})
}

// View implements [engine.Store].
func (s *store) View(ctx context.Context, work func(engine.Reader) error) error {
	return s.view(ctx, func(r *reader) error { return work(r) })
}

// view lets work read one state of the stored ledger, until the context is done.
func (s *store) view(ctx context.Context, work func(*reader) error) error {
	r, err := s.beginView(ctx)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // also if work panics
			discard(r.conn)
		}
	}()
	err = work(r)
	ending, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	// The data read is one state, whether or not the server hears of its end.
	if _, failed := r.conn.Exec(ending, "COMMIT"); failed == nil {
		ended = true
		r.conn.Release()
	}
	return err
}

// beginView begins a transaction that reads. It looks for a server that is away for a while.
func (s *store) beginView(ctx context.Context) (r *reader, err error) {
	err = retry(ctx, func(soon context.Context) error {
		r, err = s.tryView(soon)
		return err
	})
	if err == nil {
		r.ctx = ctx
	}
	return r, err
}

// tryView begins a transaction that reads.
func (s *store) tryView(ctx context.Context) (*reader, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	batch.Queue(pinSQL)
	var now int64
	var recovery bool
	batch.Queue("SELECT geosql.now(), pg_is_in_recovery()").QueryRow(func(row pgx.Row) error { return row.Scan(&now, &recovery) })
	sent := moment(time.Now())
	err = lost(conn.SendBatch(ctx, batch).Close())
	if err == nil && recovery {
		err = errRecovery
	}
	if err != nil {
		discard(conn)
		return nil, err
	}
	s.clock.set(now, sent)
	return &reader{store: s, conn: conn, now: now}, nil
}

// discard closes a connection that may be in a transaction, or has no end any more: its place in the pool is free at once.
func discard(conn *pgxpool.Conn) {
	lone := conn.Hijack()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
		defer cancel()
		_ = lone.Close(ctx) // there is an earlier error
	}()
}

// LimitsSet implements [engine.Store].
func (s *store) LimitsSet(work func(engine.Reader, []engine.Key) error) error {
	s.limits.Lock()
	defer s.limits.Unlock()
	set, err := s.limitsSet()
	if err != nil || !set {
		return err
	}
	look := func(r *reader) error {
		keys, revision, err := r.limitsSince(s.limits.revision)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := work(r, keys); err != nil {
			return err
		}
		s.limits.revision = revision
		return nil
	}
	return retry(context.Background(), func(ctx context.Context) error { return s.view(ctx, look) }) // the next call would look again too
}

// limitsSet reports whether limits were set since the last look.
func (s *store) limitsSet() (set bool, err error) {
	var revision int64
	err = retry(context.Background(), func(ctx context.Context) error {
		var recovery bool
		err := s.tryRow(ctx, "SELECT coalesce(max(revision), 0), pg_is_in_recovery() FROM geosql.budget", &revision, &recovery)
		if err == nil && recovery {
			err = errRecovery
		}
		return err
	})
	return revision != s.limits.revision, err
}

// tryRow reads the one row that a query answers.
func (s *store) tryRow(ctx context.Context, sql string, to ...any) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	if err := queryRow(ctx, conn, sql, nil, to...); err != nil {
		discard(conn)
		return lost(err)
	}
	conn.Release()
	return nil
}

var (
	errAnswer   = errors.New("the answer of the server is none of a ledger")
	errRecovery = errors.New("the server is a standby in recovery, which cannot keep a ledger; connect to the primary")
)

// errNotDurable is the error of a server that may forget committed data.
func errNotDurable(setting, value, cure string) error {
	return fmt.Errorf("the server may forget charges: %s is %s; %s", setting, value, cure)
}
