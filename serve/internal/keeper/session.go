package keeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
)

// Bounds of a worker's messages.
const (
	mostNotices = 10000   // during a request
	mostSaid    = 1 << 20 // bytes of these
	mostColumns = 10000
)

// shortWork is a worker's time limit for requests that need no time.
const shortWork = 10 * time.Second

// A Session belongs to a role; its SQL runs in a worker. It implements wire.Session. It is used by one goroutine at a time.
type Session struct {
	keeper *Keeper
	client wire.Client       // or nil
	end    func(*wire.Error) // ends the client's connection, or nil
	info   monitor.Session
	worker *workerProcess // set once, under the keeper's lock

	verifier wire.Verifier // of the role
	role     *role.Role    // as it was read last

	// The last number of each.
	requests, statements, rows, groupNumber uint32

	status     wire.TxStatus // of the transaction, as the worker has said last
	holding    bool          // cursors that outlive transactions, as it has said last
	running    *Rows         // the execution that the worker works on, if any
	ahead      *Rows         // for which a batch was asked that has not been taken in, if any
	evaluating atomic.Bool
	evaluators int // that its rows have
	groups     map[uint32]*openGroup
	held       int64 // bytes of memory
	values     [pipe.MaxArgs]sqlite.Value

	state atomic.Value // a monitor.State, once it has started

	idleInTransaction, idleSession time.Duration // see IdleTimeout
	statementTimeout               time.Duration // or 0: that of the role
	noPreflight                    bool          // see preflight
	epsilon                        string        // of SQL's own aggregates, or empty

	said      int // notices during the request
	saidBytes int // of these
	frame     []byte

	dead   error // why the session has ended, if it has
	reason monitor.Reason
	closed bool
}

// start starts the worker. One that died while it waited is replaced.
func (s *Session) start(ctx context.Context, parameters map[string]string) error {
	k := s.keeper
	for {
		w, waited, err := k.takeWorker()
		if err != nil {
			k.log.Error("a worker cannot be started", "error", err)
			return &wire.Error{Code: "58000", Message: "the session's process cannot be started"}
		}
		start, err := s.configure(ctx, w, parameters)
		switch {
		case err == nil && start.Error == nil:
			k.tellSandbox(start)
			k.prepareWorker()
			if s.end != nil {
				go s.watch()
			}
			return nil
		case err == nil:
			w.stop(k.options.Grace)
			return start.Error
		case waited && w.died(k.options.Grace):
			continue
		}
		s.lost(err)
		return &wire.Error{Code: "58000", Message: "the session's process does not start", Hint: "The server's log says more."}
	}
}

// configure makes a worker that of the session, and returns its answer.
func (s *Session) configure(ctx context.Context, w *workerProcess, parameters map[string]string) (start pipe.Start, err error) {
	k := s.keeper
	w.conn.Room = s.Hold
	k.mu.Lock()
	s.worker = w
	closed := k.closed
	k.mu.Unlock()
	if closed {
		w.kill(monitor.ServerStops, "the server stops")
	}
	g := s.guard(ctx, 0, k.options.Start)
	defer g.stop()
	err = w.conn.SendJSON(pipe.Configure, worker.Config{
		Path: k.options.Path, Database: k.options.Name, User: s.role.Name, ProcessID: s.info.Number, Parameters: parameters,
		Timeout: s.role.Timeout, Rows: s.role.Rows, Memory: s.memory(), IdleInTransaction: k.options.IdleInTransaction,
		IdleSession: k.options.IdleSession,
	})
	if err != nil {
		return start, err
	}
	answer, err := s.await(pipe.Started)
	if err != nil {
		return start, err
	}
	return start, pipe.Decode(answer, &start)
}

// tellSandbox logs the workers' sandbox, once.
func (k *Keeper) tellSandbox(start pipe.Start) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told {
		return
	}
	k.told = true
	k.log.Info("sessions run in processes of their own", "held by", start.Sandbox)
	if len(start.Lacks) > 0 {
		k.log.Warn("the kernel does not hold sessions by all that could hold them", "missing", start.Lacks)
	}
}

// readRole reads the role again. If it was dropped, the session ends.
func (s *Session) readRole() error {
	if s.dead != nil {
		return s.dead
	}
	r, err := s.keeper.LoggedIn(s.info.Role, s.verifier)
	if dropped, ok := errors.AsType[*wire.Error](err); ok {
		s.dead, s.reason = dropped, monitor.RoleDropped
		return s.dead
	}
	if err != nil {
		s.keeper.log.Error("the roles cannot be read", "error", err)
		return errInternal
	}
	s.role = r
	return nil
}

// A guard ends a worker's request when a context ends or the time is up: it cancels, and if that does not help, kills.
type guard struct {
	session *Session
	request uint32
	rows    *Rows // that the request is for, or nil
	unwatch func() bool
	timer   *time.Timer

	mu     sync.Mutex
	cause  error // why it was canceled
	killer *time.Timer
	over   bool
}

// guard guards a request. Its stop ends that.
func (s *Session) guard(ctx context.Context, request uint32, limit time.Duration) *guard {
	g := &guard{session: s, request: request, rows: s.running}
	g.timer = time.AfterFunc(limit, func() { g.cancel(wire.ErrTimeout) })
	g.unwatch = context.AfterFunc(ctx, func() { g.cancel(context.Cause(ctx)) })
	return g
}

func (g *guard) stop() {
	g.unwatch()
	g.timer.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.killer != nil {
		g.killer.Stop()
	}
}

// canceled returns why the request was canceled, or nil.
func (g *guard) canceled() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

func (g *guard) cancel(cause error) {
	g.mu.Lock()
	if g.over || g.cause != nil {
		g.mu.Unlock()
		return
	}
	g.cause = cause
	g.killer = time.AfterFunc(g.session.keeper.options.Grace, g.kill)
	g.mu.Unlock()
	if g.rows != nil {
		g.rows.giveUp(cause)
	}
	// If the worker does not read, this waits until it is killed.
	_ = g.session.worker.conn.Send(pipe.AppendUint32(pipe.Begin(nil, pipe.Cancel), g.request))
}

// kill kills a worker that has not stopped, unless it waits for the keeper.
func (g *guard) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.over:
	case g.session.evaluating.Load():
		g.killer.Reset(g.session.keeper.options.Grace)
	default:
		g.session.worker.kill(monitor.WorkerKilled, "it did not stop when it was told to")
	}
}

// begin begins the frame of a request, which gets a number. The worker works on nothing else then.
func (s *Session) begin(t pipe.Type) (frame []byte, number uint32) {
	s.settle()
	s.requests++
	return pipe.Begin(s.frame, t), s.requests
}

// settle takes in the batch that was asked for ahead, if there is one.
func (s *Session) settle() {
	if r := s.ahead; r != nil {
		r.next = r.await()
	}
}

// ask sends a request and returns the answer, which has to be of a type. It is valid until the next request.
func (s *Session) ask(ctx context.Context, frame []byte, want pipe.Type, limit time.Duration) (answer []byte, err error) {
	sent, err := s.keep(frame)
	if err != nil {
		return nil, err
	}
	defer sent()
	if s.dead != nil {
		return nil, s.dead
	}
	if ctx.Err() != nil {
		return nil, canceledBy(context.Cause(ctx))
	}
	err = s.during(ctx, s.requests, limit, func() (err error) {
		if err = s.worker.conn.Send(frame); err == nil {
			answer, err = s.await(want)
		}
		return err
	})
	return answer, err
}

// during calls do, which waits for the worker, while a guard watches over a request. It returns the client's error.
func (s *Session) during(ctx context.Context, request uint32, limit time.Duration, do func() error) error {
	g := s.guard(ctx, request, limit)
	defer g.stop()
	if r := s.running; r != nil {
		r.guard = g
	}
	s.said, s.saidBytes = 0, 0
	err := do()
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*failedError](err); ok {
		err = failed.shown
	} else {
		s.lost(err)
		err = s.dead
	}
	if r := s.running; r != nil && r.err != nil {
		return r.err
	}
	if cause := g.canceled(); cause != nil {
		return canceledBy(cause)
	}
	return err
}

// keep keeps the frame of a request for the next one. A large frame is not kept, but held until sent is called.
func (s *Session) keep(frame []byte) (sent func(), err error) {
	size := int64(cap(frame))
	if size <= 64<<10 {
		s.frame = frame
		return func() {}, nil
	}
	return func() { _ = s.Hold(-size) }, s.Hold(size)
}

// canceledBy returns the error of a statement that was canceled.
func canceledBy(cause error) error {
	if e, ok := errors.AsType[*wire.Error](cause); ok {
		return e
	}
	return wire.ErrCanceled
}

// A failedError is an error that a worker has answered.
type failedError struct{ shown *wire.Error }

func (e *failedError) Error() string { return e.shown.Message }

// await reads frames, and serves the worker's calls, until the answer comes.
func (s *Session) await(want pipe.Type) ([]byte, error) {
	for {
		kind, payload, err := s.worker.conn.Read()
		if err != nil {
			return nil, err
		}
		switch kind {
		case want:
			return payload, nil
		case pipe.Failed:
			e, err := s.decodeError(payload)
			if err != nil {
				return nil, err
			}
			return nil, &failedError{e}
		case pipe.Notice, pipe.Parameter:
			err = s.tell(kind, payload)
		case pipe.Group, pipe.Call, pipe.Calls:
			s.evaluating.Store(true)
			err = s.evaluate(kind, payload)
			s.evaluating.Store(false)
		default:
			err = pipe.Violation("a frame of type %q comes instead of %q", byte(kind), byte(want))
		}
		if err != nil {
			return nil, err
		}
	}
}

// decodeError reads an error of a worker, which says nothing about the connection.
func (s *Session) decodeError(payload []byte) (*wire.Error, error) {
	status, e, err := pipe.ReadFailed(payload)
	if err == nil {
		err = s.setStatus(status)
	}
	if err != nil {
		return nil, err
	}
	e.Severity = ""
	if len(e.Code) != 5 {
		e.Code = "XX000"
	}
	return e, nil
}

// setStatus notes the state of the transaction.
func (s *Session) setStatus(status wire.TxStatus) error {
	if s.holding = status == pipe.Holding; s.holding {
		status = wire.Idle
	}
	switch status {
	case wire.Idle, wire.InTransaction, wire.Failed:
		s.status = status
		return nil
	}
	return pipe.Violation("the status of a transaction is %q", byte(status))
}

// tell passes on a worker's message to the client.
func (s *Session) tell(kind pipe.Type, payload []byte) error {
	s.said++
	s.saidBytes += len(payload)
	if s.said > mostNotices || s.saidBytes > mostSaid {
		return pipe.Violation("more than %d notices, or %d bytes", mostNotices, mostSaid)
	}
	if kind == pipe.Notice {
		e := new(wire.Error)
		if err := pipe.Decode(payload, e); err != nil {
			return err
		}
		if e.Severity != "WARNING" && e.Severity != "INFO" {
			e.Severity = ""
		}
		s.notice(e)
		return nil
	}
	var setting pipe.Setting
	if err := pipe.Decode(payload, &setting); err != nil {
		return err
	}
	timeout, err := worker.ParseTimeout(setting.Value)
	switch {
	case setting.Name == worker.Epsilon:
		s.epsilon = setting.Value
	case setting.Name == worker.Preflight:
		s.noPreflight = setting.Value == "off"
	case setting.Name == worker.IdleInTransaction && err == nil:
		s.idleInTransaction = timeout
	case setting.Name == worker.IdleSession && err == nil:
		s.idleSession = timeout
	case setting.Name == worker.StatementTimeout && err == nil:
		s.statementTimeout = timeout
	}
	if s.client != nil {
		s.client.Parameter(setting.Name, setting.Value)
	}
	return nil
}

// IdleTimeout implements wire.Session. The worker can shorten the time but not lengthen it.
func (s *Session) IdleTimeout(executing bool) (time.Duration, *wire.Error) {
	if s.rest(executing) == monitor.InTransaction {
		return within(s.keeper.options.IdleInTransaction, s.idleInTransaction), wire.ErrIdleInTransaction
	}
	return within(s.keeper.options.IdleSession, s.idleSession), wire.ErrIdleSession
}

// within returns the wanted time, which is 0 for any, or the most that is allowed.
func within(most, wanted time.Duration) time.Duration {
	if wanted > 0 {
		return min(most, wanted)
	}
	return most
}

// rest notes that the session waits for its client, and returns how.
func (s *Session) rest(executing bool) monitor.State {
	state := monitor.Idle
	if executing || s.status != wire.Idle || s.holding {
		state = monitor.InTransaction
	}
	s.state.Store(state)
	return state
}

// drop ends the session of a role that has been dropped. It may be called by any goroutine.
func (s *Session) drop() {
	s.worker.kill(monitor.RoleDropped, "its role was dropped")
	if s.end != nil {
		s.end(errDropped(s.info.Role))
	}
}

func (s *Session) notice(e *wire.Error) {
	if s.client != nil {
		s.client.Notice(e)
	}
}

// watch ends the session of a client that waits for nothing when its worker ends.
func (s *Session) watch() {
	<-s.worker.exited
	if reason, _ := s.worker.killed(); reason != "" && s.state.Load() != monitor.Active {
		s.end(s.endedBy(reason))
	}
}

// endedBy returns the client's error for the end of its worker.
func (s *Session) endedBy(reason monitor.Reason) *wire.Error {
	switch reason {
	case monitor.ServerStops:
		return errStops
	case monitor.RoleDropped:
		return errDropped(s.info.Role)
	}
	return &wire.Error{Severity: "FATAL", Code: "57P01", Message: "the session's process has ended",
		Hint: "It probably used more memory or time than allowed. The server's log says more."}
}

// lost ends the session since its worker is lost: it has ended, or is killed because it broke the protocol.
func (s *Session) lost(err error) {
	w, k := s.worker, s.keeper
	refused, _ := errors.AsType[*wire.Error](err) // memory for a frame
	if violation, ok := errors.AsType[*pipe.ViolationError](err); ok {
		w.kill(monitor.WorkerKilled, "it broke the protocol: "+violation.Reason)
	} else if refused != nil {
		w.kill(monitor.WorkerKilled, refused.Message)
	}
	select {
	case <-w.exited:
	case <-time.After(k.options.Grace): // the stream is broken, and the process there
		w.kill(monitor.WorkerKilled, "it closed its stream")
	}
	reason, why := w.killed()
	s.reason = reason
	ended := s.endedBy(reason)
	if s.dead = ended; reason == monitor.ServerStops || reason == monitor.RoleDropped {
		return
	}
	if refused != nil {
		*ended = *refused
		ended.Severity = "FATAL"
	}
	k.log.Warn("a worker was lost", "session", s.info.Number, "role", s.info.Role, "remote", addressOf(s.info.Remote),
		"killed because", why, "ended with", w.ending(), "stderr", w.tail.String())
}

// broke ends the session since its worker broke the protocol, and returns why that is the end.
func (s *Session) broke(err error) error {
	if s.dead == nil {
		s.lost(err)
	}
	return s.dead
}

// send sends a frame that has no answer.
func (s *Session) send(frame []byte) {
	s.settle()
	if s.dead != nil {
		return
	}
	g := s.guard(context.Background(), 0, shortWork)
	defer g.stop()
	if err := s.worker.conn.Send(frame); err != nil {
		s.lost(err)
	}
}

// Ready implements wire.Session.
func (s *Session) Ready(failed bool) wire.TxStatus {
	if s.dead != nil {
		return wire.Idle
	}
	if !failed || s.status != wire.InTransaction { // the worker has said so with its last answer
		return s.status
	}
	frame, number := s.begin(pipe.Ready)
	answer, err := s.ask(context.Background(), pipe.AppendUint32(frame, number), pipe.Status, shortWork)
	if err != nil {
		return wire.Idle
	}
	r := pipe.NewReader(answer)
	status := wire.TxStatus(r.Byte())
	if err = r.End(); err == nil {
		err = s.setStatus(status)
	}
	if err != nil {
		_ = s.broke(err)
		return wire.Idle
	}
	return status
}

// Close implements wire.Session.
func (s *Session) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.keeper.forget(s)
	_ = s.Hold(-s.held)
	reason, _ := s.worker.killed()
	if reason == monitor.WorkerDied && s.dead == nil {
		s.lost(nil) // while it waited for its client
	}
	s.worker.stop(s.keeper.options.Grace)
	reason = cmp.Or(s.reason, reason)
	if reason == "" {
		reason = monitor.ClientLeft
	}
	s.keeper.options.Observer.SessionEnded(s.info, reason)
	if s.dead == nil {
		s.dead = errStops
	}
}

// marshal returns a value in JSON that can be marshalled.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
