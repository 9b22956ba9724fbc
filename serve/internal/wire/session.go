package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// flushSize is the number of bytes of an answer that are collected before they are sent.
const flushSize = 32 << 10

// A conn is a connection, and the session on it.
type conn struct {
	server *Server
	raw    net.Conn
	log    *slog.Logger
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc

	tls         *tls.Conn // or nil
	certificate []byte    // that the client has seen, if any
	transport   *transport
	backend     *pgproto3.Backend // reads messages; answers are collected in out
	login       Login

	processID uint32
	key       []byte // that cancels; nil before the session
	session   Session

	out    []byte // of the answer that has not been sent
	broken error  // why no answer can be sent any more

	reported bool // whether LoginFailed was told why the connection ends

	idle       *Error // of a client that asks nothing for too long now
	statements map[string]*prepared
	portals    map[string]*portal
	held       int  // bytes of texts and arguments that statements and portals keep
	failed     bool // an error since the session was last ready
	skipping   bool // messages until Sync, after an error

	runningMu sync.Mutex
	running   context.CancelCauseFunc // of the call that a cancel request would end
	watch     *time.Timer             // looks after the client while a call runs

	noticesMu sync.Mutex
	notices   []pgproto3.BackendMessage
	noticed   atomic.Bool // whether there are any: looked at for each row
}

// A prepared statement lives as long as its name or a portal needs it.
type prepared struct {
	stmt    Statement
	columns []Column
	users   int
	size    int // of its text
}

func (p *prepared) release() {
	if p.users--; p.users == 0 && p.stmt != nil {
		p.stmt.Close()
	}
}

// A portal is a statement with its arguments, and its execution.
type portal struct {
	prep    *prepared
	args    []any
	formats []int16 // of the columns
	size    int     // of the arguments

	rows   Rows // nil until it is executed
	row    *rowEncoder
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   bool   // all rows have been sent, or it failed
	again  string // the tag if it is executed again; empty if it cannot be
}

func (p *portal) close() {
	p.closeRows()
	p.prep.release()
}

func (p *portal) closeRows() {
	p.done = true
	if p.rows != nil {
		p.rows.Close()
		p.rows = nil
	}
	if p.cancel != nil {
		p.cancel(nil)
	}
}

// serve serves the connection until it ends.
func (c *conn) serve() {
	defer c.raw.Close()
	defer c.cancel(nil)
	defer c.closeSession()
	err := c.protect(func() error {
		if err := c.start(); err != nil {
			return err
		}
		return c.loop()
	})
	var e *Error
	if errors.As(err, &e) && c.transport != nil {
		// The client gets a moment, not more, to read it.
		c.transport.writeTimeout = min(c.transport.writeTimeout, 5*time.Second)
		c.sendNotices()
		c.sendError(e)
		c.flush()
		if !c.reported {
			c.log.Info("a connection was ended", "code", e.Code, "reason", e.Message)
		}
	}
	if c.tls != nil {
		c.raw.SetDeadline(time.Now().Add(time.Second))
		c.tls.Close()
	}
}

// protect turns a panic into an error that ends the session and no other.
func (c *conn) protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("a session panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fatal("XX000", "internal error: the session is closed")
		}
	}()
	return f()
}

func (c *conn) closeSession() {
	if c.session == nil {
		return
	}
	c.cancel(nil)
	c.protect(func() error {
		c.closePortals()
		for name := range c.statements {
			c.closeStatement(name)
		}
		c.transport.forget(true)
		return nil
	})
	c.protect(func() error {
		c.session.Close()
		return nil
	})
}

// loop answers requests.
func (c *conn) loop() error {
	c.statements, c.portals = map[string]*prepared{}, map[string]*portal{}
	c.transport.room, c.transport.maxBody = c.session.Hold, c.server.options.MaxMessage
	answered := true // nothing has been asked since the session was last ready
	for {
		if answered {
			if err := c.flush(); err != nil {
				return nil
			}
			if !c.transport.setWaiting(true) {
				return errShutdown
			}
		}
		c.transport.forget(false)
		c.transport.idleTimeout, c.idle = c.session.IdleTimeout(!answered || c.executes())
		message, err := c.backend.Receive()
		c.transport.setWaiting(false)
		if err != nil {
			return c.receiveError(err)
		}
		if _, ok := message.(*pgproto3.Terminate); ok {
			return nil
		}
		answered, err = c.answer(message)
		var e *Error
		switch {
		case c.broken != nil:
			return nil
		case err == nil:
		case errors.As(err, &e) && e.Severity == "FATAL":
			return err
		default:
			c.fail(err)
			_, simple := message.(*pgproto3.Query)
			_, call := message.(*pgproto3.FunctionCall)
			if simple || call {
				c.ready()
				answered = true
			} else {
				c.skipping = true
				c.flush()
			}
		}
		if cause := context.Cause(c.ctx); cause != nil {
			return cause
		}
		if len(c.out) >= flushSize { // of a client that asks for much before Sync
			c.flush()
		}
	}
}

// executes reports whether portals are being executed.
func (c *conn) executes() bool {
	for _, p := range c.portals {
		if p.rows != nil {
			return true
		}
	}
	return false
}

// end ends the session with an error. It may be called by any goroutine.
func (c *conn) end(reason *Error) {
	c.cancel(reason)
	c.transport.end()
}

// receiveError returns the error that ends a session after its next message could not be read.
func (c *conn) receiveError(err error) error {
	var tooLong *pgproto3.ExceededMaxBodyLenErr
	var network net.Error
	var refused *Error
	switch {
	case errors.Is(err, errShutdown):
		return errShutdown
	case context.Cause(c.ctx) != nil:
		return context.Cause(c.ctx)
	case errors.As(err, &refused):
		e := *refused
		e.Severity = "FATAL"
		return &e
	case errors.As(err, &tooLong):
		return fatal("08P01", fmt.Sprintf("a message of %d bytes is longer than the %d that this server takes",
			tooLong.ActualBodyLen, tooLong.MaxExpectedBodyLen))
	case errors.As(err, &network):
		if errors.Is(err, os.ErrDeadlineExceeded) { // and not that of a machine that says nothing any more
			if !c.transport.setWaiting(true) {
				return errShutdown
			}
			if c.transport.isBetween() {
				return c.idle
			}
			return fatal("08006", "the rest of a message did not come in time")
		}
		return errHangUp
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errHangUp
	}
	return fatal("08P01", "invalid message: "+err.Error())
}

// answer answers a message, and reports whether the client has been told that its request is complete.
func (c *conn) answer(message pgproto3.FrontendMessage) (bool, error) {
	if c.skipping {
		if _, ok := message.(*pgproto3.Sync); !ok {
			return false, nil
		}
	}
	switch m := message.(type) {
	case *pgproto3.Query:
		if err := c.query(m.String); err != nil {
			return false, err
		}
		c.ready()
		return true, nil
	case *pgproto3.Sync:
		c.skipping = false
		c.ready()
		return true, nil
	case *pgproto3.Parse:
		return false, c.parse(m)
	case *pgproto3.Bind:
		return false, c.bind(m)
	case *pgproto3.Describe:
		return false, c.describe(m)
	case *pgproto3.Execute:
		return false, c.execute(m)
	case *pgproto3.Close:
		switch m.ObjectType {
		case 'S':
			c.closeStatement(m.Name)
		case 'P':
			c.closePortal(m.Name)
		default:
			return false, newError("08P01", "invalid CLOSE message subtype")
		}
		c.send(&pgproto3.CloseComplete{})
		return false, nil
	case *pgproto3.Flush:
		c.flush()
		return false, nil
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return false, nil // of a COPY FROM STDIN that has failed; PostgreSQL ignores them too
	case *pgproto3.FunctionCall:
		return false, newError("0A000", "function calls of the protocol are not supported")
	}
	return false, fatal("08P01", "invalid frontend message")
}

// fail tells the client about an error.
func (c *conn) fail(err error) {
	c.failed = true
	c.sendNotices()
	c.sendError(asError(c.ctx, err))
}

// ready tells the client that its request is complete.
func (c *conn) ready() {
	if c.failed {
		c.closePortals()
	}
	status := c.session.Ready(c.failed)
	c.failed = false
	if status != InTransaction {
		c.closePortals()
	}
	c.sendNotices()
	c.send(&pgproto3.ReadyForQuery{TxStatus: byte(status)})
}

// begin makes a context for calls that a cancel request ends.
func (c *conn) begin() (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.setRunning(cancel)
	return ctx, cancel
}

// watchInterval is how often a session that executes looks whether its client is still there.
const watchInterval = 500 * time.Millisecond

func (c *conn) setRunning(cancel context.CancelCauseFunc) {
	c.runningMu.Lock()
	defer c.runningMu.Unlock()
	c.running = cancel
	switch {
	case c.watch == nil:
		c.watch = time.AfterFunc(watchInterval, c.lookAfterClient)
	case cancel != nil:
		c.watch.Reset(watchInterval)
	default:
		c.watch.Stop()
	}
}

// lookAfterClient ends the session of a client that is gone: its statement would work, and pay, for nobody.
func (c *conn) lookAfterClient() {
	c.runningMu.Lock()
	defer c.runningMu.Unlock()
	switch {
	case c.running == nil:
	case isGone(c.raw):
		c.cancel(errHangUp)
	default:
		c.watch.Reset(watchInterval)
	}
}

func (c *conn) cancelRunning() {
	c.runningMu.Lock()
	defer c.runningMu.Unlock()
	if c.running != nil {
		c.running(ErrCanceled)
	}
}

// checkText returns an error for a text of the client that is not UTF-8.
func checkText(sql string) error {
	if !utf8.ValidString(sql) {
		return newError("22021", "invalid byte sequence for encoding \"UTF8\"")
	}
	return nil
}

// prepare compiles the first statement of a text that has been checked. The result is nil if there is none.
func (c *conn) prepare(sql string, types []uint32) (*prepared, string, error) {
	ctx, cancel := c.begin()
	defer cancel(nil)
	defer c.setRunning(nil)
	stmt, rest, err := c.session.Prepare(ctx, sql, types)
	if err != nil {
		return nil, "", asError(ctx, err)
	}
	if stmt == nil {
		return nil, "", nil
	}
	p := &prepared{stmt: stmt, columns: stmt.Columns(), users: 1}
	if !strings.HasSuffix(sql, rest) || len(rest) == len(sql) {
		p.release()
		return nil, "", errors.New("the rest of the statements is not their end")
	}
	return p, rest, nil
}

// query answers a simple query: it runs its statements one after the other.
func (c *conn) query(sql string) error {
	c.closePortal("")
	c.closeStatement("")
	if err := checkText(sql); err != nil {
		return err
	}
	for rest, first := sql, true; ; first = false {
		before := sql[:len(sql)-len(rest)]
		p, behind, err := c.prepare(rest, nil)
		if err != nil {
			return Moved(err, before)
		}
		if p == nil {
			if first {
				c.sendNotices()
				c.send(&pgproto3.EmptyQueryResponse{})
			}
			return nil
		}
		if err := c.runSimple(p); err != nil {
			return Moved(err, before)
		}
		if behind == "" {
			return nil
		}
		rest = behind
	}
}

func (c *conn) runSimple(p *prepared) error {
	defer p.release()
	if len(p.stmt.Parameters()) > 0 {
		return newError("42P02", "there is no parameter $1: a simple query has none")
	}
	p.users++
	run := &portal{prep: p}
	defer run.close()
	return c.run(run, 0, true)
}

func (c *conn) parse(m *pgproto3.Parse) error {
	if m.Name == "" {
		c.closeStatement("")
	} else if c.statements[m.Name] != nil {
		return newError("42P05", fmt.Sprintf("prepared statement %q already exists", m.Name))
	}
	if len(c.statements) >= c.server.options.MaxPrepared {
		return newError("53000", fmt.Sprintf("there are %d prepared statements already", len(c.statements)))
	}
	if err := checkText(m.Query); err != nil {
		return err
	}
	p, rest, err := c.prepare(m.Query, m.ParameterOIDs)
	if err != nil {
		return err
	}
	if rest != "" {
		p.release()
		return newError("42601", "cannot insert multiple commands into a prepared statement")
	}
	if p == nil {
		p = &prepared{users: 1}
	}
	p.size = len(m.Query)
	if err := c.hold(p.size); err != nil {
		p.release()
		return err
	}
	c.statements[m.Name] = p
	c.sendNotices()
	c.send(&pgproto3.ParseComplete{})
	return nil
}

// hold keeps size bytes more, or refuses to if that is more than a session may keep.
func (c *conn) hold(size int) error {
	if most := 2 * c.server.options.MaxMessage; c.held+size > most {
		return newError("53200", fmt.Sprintf("prepared statements and portals would keep more than %d bytes of text and parameters", most))
	}
	if err := c.session.Hold(int64(size)); err != nil {
		return err
	}
	c.held += size
	return nil
}

// drop drops size bytes that were held.
func (c *conn) drop(size int) {
	c.held -= size
	_ = c.session.Hold(-int64(size))
}

func (c *conn) findStatement(name string) (*prepared, error) {
	if p := c.statements[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, newError("26000", "unnamed prepared statement does not exist")
	}
	return nil, newError("26000", fmt.Sprintf("prepared statement %q does not exist", name))
}

func (c *conn) findPortal(name string) (*portal, error) {
	if p := c.portals[name]; p != nil {
		return p, nil
	}
	return nil, newError("34000", fmt.Sprintf("portal %q does not exist", name))
}

// closeStatement forgets a statement. Its portals go on: clients that fetch from one use the unnamed statement anew.
func (c *conn) closeStatement(name string) {
	if p := c.statements[name]; p != nil {
		delete(c.statements, name)
		c.drop(p.size)
		p.release()
	}
}

func (c *conn) closePortal(name string) {
	if p := c.portals[name]; p != nil {
		delete(c.portals, name)
		c.drop(p.size)
		p.close()
	}
}

func (c *conn) closePortals() {
	for name := range c.portals {
		c.closePortal(name)
	}
}

// parameters returns the types of a statement's parameters.
func (p *prepared) parameters() []uint32 {
	if p.stmt == nil {
		return nil
	}
	return p.stmt.Parameters()
}

func (c *conn) bind(m *pgproto3.Bind) (err error) {
	prep, err := c.findStatement(m.PreparedStatement)
	if err != nil {
		return err
	}
	if m.DestinationPortal == "" {
		c.closePortal("")
	} else if c.portals[m.DestinationPortal] != nil {
		return newError("42P03", fmt.Sprintf("portal %q already exists", m.DestinationPortal))
	}
	if len(c.portals) >= c.server.options.MaxPrepared {
		return newError("53000", fmt.Sprintf("there are %d portals already", len(c.portals)))
	}
	types := prep.parameters()
	if len(m.Parameters) != len(types) {
		return newError("08P01", fmt.Sprintf("bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), m.PreparedStatement, len(types)))
	}
	formats, err := expand(m.ParameterFormatCodes, len(types), "parameter")
	if err != nil {
		return err
	}
	p := &portal{prep: prep, args: make([]any, len(types))}
	for _, v := range m.Parameters {
		p.size += len(v)
	}
	if err := c.hold(p.size); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.drop(p.size)
		}
	}()
	for i, oid := range types {
		if p.args[i], err = readParameter(i+1, oid, formats[i] == 1, m.Parameters[i]); err != nil {
			return err
		}
	}
	// A statement without columns takes any formats, since drivers ask for their favorite one.
	if len(prep.columns) > 0 {
		if p.formats, err = expand(m.ResultFormatCodes, len(prep.columns), "result"); err != nil {
			return err
		}
	}
	for i, column := range prep.columns {
		if p.formats[i] == 1 && !HasBinary(column.OID) {
			return &Error{Code: "0A000",
				Message: fmt.Sprintf("column %q has a type, with OID %d, that this server does not send in binary", column.Name, column.OID),
				Hint:    "Ask for text results, or cast the column to text."}
		}
	}
	prep.users++
	c.portals[m.DestinationPortal] = p
	c.send(&pgproto3.BindComplete{})
	return nil
}

// expand returns a format for each of n values: none stands for text, one for all.
func expand(codes []int16, n int, what string) ([]int16, error) {
	for _, code := range codes {
		if code != 0 && code != 1 {
			return nil, newError("22023", fmt.Sprintf("unsupported format code: %d", code))
		}
	}
	if len(codes) > 1 && len(codes) != n {
		return nil, newError("08P01", fmt.Sprintf("bind message has %d %s formats but %d values", len(codes), what, n))
	}
	formats := make([]int16, n)
	for i := range formats {
		switch len(codes) {
		case 0:
		case 1:
			formats[i] = codes[0]
		default:
			formats[i] = codes[i]
		}
	}
	return formats, nil
}

func (c *conn) describe(m *pgproto3.Describe) error {
	var columns []Column
	var formats []int16
	switch m.ObjectType {
	case 'S':
		p, err := c.findStatement(m.Name)
		if err != nil {
			return err
		}
		c.send(&pgproto3.ParameterDescription{ParameterOIDs: p.parameters()})
		columns = p.columns
	case 'P':
		p, err := c.findPortal(m.Name)
		if err == nil {
			columns, formats = p.prep.columns, p.formats
			break
		}
		if m.Name == "" || checkText(m.Name) != nil {
			return err
		}
		// A cursor that a statement has declared is a portal too, which psycopg describes.
		cursor, _, failed := c.prepare(`FETCH 0 FROM "`+strings.ReplaceAll(m.Name, `"`, `""`)+`"`, nil)
		if failed != nil || cursor == nil {
			return err
		}
		columns = cursor.columns
		cursor.release()
	default:
		return newError("08P01", "invalid DESCRIBE message subtype")
	}
	if len(columns) == 0 {
		c.send(&pgproto3.NoData{})
	} else {
		c.send(description(columns, formats))
	}
	return nil
}

func (c *conn) execute(m *pgproto3.Execute) error {
	p, err := c.findPortal(m.Portal)
	if err != nil {
		return err
	}
	switch {
	case p.prep.stmt == nil:
		c.send(&pgproto3.EmptyQueryResponse{})
		return nil
	case p.done && p.again != "":
		c.send(&pgproto3.CommandComplete{CommandTag: []byte(p.again)})
		return nil
	case p.done:
		return newError("55000", fmt.Sprintf("portal %q cannot be run", m.Portal))
	}
	limit := int64(int32(m.MaxRows)) // negative ones mean all
	return c.run(p, max(0, limit), false)
}

// run executes a portal, or goes on with it, until limit rows have been sent; 0 stands for all.
func (c *conn) run(p *portal, limit int64, describe bool) error {
	if p.ctx == nil {
		p.ctx, p.cancel = c.begin()
	} else {
		c.setRunning(p.cancel)
	}
	defer c.setRunning(nil)
	err := c.fetch(p, limit, describe)
	if err != nil {
		err = asError(p.ctx, err)
		p.closeRows()
	}
	return err
}

func (c *conn) fetch(p *portal, limit int64, describe bool) error {
	if p.rows == nil {
		rows, err := p.prep.stmt.Query(p.ctx, p.args)
		if err != nil {
			return err
		}
		p.rows = rows
		c.sendNotices()
		if err := c.beginRows(p, describe); err != nil {
			return err
		}
	}
	if p.row.copy != nil {
		limit = 0
	}
	sent := int64(0)
	for limit == 0 || sent < limit {
		more, err := c.sendRow(p)
		if err != nil {
			return err
		}
		if !more {
			return c.complete(p, sent)
		}
		sent++
		if len(c.out) >= flushSize {
			if err := c.flush(); err != nil {
				return err
			}
			if err := p.ctx.Err(); err != nil {
				return err
			}
		}
	}
	c.send(&pgproto3.PortalSuspended{})
	return nil
}

// beginRows sends the messages before the first row.
func (c *conn) beginRows(p *portal, describe bool) error {
	columns := p.prep.columns
	options := p.rows.Copy()
	if options == nil {
		if describe && len(columns) > 0 {
			c.send(description(columns, nil))
		}
		p.row = newRow(columns, p.formats)
		return nil
	}
	if err := options.Check(); err != nil {
		return err
	}
	c.send(&pgproto3.CopyOutResponse{ColumnFormatCodes: make([]uint16, len(options.Columns))})
	p.row = newRow(options.Columns, nil)
	p.row.copy = options
	if options.Header {
		c.send(&pgproto3.CopyData{Data: options.appendHeader(nil)})
	}
	return nil
}

// sendRow sends the next row, and before it the notices that came with it. It reports whether there was a row.
func (c *conn) sendRow(p *portal) (bool, error) {
	r := p.row
	r.begin(c.out)
	more, err := p.rows.Next(r)
	if err == nil && more {
		r.buf, err = r.end()
	}
	if !more || err != nil {
		c.out = r.buf[:r.start]
		c.sendNotices()
		return false, err
	}
	if c.noticed.Load() {
		row := append([]byte{}, r.buf[r.start:]...)
		c.out = r.buf[:r.start]
		c.sendNotices()
		c.out = append(c.out, row...)
		return true, nil
	}
	c.out = r.buf
	return true, nil
}

// complete ends a portal after all of its rows have been sent.
func (c *conn) complete(p *portal, sent int64) error {
	if p.row.copy != nil {
		c.send(&pgproto3.CopyDone{})
	}
	tag := c.deallocate(p.rows.Tag(sent))
	if len(p.prep.columns) > 0 {
		p.again = p.rows.Tag(0)
	}
	p.closeRows()
	c.sendNotices()
	c.send(&pgproto3.CommandComplete{CommandTag: []byte(clean(tag))})
	return nil
}

// deallocate closes the statements that a command says, see Rows.Tag, and returns the tag for the client.
func (c *conn) deallocate(tag string) string {
	const command = "DEALLOCATE"
	name, is := strings.CutPrefix(tag, command+" ")
	switch {
	case tag == "DISCARD ALL", is && name == "ALL":
		for name := range c.statements {
			c.closeStatement(name)
		}
	case is:
		c.closeStatement(strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`))
		return command
	}
	return tag
}

// Notice implements Client.
func (c *conn) Notice(notice *Error) {
	response := pgproto3.NoticeResponse(notice.response("NOTICE", "00000"))
	c.notice(&response)
}

// Parameter implements Client.
func (c *conn) Parameter(name, value string) {
	c.notice(&pgproto3.ParameterStatus{Name: clean(name), Value: clean(value)})
}

func (c *conn) notice(m pgproto3.BackendMessage) {
	c.noticesMu.Lock()
	defer c.noticesMu.Unlock()
	c.notices = append(c.notices, m)
	c.noticed.Store(true)
}

// sendNotices sends the notices that the session has given to Client.
func (c *conn) sendNotices() {
	c.noticesMu.Lock()
	notices := c.notices
	c.notices = nil
	c.noticed.Store(false)
	c.noticesMu.Unlock()
	for _, m := range notices {
		c.send(m)
	}
}

func (c *conn) sendError(e *Error) {
	response := e.response("ERROR", "XX000")
	c.send(&response)
}

// send adds a message to the answer.
func (c *conn) send(m pgproto3.BackendMessage) {
	out, err := m.Encode(c.out)
	if err != nil { // too long, or a count that the protocol has no room for
		c.log.Error("a message cannot be encoded", "error", err)
		c.broken = err
		return
	}
	c.out = out
}

// flush sends the answer so far.
func (c *conn) flush() error {
	if c.broken != nil {
		return c.broken
	}
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.transport.Write(c.out)
	if cap(c.out) > 4*flushSize {
		c.out = nil // a large value was in it
	} else {
		c.out = c.out[:0]
	}
	if err != nil {
		c.broken = err
		c.log.Info("the client does not read", "error", err)
	}
	return err
}
