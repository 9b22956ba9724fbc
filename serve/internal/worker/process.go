package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// DefaultMemory is the memory of a session unless Config.Memory says otherwise.
const DefaultMemory = 256 << 20

// goMemory is the soft limit of memory for Go's part of a worker; SQLite's part has Config.Memory.
const goMemory = 48 << 20

// batchTime is the time that a batch waits for more rows.
const batchTime = 100 * time.Millisecond

// Steps of groups are sent when those of one group, or those of all, have so many bytes.
const (
	groupBytes = 128 << 10
	heldBytes  = 512 << 10
)

// toldBytes is how many bytes of calls are told together.
const toldBytes = 32 << 10

// Main is the process of a session. The keeper starts it with the ends of a stream, and sends the session's
// configuration over it. Main returns the exit code.
func Main() int {
	runtime.GOMAXPROCS(1) // one thread serves a request, without waking others
	debug.SetMemoryLimit(goMemory)
	stream := pipe.Inherited()
	if stream == nil {
		fmt.Fprintln(os.Stderr, "geosql worker is started by geosql serve only")
		return 2
	}
	rehearse()
	open := func(c Config, client wire.Client, remote sqlitefn.Remote) (wire.Session, error) {
		return NewSession(c, client, remote)
	}
	if err := Serve(stream, open); err != nil {
		fmt.Fprintln(os.Stderr, "geosql worker:", err)
		return 1
	}
	return 0
}

// rehearse opens a session's parts over an empty database. A worker that waits for its session has memory and code at hand then, which takes
// most of the time in a new process.
func rehearse() {
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.AttachURI)
	if err != nil {
		return // the session says why
	}
	defer conn.Close()
	s := &Session{settings: newSettings(Config{}, nil), lastCost: "[]"}
	if sqlitefn.RegisterRemote(conn, nil) == nil {
		_, _ = pgcatalog.Install(conn, describer{s})
	}
}

// Serve is a worker on a stream to its keeper, until the keeper closes it. open opens the session. Before that, the process
// drops access to other files, and then whatever else it does not need any more.
func Serve(stream io.ReadWriter, open func(Config, wire.Client, sqlitefn.Remote) (wire.Session, error)) error {
	p := &process{
		conn:       pipe.NewConn(stream),
		statements: map[uint32]wire.Statement{},
		rows:       map[uint32]*openRows{},
		requests:   make(chan request, 64),
		answers:    make(chan answer, 1),
		gone:       make(chan struct{}),
	}
	config, err := p.configuration()
	if err != nil {
		return err
	}
	p.config = config
	p.remote.p = p
	var box sandbox
	box.restrictFiles(config.Path) // before it is opened: see there
	if p.session, err = open(config, p, &p.remote); err != nil {
		return p.conn.SendJSON(pipe.Started, pipe.Start{Error: shown(err)})
	}
	defer p.close()
	box.enter(config)
	start := pipe.Start{Sandbox: box.holds, Lacks: box.lacks}
	if err := p.conn.SendJSON(pipe.Started, start); err != nil {
		return err
	}
	debug.FreeOSMemory() // garbage of opening the session
	debug.SetGCPercent(50)
	go p.read()
	for r := range p.requests {
		if err := p.answer(r); err != nil {
			return err
		}
	}
	return p.readErr
}

// A process is a worker.
type process struct {
	conn     *pipe.Conn
	config   Config
	session  wire.Session
	remote   caller
	batch    []byte    // the last one; the next one reuses its memory
	expected []byte    // of the next execution, with the answer
	allowed  time.Time // when processor time was allowed

	statements map[uint32]wire.Statement
	rows       map[uint32]*openRows

	requests chan request
	answers  chan answer   // of calls
	gone     chan struct{} // closed when the keeper is
	readErr  error         // why, once it is closed

	mu       sync.Mutex
	current  uint32 // request
	cancel   context.CancelCauseFunc
	canceled uint32 // the last request that was canceled
}

type request struct {
	kind    pipe.Type
	payload []byte
}

// An answer of the keeper to a call.
type answer struct {
	kind    pipe.Type
	payload []byte
}

type openRows struct {
	rows    wire.Rows
	number  uint32
	free    bool        // whether they call no function of the keeper
	tells   bool        // whether nobody wants rows, but the calls that they make: scalar functions have no answers then
	ahead   pipe.Reader // of calls that are expected, or a group, with their answers
	ctx     context.Context
	cancel  context.CancelCauseFunc
	columns int
}

// Rows of the database know more about themselves than others.
type knowing interface {
	// asks reports whether the rows call functions that the keeper answers.
	asks() bool

	// last reports whether the row that Next has written is known to be the last, without a step that might ask.
	last() bool

	// work says that Next is called without a pause from now on, until the function is called that it returns.
	work() (pause func())
}

func (p *process) configuration() (c Config, err error) {
	kind, frame, err := p.conn.Read()
	if err != nil {
		return c, err
	}
	if kind != pipe.Configure {
		return c, pipe.Violation("the first frame has the type %q", byte(kind))
	}
	if err := pipe.Decode(frame, &c); err != nil {
		return c, err
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	return c, nil
}

// close closes all open rows.
func (p *process) close() {
	for _, r := range p.rows {
		r.close()
	}
	for _, s := range p.statements {
		s.Close()
	}
	p.session.Close()
}

// close closes the rows, and then ends their context: that interrupts whatever runs on the connection, which may be a
// cursor.
func (r *openRows) close() {
	r.rows.Close()
	r.cancel(nil)
}

// read takes the keeper's messages, until it is gone. A statement that runs then is interrupted.
func (p *process) read() {
	defer close(p.requests)
	defer close(p.gone)
	for {
		kind, frame, err := p.conn.Read()
		if err != nil {
			if err != io.EOF {
				p.readErr = err
			}
			p.interrupt(errors.New("the keeper is gone"))
			return
		}
		switch kind {
		case pipe.Cancel:
			r := pipe.NewReader(frame)
			p.cancelRequest(r.Uint32())
		case pipe.Answer, pipe.Answers, pipe.Refusal:
			p.answers <- answer{kind, append([]byte{}, frame...)}
		default:
			p.requests <- request{kind, append([]byte{}, frame...)}
		}
	}
}

// cancelRequest cancels a request that runs or will.
func (p *process) cancelRequest(number uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.canceled = number
	if p.current == number && p.cancel != nil {
		p.cancel(wire.ErrCanceled)
	}
}

// interrupt cancels whatever runs.
func (p *process) interrupt(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		p.cancel(cause)
	}
}

// begin records cancel as the way to end a request.
func (p *process) begin(number uint32, cancel context.CancelCauseFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.cancel = number, cancel
	if p.canceled == number {
		cancel(wire.ErrCanceled)
	}
}

func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.cancel = 0, nil
}

// answer answers a request. An error ends the process.
func (p *process) answer(q request) error {
	if q.kind == pipe.Cost {
		if s, ok := p.session.(*Session); ok {
			s.lastCost = string(q.payload)
		}
		return nil
	}
	if q.kind == pipe.Expected {
		p.expected = q.payload
		return nil
	}
	r := pipe.NewReader(q.payload)
	number := r.Uint32()
	var err error
	switch q.kind {
	case pipe.CloseStatement:
		if s := p.statements[number]; s != nil {
			delete(p.statements, number)
			s.Close()
		}
		return r.End()
	case pipe.CloseRows:
		if open := p.rows[number]; open != nil {
			p.closeRows(open)
		}
		return r.End()
	case pipe.Ready:
		if err := r.End(); err != nil {
			return err
		}
		p.session.Ready(true)
		return p.conn.Send(append(pipe.Begin(nil, pipe.Status), byte(p.status())))
	case pipe.Prepare:
		p.allowTime()
		err = p.prepare(number, r)
	case pipe.Query:
		p.allowTime()
		err = p.query(number, r)
	case pipe.Fetch:
		p.allowTime()
		err = p.fetch(number, r)
	default:
		return pipe.Violation("there is a request of type %q", byte(q.kind))
	}
	if _, broken := errors.AsType[*pipe.ViolationError](err); broken {
		return err
	}
	if err != nil {
		frame, err := pipe.AppendFailed(pipe.Begin(nil, pipe.Failed), p.status(), shown(err))
		if err != nil {
			return err
		}
		return p.conn.Send(frame)
	}
	return nil
}

// status returns the state of the transaction, as the keeper is told.
func (p *process) status() wire.TxStatus {
	if s, ok := p.session.(*Session); ok && s.holds() {
		return pipe.Holding
	}
	return p.session.Ready(false)
}

// allowTime allows a request the processor time of a statement. It is enough for all requests of a second.
func (p *process) allowTime() {
	if now := time.Now(); now.Sub(p.allowed) > time.Second {
		p.allowed = now
		allowProcessorTime(p.config.Timeout)
	}
}

// shown returns an error as a client sees it.
func shown(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](asError(err)); ok {
		return e
	}
	return &wire.Error{Code: "XX000", Message: err.Error()}
}

func (p *process) prepare(number uint32, r *pipe.Reader) error {
	id, types, sql, err := pipe.ReadPrepare(r)
	if err != nil {
		return err
	}
	if p.statements[id] != nil {
		return pipe.Violation("statement %d is there already", id)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p.begin(number, cancel)
	defer p.end()
	stmt, rest, err := p.session.Prepare(ctx, sql, types)
	if err != nil {
		return err
	}
	if stmt == nil || rest != "" {
		return pipe.Violation("a text to prepare is not one statement")
	}
	p.statements[id] = stmt
	prepared := pipe.Statement{Parameters: stmt.Parameters(), Columns: stmt.Columns()}
	switch st := stmt.(type) { // a cursor asks when rows are fetched
	case *query:
		prepared.Questions = st.questions
	case *copyOut:
		prepared.Questions = st.questions
	}
	return p.conn.SendJSON(pipe.Prepared, prepared)
}

func (p *process) query(number uint32, r *pipe.Reader) error {
	id, asks, tells, args, err := pipe.ReadQuery(r)
	if err != nil {
		return err
	}
	stmt := p.statements[id]
	if stmt == nil || p.rows[asks.Rows] != nil {
		return pipe.Violation("there is no statement %d, or rows %d already", id, asks.Rows)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p.begin(number, cancel)
	defer p.end()
	open := &openRows{number: asks.Rows, tells: tells, ctx: ctx, cancel: cancel, columns: len(stmt.Columns()), ahead: *pipe.NewReader(p.expected)}
	p.expected = nil
	defer p.remote.serve(open)()
	if open.rows, err = stmt.Query(ctx, args); err != nil {
		cancel(nil)
		return err
	}
	if k, knows := open.rows.(knowing); knows {
		open.free = !k.asks()
	}
	copied := open.rows.Copy()
	if copied != nil {
		open.columns = len(copied.Columns)
	}
	p.rows[asks.Rows] = open
	frame, err := pipe.JSON(pipe.Queried, pipe.Execution{Copy: copied, Free: open.free})
	if err == nil {
		err = p.conn.Hold(frame)
	}
	if err != nil {
		return err
	}
	return p.sendBatch(open, asks.Bytes)
}

// fetch answers a request for more rows.
func (p *process) fetch(number uint32, r *pipe.Reader) error {
	asks, err := pipe.ReadFetch(r)
	if err != nil {
		return err
	}
	open := p.rows[asks.Rows]
	if open == nil {
		return pipe.Violation("there are no rows %d", asks.Rows)
	}
	p.begin(number, open.cancel)
	defer p.end()
	defer p.remote.serve(open)()
	return p.sendBatch(open, asks.Bytes)
}

// sendBatch sends a batch of rows. Once the keeper was asked, it ends behind the last row that has an answer, since nobody pays for a
// row that was not asked for. The last batch closes the rows. Rows that nobody wants are one batch without any.
func (p *process) sendBatch(open *openRows, size uint32) error {
	known, _ := open.rows.(knowing)
	if known != nil {
		defer known.work()()
	}
	encoder := &pipe.Encoder{Frame: pipe.BeginBatch(p.batch)}
	defer func() { p.batch = encoder.Frame }()
	header := pipe.BatchHeader{}
	asked := p.remote.asked
	var late atomic.Bool // asking for the time behind each row costs more than many rows
	defer time.AfterFunc(batchTime, func() { late.Store(true) }).Stop()
	for !header.Done && (open.tells || pipe.Len(encoder.Frame) < int(size) && (p.remote.asked == asked || open.ahead.More())) {
		if header.Count > 0 && late.Load() {
			break
		}
		before := len(encoder.Frame)
		encoder.Values = 0
		more, err := open.rows.Next(encoder)
		if err != nil {
			return p.failBatch(encoder.Frame[:before], header, err)
		}
		if !more {
			header.Done = true
			break
		}
		if encoder.Values != open.columns {
			return fmt.Errorf("a row has %d values for %d columns", encoder.Values, open.columns)
		}
		if len(encoder.Frame)-before > pipe.MaxRow {
			return p.failBatch(encoder.Frame[:before], header, &wire.Error{Code: "54000", Message: "a row is larger than 100 MB"})
		}
		header.Done = known != nil && known.last()
		if open.tells {
			encoder.Frame = encoder.Frame[:before]
		} else {
			header.Count++
		}
	}
	if err := p.remote.tell(0); err != nil {
		return err
	}
	if header.Done {
		header.Tag, header.Counts = tag(open.rows)
		p.closeRows(open)
	}
	header.Status = p.status()
	encoder.Frame = pipe.EndBatch(encoder.Frame, header)
	return p.conn.Send(encoder.Frame)
}

// closeRows closes rows, and keeps no large buffers for the next ones: the client may think long.
func (p *process) closeRows(open *openRows) {
	delete(p.rows, open.number)
	p.remote.serving = false // SQLite may end groups of a statement that is over
	open.close()
	p.remote.forget(open.number)
	if p.remote.spare = slices.DeleteFunc(p.remote.spare, isLarge); len(p.rows) == 0 && isLarge(p.batch) {
		p.batch = nil
	}
}

func isLarge(b []byte) bool { return cap(b) > 16<<10 }

// failBatch sends the rows in front of an error, and then the error.
func (p *process) failBatch(frame []byte, header pipe.BatchHeader, err error) error {
	if header.Count == 0 {
		return err
	}
	header.Failed, header.Status = true, p.status()
	if err := p.conn.Send(pipe.EndBatch(frame, header)); err != nil {
		return pipe.Violation("%v", err)
	}
	return err
}

// tag returns the tag of rows that have ended, as a BatchHeader has it.
func tag(rows wire.Rows) (text string, counts bool) {
	none, one := rows.Tag(0), rows.Tag(1)
	if prefix, ok := strings.CutSuffix(none, "0"); ok && one == prefix+"1" {
		return prefix, true
	}
	return none, false
}

// Notice implements wire.Client.
func (p *process) Notice(notice *wire.Error) { _ = p.conn.SendJSON(pipe.Notice, notice) }

// Parameter implements wire.Client.
func (p *process) Parameter(name, value string) {
	_ = p.conn.SendJSON(pipe.Parameter, pipe.Setting{Name: name, Value: value})
}

// A caller asks the keeper to evaluate functions. It implements sqlitefn.Remote.
type caller struct {
	p       *process
	serving bool      // whether the keeper answers calls now
	open    *openRows // that make them
	asked   int       // how many answers it has given
	told    []byte    // the frame of calls that are to be told, or nil
	last    uint32    // group that the keeper was told of
	groups  map[*calledGroup]bool
	held    int // bytes of steps that were not sent
	spare   [][]byte
	call    []byte // the memory of the last call's frame
}

// serve lets calls go to the keeper, for the execution that has these rows, until the function is called that it returns.
func (r *caller) serve(open *openRows) func() {
	r.serving, r.open, r.told = true, open, nil
	return func() { r.serving = false }
}

// forget forgets the groups of an execution that has ended. SQLite does not end all of them through Final.
func (r *caller) forget(rows uint32) {
	for g := range r.groups {
		if g.rows == rows {
			delete(r.groups, g)
			r.held -= pipe.Len(g.w.Frame)
		}
	}
}

var (
	errEnded = &wire.Error{Code: "57014", Message: "the statement has ended"}
	errFree  = &wire.Error{Code: "XX000", Message: "a function was called that the statement was not seen to have"}
)

// ended returns an error if the statement has been canceled, or its rows are closed: its answers would be for nobody.
func (r *caller) ended() error {
	if err := r.mayCall(); err != nil {
		return err
	}
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.canceled == p.current && p.current != 0 {
		return wire.ErrCanceled
	}
	return nil
}

// mayCall returns an error unless the keeper takes calls now.
func (r *caller) mayCall() error {
	switch {
	case !r.serving:
		return errEnded
	case r.open.free:
		return errFree
	}
	return nil
}

// Call implements sqlitefn.Remote. If the keeper has answered the call ahead, it has the answer.
func (r *caller) Call(function string, args []sqlite.Value) (sqlitefn.Released, error) {
	if err := r.ended(); err != nil {
		return nil, err
	}
	frame := pipe.AppendArguments(pipe.AppendCall(pipe.Begin(r.call, pipe.Call), function, len(args)), args)
	r.call = frame[:0]
	call := pipe.Contents(frame)
	open := r.open
	if open.tells {
		if r.told == nil {
			r.told = pipe.Begin(nil, pipe.Calls)
		}
		r.told = pipe.AppendBytes(r.told, call)
		return nil, r.tell(toldBytes)
	}
	if open.ahead.More() {
		if expected, answer := pipe.ReadAnswer(&open.ahead); bytes.Equal(expected, call) {
			r.asked++
			return answer, open.ahead.Err()
		}
	}
	all, err := r.ask(frame)
	if err != nil {
		return nil, err
	}
	open.ahead = *pipe.NewReader(all)
	_, answer := pipe.ReadAnswer(&open.ahead)
	return answer, open.ahead.Err()
}

// tell sends the calls to tell, if they have so many bytes.
func (r *caller) tell(least int) error {
	if r.told == nil || len(r.told) < least {
		return nil
	}
	err := r.p.conn.Send(r.told)
	r.told = nil
	return err
}

// ask sends a frame and waits for the answer.
func (r *caller) ask(frame []byte) ([]byte, error) {
	r.asked++
	if err := r.p.conn.Send(frame); err != nil {
		return nil, err
	}
	select {
	case a := <-r.p.answers:
		if a.kind != pipe.Refusal {
			return a.payload, nil
		}
		e := new(wire.Error)
		if err := json.Unmarshal(a.payload, e); err != nil {
			return nil, err
		}
		return nil, e
	case <-r.p.gone:
		return nil, errEnded
	}
}

// Group implements sqlitefn.Remote.
func (r *caller) Group(function string) sqlitefn.RemoteGroup {
	g := &calledGroup{r: r, rows: r.open.number, w: pipe.NewGroupWriter(r.buffer(), function)}
	if r.groups == nil {
		r.groups = map[*calledGroup]bool{}
	}
	r.groups[g] = true
	return g
}

// buffer returns a buffer for the steps of a group.
func (r *caller) buffer() []byte {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b
	}
	return nil
}

// recycle keeps a buffer for other groups.
func (r *caller) recycle(b []byte) {
	if len(r.spare) < 2 && cap(b) <= 2*groupBytes {
		r.spare = append(r.spare, b)
	}
}

type calledGroup struct {
	r    *caller
	rows uint32 // the execution it belongs to
	w    *pipe.GroupWriter
	sent bool // whether the keeper knows the group
}

// number gives the group its number, which it gets with its first frame.
func (g *calledGroup) number() {
	if !g.sent {
		g.r.last++
		g.w.SetNumber(g.r.last)
		g.sent = true
	}
}

// Step implements sqlitefn.RemoteGroup.
func (g *calledGroup) Step(args []sqlite.Value) error {
	r := g.r
	if err := r.mayCall(); err != nil {
		return err
	}
	before := len(g.w.Frame)
	g.w.Add(args)
	r.held += len(g.w.Frame) - before
	switch {
	case len(g.w.Frame) >= groupBytes:
		return g.flush()
	case r.held >= heldBytes:
		for other := range r.groups {
			if err := other.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush sends the steps so far.
func (g *calledGroup) flush() error {
	if !g.w.Started() {
		return nil
	}
	g.number()
	g.r.held -= pipe.Len(g.w.Frame)
	err := g.r.p.conn.Send(g.w.Frame)
	g.w.Next(g.w.Frame)
	g.r.held += pipe.Len(g.w.Frame)
	return err
}

// Final implements sqlitefn.RemoteGroup. Of a statement that has ended, the keeper is told to forget the group.
func (g *calledGroup) Final() (sqlitefn.Released, error) {
	r := g.r
	delete(r.groups, g)
	r.held -= pipe.Len(g.w.Frame)
	ended := r.ended()
	defer func() { r.recycle(g.w.Frame) }()
	if ended != nil && !g.sent {
		return nil, ended
	}
	if ended != nil {
		if r.serving {
			g.w.Finish(true)
			_ = r.p.conn.Send(g.w.Frame)
		}
		return nil, ended
	}
	g.w.Finish(false)
	if r.open.ahead.More() {
		expected, answer := pipe.ReadAnswer(&r.open.ahead)
		if !g.sent && bytes.Equal(expected, pipe.Unnumbered(pipe.Contents(g.w.Frame))) {
			r.asked++
			return answer, nil
		}
	}
	g.number()
	return r.ask(g.w.Frame)
}
