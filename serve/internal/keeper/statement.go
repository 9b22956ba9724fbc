package keeper

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// batchBytes is how large a batch of rows is that the keeper asks for.
const batchBytes = 128 << 10

// A Statement is a prepared statement. It implements wire.Statement.
type Statement struct {
	session    *Session
	number     uint32
	sql        string
	parameters []uint32
	columns    []wire.Column
	questions  pipe.Questions
	again      question // that the next execution may ask
	closed     bool
}

// Prepare implements wire.Session.
func (s *Session) Prepare(ctx context.Context, sql string, parameterTypes []uint32) (wire.Statement, string, error) {
	st, rest, err := s.Compile(ctx, sql, parameterTypes)
	if st == nil {
		return nil, rest, err // not a nil *Statement
	}
	return st, rest, err
}

// Compile is Prepare with a concrete result type.
func (s *Session) Compile(ctx context.Context, sql string, parameterTypes []uint32) (*Statement, string, error) {
	before, first, rest := sqltext.PostgreSQL.Split(sql, sqltext.Budget{}) // here, so that a worker is not sent the rest of the text again for each statement
	if first.SQL == "" {
		return nil, "", nil
	}
	began := time.Now()
	s.state.Store(monitor.Active)
	st, err := s.compile(ctx, first.SQL, parameterTypes)
	if err != nil {
		s.rest(false)
		if s.role != nil {
			s.observe(monitor.Statement{Began: began, SQL: first.SQL}, err)
		}
		return nil, "", wire.Moved(err, before)
	}
	return st, rest, nil
}

func (s *Session) compile(ctx context.Context, sql string, types []uint32) (*Statement, error) {
	if err := s.readRole(); err != nil {
		return nil, err
	}
	if err := dialect.CheckLength(sql); err != nil {
		return nil, &wire.Error{Code: "54000", Message: err.Error()}
	}
	s.statements++
	number := s.statements
	frame, request := s.begin(pipe.Prepare)
	frame = pipe.AppendPrepare(frame, request, number, types, sql)
	answer, err := s.ask(ctx, frame, pipe.Prepared, s.role.Timeout)
	if err != nil {
		return nil, err
	}
	var prepared pipe.Statement
	if err := pipe.Decode(answer, &prepared); err != nil {
		return nil, s.broke(err)
	}
	if len(prepared.Columns) > mostColumns || len(prepared.Parameters) > 1<<16-1 {
		return nil, s.broke(pipe.Violation("a statement has %d columns and %d parameters", len(prepared.Columns), len(prepared.Parameters)))
	}
	return &Statement{session: s, number: number, sql: sql, parameters: prepared.Parameters, columns: prepared.Columns,
		questions: prepared.Questions}, nil
}

// Parameters implements wire.Statement.
func (st *Statement) Parameters() []uint32 { return st.parameters }

// Columns implements wire.Statement.
func (st *Statement) Columns() []wire.Column { return st.columns }

// Close implements wire.Statement.
func (st *Statement) Close() {
	if !st.closed {
		st.closed = true
		st.again.forget(st.session)
		st.session.send(pipe.AppendUint32(pipe.Begin(nil, pipe.CloseStatement), st.number))
		st.session.rest(false)
	}
}

// Query implements wire.Statement.
func (st *Statement) Query(ctx context.Context, args []any) (wire.Rows, error) {
	r, err := st.Run(ctx, args)
	if err != nil {
		return nil, err // not a nil *Rows
	}
	return r, nil
}

// Run is Query with a concrete result type.
func (st *Statement) Run(ctx context.Context, args []any) (*Rows, error) {
	foretold, err := st.preflight(ctx, args)
	if err != nil {
		return nil, err
	}
	return st.run(ctx, &Rows{foretold: foretold, expects: true, args: args}, args)
}

// RunWithin is Run with a quote. A call that would make the statement cost more than the quote fails with a
// *sqlitefn.OverQuoteError.
func (st *Statement) RunWithin(ctx context.Context, args []any, quoted sqlitefn.Report) (*Rows, error) {
	return st.run(ctx, &Rows{quoted: &quoted}, args)
}

// Quote returns the cost that the statement would have. It charges and draws nothing. It is an error if answers decide which other
// questions the statement asks, unless the session has no preflights.
func (st *Statement) Quote(ctx context.Context, args []any) (sqlitefn.Report, error) {
	r, err := st.quote(ctx, args)
	if err != nil {
		return sqlitefn.Report{}, err
	}
	r.foretold.forget(st.session)
	return r.Report(), nil
}

// quote returns an execution that has ended, with its report and the calls that it has told. The caller forgets these.
func (st *Statement) quote(ctx context.Context, args []any) (*Rows, error) {
	if st.questions.Uncertain && !st.session.noPreflight {
		return nil, errUncertain
	}
	r, err := st.run(ctx, &Rows{quote: true}, args)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for err == nil {
		_, err = r.Values()
	}
	if err == io.EOF {
		err = r.err
	}
	if err != nil {
		r.foretold.forget(st.session)
		return nil, err
	}
	return r, nil
}

// run begins an execution.
func (st *Statement) run(ctx context.Context, r *Rows, args []any) (*Rows, error) {
	s := st.session
	s.state.Store(monitor.Active)
	r.session, r.statement, r.ctx, r.began = s, st, ctx, time.Now()
	r.waits, r.giveUp = context.WithCancelCause(ctx)
	err := r.start(args)
	if err != nil {
		r.failed(err)
		r.Close()
		r.foretold.forget(s)
		return nil, err
	}
	return r, nil
}

// start asks the worker to begin.
func (r *Rows) start(args []any) error {
	s, st := r.session, r.statement
	if err := s.readRole(); err != nil {
		return err
	}
	r.role = s.role
	s.rows++
	r.number = s.rows
	frame, request := s.begin(pipe.Query)
	frame, err := pipe.AppendQuery(frame, request, st.number, pipe.FetchRequest{Rows: r.number, Bytes: batchBytes}, r.tells(), args)
	if err != nil {
		return err
	}
	if pipe.Len(frame) > pipe.MaxLarge {
		return &wire.Error{Code: "54000", Message: "the parameters of a statement have more than 16 MB"}
	}
	r.next, err = r.ask(frame, request, r.begun)
	return err
}

// begun takes in how the worker has begun.
func (r *Rows) begun() error {
	s := r.session
	answer, err := s.await(pipe.Queried)
	if err != nil {
		return err
	}
	var execution pipe.Execution
	if err := pipe.Decode(answer, &execution); err != nil {
		return err
	}
	r.there, r.free = true, execution.Free
	s.ahead = r // the first rows
	r.columns = len(r.statement.columns)
	if r.copied = execution.Copy; r.copied == nil {
		return nil
	}
	if r.columns = len(r.copied.Columns); r.columns > mostColumns {
		return pipe.Violation("a copy has %d columns", r.columns)
	}
	if err := r.copied.Check(); err != nil { // before a row is paid for that cannot be sent
		return &failedError{asWireError(err)}
	}
	return nil
}

func asWireError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return errInternal
}

// Rows are the rows of an execution. They implement wire.Rows.
type Rows struct {
	session   *Session
	statement *Statement
	role      *role.Role // at the beginning
	number    uint32
	there     bool // whether the worker has them
	ctx       context.Context
	guard     *guard // of the request that the worker works on
	began     time.Time
	worked    time.Duration // used of the role's time

	copied  *wire.Copy
	columns int
	free    bool   // whether it calls no function, as the worker says
	request uint32 // of the last batch

	expects  bool // whether it may ask the question that its statement has asked before
	args     []any
	expected bool   // whether one was answered before the worker has asked it
	asks     int    // frames of the worker that call functions
	group    []byte // the first of them, if it is a small group

	batch  *batch // Next returns its rows
	next   *batch // that has been taken in, if any
	header pipe.BatchHeader

	quote         bool
	quoted        *sqlitefn.Report
	foretold      foretelling
	waits         context.Context // for the ledger
	giveUp        context.CancelCauseFunc
	evaluator     evaluator
	evaluatorSize int64 // bytes that are held for it
	outdated      bool  // its ledger has to be opened anew
	evaluation    evaluation
	ended         bool  // the evaluation has, or there will be none
	err           error // of the evaluation, as the client sees it
	report        sqlitefn.Report
	intervals     interval.Of
	ledger        time.Duration

	total, bytes int64
	state        error // of the execution
	closed       bool
}

// A batch holds rows.
type batch struct {
	reader pipe.Reader
	buffer []byte
	shown  int64  // bytes that are held for its rows as the client gets them
	left   uint32 // rows
	header pipe.BatchHeader
	err    error // behind the rows
}

// ask sends a request for rows, calls first, and takes the rows in. Calls of the worker meanwhile belong to the
// execution.
func (r *Rows) ask(frame []byte, request uint32, first func() error) (*batch, error) {
	s := r.session
	sent, err := s.keep(frame)
	if err != nil {
		return nil, err
	}
	defer sent()
	switch {
	case s.dead != nil:
		return nil, s.dead
	case r.ctx.Err() != nil:
		return nil, canceledBy(context.Cause(r.ctx))
	case r.worked >= r.role.Timeout:
		return nil, wire.ErrTimeout
	}
	r.request = request
	var b *batch
	err = r.during(func() (err error) {
		if err = r.expect(); err == nil {
			err = s.worker.conn.Send(frame)
		}
		if err == nil {
			err = first()
		}
		if err == nil {
			b, err = r.receive()
		}
		return err
	})
	return b, err
}

// await takes in the batch that was asked for.
func (r *Rows) await() (b *batch) {
	s := r.session
	if s.dead != nil {
		s.ahead = nil
		return &batch{err: s.dead}
	}
	err := r.during(func() (err error) {
		b, err = r.receive()
		return err
	})
	s.ahead = nil
	if err != nil {
		return &batch{err: err}
	}
	return b
}

// during calls do, which waits for the worker to send rows.
func (r *Rows) during(do func() error) error {
	s, ctx := r.session, r.ctx
	if r.closed { // Nobody wants them. But to cancel interrupts other rows of the session, too.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.Background(), closeTime)
		defer cancel()
	}
	began := time.Now()
	s.running = r
	limit := r.role.Timeout
	if s.statementTimeout > 0 {
		limit = min(limit, s.statementTimeout)
	}
	err := s.during(ctx, r.request, max(limit-r.worked, time.Millisecond), do)
	s.running, r.guard = nil, nil
	r.worked += time.Since(began)
	return err
}

// closeTime bounds the time to make rows of a batch that nobody wants any more.
const closeTime = time.Second

// failed notes the error of the execution.
func (r *Rows) failed(err error) {
	if r.state == nil {
		r.state = err
	}
	r.end()
}

// advance makes the next row that of the batch. It reports false if there is none.
func (r *Rows) advance() (bool, error) {
	for r.batch == nil || r.batch.left == 0 {
		if err := r.endBatch(); err != nil {
			return false, err
		}
		if r.header.Done {
			r.end()
			return false, nil
		}
		if err := r.fetch(); err != nil {
			return false, err
		}
	}
	r.batch.left--
	return true, nil
}

// endBatch gives the room of a batch back.
func (r *Rows) endBatch() error {
	b := r.batch
	if b == nil {
		return nil
	}
	r.batch = nil
	err := b.reader.End()
	r.session.discard(b)
	if err != nil {
		return r.session.broke(err)
	}
	return b.err
}

// discard gives back the memory of a batch, or of none.
func (s *Session) discard(b *batch) {
	if b == nil {
		return
	}
	s.worker.conn.Give(b.buffer)
	_ = s.Hold(-b.shown)
	b.buffer, b.shown = nil, 0
}

// show holds memory to convert the rows of a batch for the client, one at a time: bytes as text take twice their length, and a
// row with notices is copied.
func (s *Session) show(b *batch) error {
	size := 3 * int64(len(b.buffer))
	if size <= mostShown {
		return nil
	}
	if err := s.Hold(size); err != nil {
		return err
	}
	b.shown = size
	return nil
}

// mostShown is the size up to which converted rows are not counted.
const mostShown = 1 << 20

// fetch makes the next batch the current one. If the execution is free, the worker makes another one meanwhile.
func (r *Rows) fetch() (err error) {
	s, b := r.session, r.next
	r.next = nil
	if b == nil {
		if err := s.readRole(); err != nil { // a portal may go on much later
			return err
		}
	}
	switch {
	case b != nil:
	case s.ahead == r:
		b = r.await()
	default:
		frame, request := s.begin(pipe.Fetch)
		frame = pipe.AppendFetch(frame, request, pipe.FetchRequest{Rows: r.number, Bytes: batchBytes})
		if b, err = r.ask(frame, request, func() error { return nil }); err != nil {
			return err
		}
	}
	r.batch, r.header = b, b.header
	if b.left == 0 {
		return b.err
	}
	if err := s.show(b); err != nil {
		return err
	}
	if r.free && !b.header.Done && b.err == nil && s.ahead == nil {
		return r.fetchAhead()
	}
	return nil
}

// fetchAhead asks for the next batch before anybody needs it.
func (r *Rows) fetchAhead() error {
	s := r.session
	frame, request := s.begin(pipe.Fetch)
	frame = pipe.AppendFetch(frame, request, pipe.FetchRequest{Rows: r.number, Bytes: batchBytes})
	s.keep(frame)
	if s.send(frame); s.dead != nil {
		return s.dead
	}
	r.request, s.ahead = request, r
	return nil
}

// receive takes in a batch.
func (r *Rows) receive() (*batch, error) {
	s := r.session
	answer, err := s.await(pipe.Batch)
	if _, failed := errors.AsType[*failedError](err); s.ahead == r && (err == nil || failed) {
		s.ahead = nil
	}
	if err != nil {
		return nil, err
	}
	r.bytes += int64(len(answer))
	b := &batch{reader: *pipe.NewReader(answer), buffer: s.worker.conn.Take()}
	if b.header, err = pipe.ReadBatch(&b.reader); err != nil {
		return nil, err
	}
	b.left = b.header.Count
	if b.left == 0 && !b.header.Done || int64(b.left) > int64(len(answer)) {
		return nil, pipe.Violation("a batch of %d bytes has %d rows", len(answer), b.left)
	}
	if err := s.setStatus(b.header.Status); err != nil {
		return nil, err
	}
	if b.header.Done {
		r.there = false
	}
	if b.header.Failed {
		payload, err := s.await(pipe.Failed)
		if err != nil {
			return nil, err
		}
		shown, err := s.decodeError(payload)
		if err != nil {
			return nil, err
		}
		if b.err = shown; r.err != nil {
			b.err = r.err
		}
	}
	return b, nil
}

// Next implements wire.Rows.
func (r *Rows) Next(row wire.Row) (bool, error) {
	more, err := r.advance()
	if err == nil && more {
		r.batch.reader.Row(r.columns, row)
		if err = r.batch.reader.Err(); err != nil {
			err = r.session.broke(err)
		}
	}
	if err != nil {
		r.failed(err)
		return false, err
	}
	if more {
		r.total++
	}
	return more, nil
}

// Values returns the next row without the encoding of the protocol: nil, an int64, a float64, a bool, a string or a
// []byte for each column. The error is io.EOF after the last row.
func (r *Rows) Values() ([]any, error) {
	var v values
	more, err := r.advance()
	if err == nil && more {
		r.batch.reader.Row(r.columns, &v)
		if err = r.batch.reader.Err(); err != nil {
			err = r.session.broke(err)
		}
	}
	switch {
	case err != nil:
		r.failed(err)
		return nil, err
	case !more:
		return nil, io.EOF
	}
	r.total++
	return v, nil
}

// values are the values of a row. They implement wire.Row.
type values []any

func (v *values) Null()              { *v = append(*v, nil) }
func (v *values) Int(x int64)        { *v = append(*v, x) }
func (v *values) Float(x float64)    { *v = append(*v, x) }
func (v *values) Bool(x bool)        { *v = append(*v, x) }
func (v *values) Text(x string)      { *v = append(*v, x) }
func (v *values) TextBytes(x []byte) { *v = append(*v, string(x)) }
func (v *values) Bytes(x []byte)     { *v = append(*v, append([]byte{}, x...)) }

// Copy implements wire.Rows.
func (r *Rows) Copy() *wire.Copy { return r.copied }

// Tag implements wire.Rows.
func (r *Rows) Tag(rows int64) string {
	if r.header.Counts {
		return r.header.Tag + strconv.FormatInt(rows, 10)
	}
	return r.header.Tag
}

// Report returns the cost of the execution so far.
func (r *Rows) Report() sqlitefn.Report {
	if r.evaluation != nil {
		return r.evaluation.Report()
	}
	return r.report
}

// Intervals tells of numbers how far from the truth they may be, if the execution, which has ended, has answered them. It is nil if
// it has answered nothing.
func (r *Rows) Intervals() interval.Of { return r.intervals }

// Close implements wire.Rows. The client is told the cost of the answers.
func (r *Rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.end()
	r.remember()
	s := r.session
	if s.ahead == r {
		s.settle()
	}
	s.discard(r.batch)
	s.discard(r.next)
	r.batch, r.next = nil, nil
	if r.there {
		s.send(pipe.AppendUint32(pipe.Begin(nil, pipe.CloseRows), r.number))
	}
	if r.quote {
		return
	}
	if text := costText(r.report); text != "" {
		s.notice(&wire.Error{Message: text})
		// With the next request: to wake the worker for it would cost as much as a statement.
		if err := s.worker.conn.Hold(append(pipe.Begin(nil, pipe.Cost), costRows(r.report, text)...)); err != nil {
			s.lost(err)
		}
	}
	s.observe(monitor.Statement{
		Began: r.began, SQL: r.statement.sql, Epsilon: s.epsilon, Report: r.report, Rows: r.total, Bytes: r.bytes, Ledger: r.ledger,
	}, r.state)
}

// observe tells the observer of a statement that has ended.
func (s *Session) observe(event monitor.Statement, err error) {
	event.Session, event.Took = s.info, time.Since(event.Began)
	if err != nil {
		event.State = "XX000"
		if e, ok := errors.AsType[*wire.Error](err); ok {
			event.State = e.Code
		}
	}
	s.keeper.options.Observer.StatementEnded(event)
}

var errInternal = &wire.Error{Code: "XX000", Message: "internal error", Hint: "The server's log says more."}
