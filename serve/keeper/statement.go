package keeper

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/geosql/geosql/serve/monitor"
	"github.com/geosql/geosql/serve/pipe"
	"github.com/geosql/geosql/serve/role"
	"github.com/geosql/geosql/serve/wire"
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

// Compile does what Prepare does.
func (s *Session) Compile(ctx context.Context, sql string, parameterTypes []uint32) (*Statement, string, error) {
	began := time.Now()
	st, rest, err := s.compile(ctx, sql, parameterTypes)
	if err != nil && s.role != nil {
		s.observe(monitor.Statement{Began: began, SQL: sql}, err)
	}
	return st, rest, err
}

func (s *Session) compile(ctx context.Context, sql string, types []uint32) (*Statement, string, error) {
	if err := s.readRole(); err != nil {
		return nil, "", err
	}
	if len(sql)+4*len(types) > pipe.MaxSQL {
		return nil, "", &wire.Error{Code: "54000", Message: "a statement is longer than 16 MB"}
	}
	s.statements++
	number := s.statements
	frame, request := s.begin(pipe.Prepare)
	frame = pipe.AppendPrepare(frame, request, number, types, sql)
	answer, err := s.ask(ctx, frame, pipe.Prepared, s.role.Timeout)
	if err != nil {
		return nil, "", err
	}
	var prepared pipe.Statement
	if err := pipe.Decode(answer, &prepared); err != nil {
		return nil, "", s.broke(err)
	}
	if prepared.Rest < 0 || prepared.Rest > len(sql) || len(prepared.Columns) > mostColumns || len(prepared.Parameters) > 1<<16-1 {
		return nil, "", s.broke(pipe.Violation("a statement of %d bytes leaves %d, and has %d columns and %d parameters",
			len(sql), prepared.Rest, len(prepared.Columns), len(prepared.Parameters)))
	}
	text, rest := sql[:len(sql)-prepared.Rest], sql[len(sql)-prepared.Rest:]
	if !prepared.Found {
		return nil, rest, nil
	}
	return &Statement{session: s, number: number, sql: text, parameters: prepared.Parameters, columns: prepared.Columns}, rest, nil
}

// Parameters implements wire.Statement.
func (st *Statement) Parameters() []uint32 { return st.parameters }

// Columns implements wire.Statement.
func (st *Statement) Columns() []wire.Column { return st.columns }

// Close implements wire.Statement.
func (st *Statement) Close() {
	if !st.closed {
		st.closed = true
		st.session.send(pipe.AppendUint32(pipe.Begin(nil, pipe.CloseStatement), st.number))
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

// Run does what Query does.
func (st *Statement) Run(ctx context.Context, args []any) (*Rows, error) {
	return st.run(ctx, &Rows{}, args)
}

// RunWithin does what Query does. Calls fail, with a *sqlitefn.OverQuoteError, that would make the statement cost more
// than it was quoted for.
func (st *Statement) RunWithin(ctx context.Context, args []any, quoted sqlitefn.Report) (*Rows, error) {
	return st.run(ctx, &Rows{quoted: &quoted}, args)
}

// Quote returns what the statement would cost. It charges and draws nothing.
func (st *Statement) Quote(ctx context.Context, args []any) (sqlitefn.Report, error) {
	r, err := st.run(ctx, &Rows{quote: true}, args)
	if err != nil {
		return sqlitefn.Report{}, err
	}
	defer r.Close()
	for {
		if _, err := r.Values(); err == io.EOF {
			return r.Report(), nil
		} else if err != nil {
			return sqlitefn.Report{}, err
		}
	}
}

// run begins an execution.
func (st *Statement) run(ctx context.Context, r *Rows, args []any) (*Rows, error) {
	s := st.session
	r.session, r.statement, r.ctx, r.began = s, st, ctx, time.Now()
	err := r.start(args)
	if err != nil {
		r.failed(err)
		r.Close()
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
	frame, err := pipe.AppendQuery(frame, request, st.number, r.number, args)
	if err != nil {
		return err
	}
	if pipe.Len(frame) > pipe.MaxLarge {
		return &wire.Error{Code: "54000", Message: "the parameters of a statement have more than 16 MB"}
	}
	answer, err := r.ask(frame, pipe.Queried)
	if err != nil {
		return err
	}
	var execution pipe.Execution
	if err := pipe.Decode(answer, &execution); err != nil {
		return s.broke(err)
	}
	r.there = true
	r.columns = len(st.columns)
	if r.copied = execution.Copy; r.copied != nil {
		if r.columns = len(r.copied.Columns); r.columns > mostColumns {
			return s.broke(pipe.Violation("a copy has %d columns", r.columns))
		}
	}
	return nil
}

// Rows are those of an execution. They implement wire.Rows.
type Rows struct {
	session   *Session
	statement *Statement
	role      *role.Role // at the beginning
	number    uint32
	there     bool // whether the worker has them
	ctx       context.Context
	guard     *guard // of the request that the worker works on
	began     time.Time
	worked    time.Duration // what of the role's time is used

	copied  *wire.Copy
	columns int

	batch   *pipe.Reader
	buffer  []byte // of the batch
	left    uint32 // rows in it
	header  pipe.BatchHeader
	pending error // behind the rows of the batch

	quote      bool
	quoted     *sqlitefn.Report
	evaluator  evaluator
	evaluation evaluation
	ended      bool  // the evaluation has, or there will be none
	err        error // of the evaluation, as the client sees it
	report     sqlitefn.Report
	ledger     time.Duration

	total, bytes int64
	state        error // of the execution
	closed       bool
}

// ask asks the worker something about the execution. What it calls meanwhile belongs to it.
func (r *Rows) ask(frame []byte, want pipe.Type) ([]byte, error) {
	s := r.session
	left := r.role.Timeout - r.worked
	if left <= 0 {
		return nil, errTimeout
	}
	began := time.Now()
	s.running = r
	answer, err := s.ask(r.ctx, frame, want, left)
	s.running, r.guard = nil, nil
	r.worked += time.Since(began)
	return answer, err
}

// failed notes the error of the execution.
func (r *Rows) failed(err error) {
	if r.state == nil {
		r.state = err
	}
	r.end()
}

// advance makes the next row that of the batch. It reports false if there is none.
func (r *Rows) advance() (bool, error) {
	for r.left == 0 {
		if err := r.endBatch(); err != nil {
			return false, err
		}
		switch {
		case r.pending != nil:
			return false, r.pending
		case r.header.Done:
			r.end()
			return false, nil
		}
		if err := r.fetch(); err != nil {
			return false, err
		}
	}
	r.left--
	return true, nil
}

// endBatch gives the room of a batch back.
func (r *Rows) endBatch() error {
	if r.batch == nil {
		return nil
	}
	err := r.batch.End()
	r.batch = nil
	r.session.worker.conn.Give(r.buffer)
	r.buffer = nil
	if err != nil {
		return r.session.broke(err)
	}
	return nil
}

// fetch asks for the next batch.
func (r *Rows) fetch() error {
	s := r.session
	frame, request := s.begin(pipe.Fetch)
	frame = pipe.AppendFetch(frame, request, pipe.FetchRequest{Rows: r.number, Bytes: batchBytes})
	answer, err := r.ask(frame, pipe.Batch)
	if err != nil {
		return err
	}
	r.bytes += int64(len(answer))
	r.batch, r.buffer = pipe.NewReader(answer), s.worker.conn.Take()
	if r.header, err = pipe.ReadBatch(r.batch); err != nil {
		return s.broke(err)
	}
	r.left = r.header.Count
	if r.left == 0 && !r.header.Done || int64(r.left) > int64(len(answer)) {
		return s.broke(pipe.Violation("a batch of %d bytes has %d rows", len(answer), r.left))
	}
	if r.header.Failed {
		_, r.pending = s.await(pipe.Failed)
		switch failed, ok := errors.AsType[*failedError](r.pending); {
		case r.err != nil:
			r.pending = r.err
		case ok:
			r.pending = failed.shown
		default:
			r.pending = s.broke(r.pending)
		}
	}
	return nil
}

// Next implements wire.Rows.
func (r *Rows) Next(row *wire.Row) (bool, error) {
	more, err := r.advance()
	if err == nil && more {
		r.batch.Row(r.columns, row)
		if err = r.batch.Err(); err != nil {
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
		r.batch.Row(r.columns, &v)
		if err = r.batch.Err(); err != nil {
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

// values are those of a row. They implement wire.Sink.
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

// Report returns what the execution has cost so far.
func (r *Rows) Report() sqlitefn.Report {
	if r.evaluation != nil {
		return r.evaluation.Report()
	}
	return r.report
}

// Close implements wire.Rows. The client is told what the answers have cost.
func (r *Rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.end()
	if r.buffer != nil {
		r.batch, r.buffer = nil, nil
	}
	s := r.session
	if r.there {
		s.send(pipe.AppendUint32(pipe.Begin(nil, pipe.CloseRows), r.number))
	}
	if r.quote {
		return
	}
	if text := costText(r.report); text != "" {
		s.notice(&wire.Error{Message: text})
	}
	s.observe(monitor.Statement{
		Began: r.began, SQL: r.statement.sql, Report: r.report, Rows: r.total, Bytes: r.bytes, Ledger: r.ledger,
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
