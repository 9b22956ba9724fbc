package worker

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/wire"
)

// prepare makes a statement of a command, which first is.
func (s *Session) prepare(ctx context.Context, first sqltext.Statement, command dialect.Command, types []uint32) (wire.Statement, error) {
	if err := s.mayPrepare(command); err != nil {
		return nil, err
	}
	switch c := command.(type) {
	case dialect.Query:
		q, err := s.compileQuery(ctx, first, types)
		if err != nil {
			return nil, err
		}
		return q, nil
	case dialect.Copy:
		return s.prepareCopy(ctx, c, types)
	case dialect.Declare:
		return s.prepareDeclare(ctx, c, types)
	case dialect.Fetch:
		return s.prepareFetch(c)
	case dialect.Explain:
		return s.prepareExplain(ctx, c)
	case dialect.Show:
		return s.prepareShow(c)
	}
	return &statement{session: s, command: command}, nil
}

// errAborted is the answer of a failed transaction.
var errAborted = &wire.Error{Code: "25P02", Message: "current transaction is aborted, commands ignored until end of transaction block"}

// mayPrepare returns an error if a failed transaction does not take a command.
func (s *Session) mayPrepare(command dialect.Command) error {
	if s.status != wire.Failed {
		return nil
	}
	switch c := command.(type) {
	case dialect.Commit, dialect.Rollback:
		return nil
	case dialect.Savepoint:
		if c.Rollback {
			return nil
		}
	}
	return errAborted
}

// mayQuery returns an error if a failed transaction does not run statements.
func (s *Session) mayQuery() error {
	if s.status == wire.Failed {
		return errAborted
	}
	return nil
}

// failed returns the error of a statement. One that was interrupted has ended the cursors too: the
// interrupt lasts until nothing runs.
func (s *Session) failed(err error) error {
	if e := (*wire.Error)(nil); asWire(err, &e) && e.Code == "57014" {
		s.closeCursors(true)
	}
	return err
}

// A statement is a command that the session answers, without rows of the database. It implements
// [wire.Statement].
type statement struct {
	session *Session
	command dialect.Command
	columns []wire.Column
	rows    func() [][]string
	tag     string // of a statement with rows
}

func (st *statement) Parameters() []uint32   { return nil }
func (st *statement) Columns() []wire.Column { return st.columns }
func (st *statement) Close()                 {}

// Query implements [wire.Statement].
func (st *statement) Query(ctx context.Context, _ []any) (wire.Rows, error) {
	if err := st.session.mayPrepare(st.command); err != nil {
		return nil, err
	}
	if st.rows != nil {
		return &textRows{rows: st.rows(), tag: st.tag}, nil
	}
	tag, err := st.session.execute(st.command)
	if err != nil {
		return nil, err
	}
	return &textRows{tag: tag}, nil
}

// textRows are rows of texts. They implement [wire.Rows].
type textRows struct {
	rows [][]string
	tag  string
}

func (r *textRows) Next(row wire.Row) (bool, error) {
	if len(r.rows) == 0 {
		return false, nil
	}
	for _, v := range r.rows[0] {
		row.Text(v)
	}
	r.rows = r.rows[1:]
	return true, nil
}

func (r *textRows) Copy() *wire.Copy { return nil }
func (r *textRows) Tag(int64) string { return r.tag }
func (r *textRows) Close()           {}

// execute runs a command and returns its tag.
func (s *Session) execute(command dialect.Command) (string, error) {
	switch c := command.(type) {
	case dialect.Set:
		return "SET", s.executeSet(c)
	case dialect.Reset:
		if c.Name == "all" {
			s.settings.restore(s.settings.initial)
			return "RESET", nil
		}
		return "RESET", s.settings.reset(c.Name)
	case dialect.Begin:
		return s.begin(c)
	case dialect.Commit:
		return s.end(true)
	case dialect.Rollback:
		return s.end(false)
	case dialect.Savepoint:
		return s.savepoint(c)
	case dialect.Discard:
		return s.discard(c)
	case dialect.Deallocate:
		if c.Name == "" {
			return "DEALLOCATE ALL", nil
		}
		return "DEALLOCATE " + quoted(c.Name), nil // the server, which has the statement, closes it
	case dialect.Close:
		return s.closeCursor(c)
	case dialect.Unlisten:
		return "UNLISTEN", nil
	}
	return "", newError("0A000", "the command is not supported")
}

func (s *Session) executeSet(c dialect.Set) error {
	switch {
	case c.Default:
		return s.settings.reset(c.Name)
	case !c.Local:
		return s.settings.set(c.Name, c.Value)
	case s.status == wire.Idle:
		if _, err := s.settings.check(c.Name, c.Value); err != nil {
			return err
		}
		s.warn("25P01", "SET LOCAL can only be used in transaction blocks")
		return nil
	}
	return s.settings.setLocal(c.Name, c.Value)
}

// warn sends a warning.
func (s *Session) warn(code, message string) {
	s.client.Notice(&wire.Error{Severity: "WARNING", Code: code, Message: message})
}

// prepareShow answers SHOW.
func (s *Session) prepareShow(c dialect.Show) (wire.Statement, error) {
	st := &statement{session: s, command: c, tag: "SHOW"}
	if c.Name == "all" {
		for _, name := range []string{"name", "setting", "description"} {
			st.columns = append(st.columns, wire.Column{Name: name, OID: wire.OIDText})
		}
		st.rows = func() (rows [][]string) {
			for _, name := range s.settings.names() {
				value, _ := s.settings.get(name)
				rows = append(rows, []string{name, value, ""})
			}
			return rows
		}
		return st, nil
	}
	if _, is := s.settings.get(c.Name); !is {
		return nil, unknown(c.Name)
	}
	name := c.Name
	if k := knownByName[name]; k != nil {
		name = k.name
	}
	st.columns = []wire.Column{{Name: name, OID: wire.OIDText}}
	st.rows = func() [][]string {
		value, _ := s.settings.get(c.Name)
		return [][]string{{value}}
	}
	return st, nil
}

// A savepoint remembers the settings.
type savepoint struct {
	name     string // empty for the beginning of the transaction
	settings map[string]string
	local    map[string]string
}

func (s *Session) mark(name string) {
	s.savepoints = append(s.savepoints, savepoint{name, maps.Clone(s.settings.now), maps.Clone(s.settings.local)})
}

// begin begins a transaction: its statements see the database as it is at the first of them.
func (s *Session) begin(c dialect.Begin) (string, error) {
	if c.ReadWrite {
		return "", &wire.Error{Code: "25006", Message: "the database is read-only: a transaction cannot be READ WRITE"}
	}
	if s.status != wire.Idle {
		s.warn("25001", "there is already a transaction in progress")
		return "BEGIN", nil
	}
	if err := s.database.transaction("BEGIN"); err != nil {
		return "", err
	}
	s.status = wire.InTransaction
	s.mark("")
	return "BEGIN", nil
}

// transaction runs a statement that begins or ends a transaction.
func (db *database) transaction(sql string) error {
	db.guard.SetPatience(0)
	err := db.conn.Lift(func() error { return db.conn.Exec(sql) })
	if e, ok := err.(*sqlite.Error); ok {
		return db.sqliteError(e, "25000")
	}
	return err
}

// end ends a transaction.
func (s *Session) end(commit bool) (string, error) {
	tag := "ROLLBACK"
	if commit && s.status != wire.Failed {
		tag = "COMMIT"
	}
	if s.status == wire.Idle {
		s.warn("25P01", "there is no transaction in progress")
		return tag, nil
	}
	s.closeCursors(tag == "ROLLBACK")
	// Nothing was written, so that both do the same. COMMIT leaves running statements alone.
	if err := s.database.transaction("COMMIT"); err != nil {
		return "", err
	}
	if tag == "ROLLBACK" {
		s.settings.restore(s.savepoints[0].settings)
		clear(s.settings.local)
	} else {
		s.settings.endLocal()
	}
	s.status, s.savepoints = wire.Idle, nil
	return tag, nil
}

// savepoint answers SAVEPOINT, RELEASE and ROLLBACK TO.
func (s *Session) savepoint(c dialect.Savepoint) (string, error) {
	tag := "SAVEPOINT"
	switch {
	case c.Release:
		tag = "RELEASE"
	case c.Rollback:
		tag = "ROLLBACK"
	}
	if s.status == wire.Idle {
		if c.Rollback {
			return "", newError("25P01", "ROLLBACK TO SAVEPOINT can only be used in transaction blocks")
		}
		return "", newError("25P01", "%s can only be used in transaction blocks", tag)
	}
	if tag == "SAVEPOINT" {
		s.mark(c.Name)
		return tag, nil
	}
	i := len(s.savepoints) - 1
	for ; i > 0 && s.savepoints[i].name != c.Name; i-- {
	}
	if i == 0 {
		return "", newError("3B001", "savepoint %s does not exist", quoted(c.Name))
	}
	if c.Release {
		s.savepoints = s.savepoints[:i]
		return tag, nil
	}
	s.savepoints = s.savepoints[:i+1]
	s.settings.restore(s.savepoints[i].settings)
	s.settings.local = maps.Clone(s.savepoints[i].local)
	s.status = wire.InTransaction
	return tag, nil
}

func (s *Session) discard(c dialect.Discard) (string, error) {
	if c.What == "all" {
		if s.status != wire.Idle {
			return "", newError("25001", "DISCARD ALL cannot run inside a transaction block")
		}
		s.closeCursors(true)
		s.settings.restore(s.settings.initial)
		clear(s.database.gated)
	}
	return "DISCARD " + strings.ToUpper(c.What), nil
}

// A cursor is the execution of a query from which FETCH fetches.
type cursor struct {
	query *query
	run   *execution
	hold  bool // it outlives its transaction
}

// closeCursors closes all cursors, or only the ones that do not outlive a transaction.
func (s *Session) closeCursors(all bool) {
	for name, c := range s.cursors {
		if all || !c.hold {
			c.close()
			delete(s.cursors, name)
		}
	}
}

func (c *cursor) close() {
	c.run.close()
	c.query.Close()
}

// mostCursors is the largest number of cursors of a session.
const mostCursors = 100

// A declare is DECLARE name CURSOR FOR query. It implements [wire.Statement].
type declare struct {
	*query
	command dialect.Declare
}

func (s *Session) prepareDeclare(ctx context.Context, c dialect.Declare, types []uint32) (wire.Statement, error) {
	if c.Binary {
		return nil, newError("0A000", "DECLARE BINARY is not supported: ask for binary results by the protocol")
	}
	q, err := s.compileQuery(ctx, dialect.Read(c.SQL), types)
	if err != nil {
		return nil, err
	}
	return &declare{q, c}, nil
}

// Columns implements [wire.Statement].
func (d *declare) Columns() []wire.Column { return nil }

// Query implements [wire.Statement].
func (d *declare) Query(ctx context.Context, args []any) (wire.Rows, error) {
	s := d.session
	if err := s.mayQuery(); err != nil {
		return nil, err
	}
	switch {
	case s.status == wire.Idle && !d.command.Hold:
		return nil, newError("25P01", "DECLARE CURSOR can only be used in transaction blocks")
	case s.cursors[d.command.Name] != nil:
		return nil, newError("42P03", "cursor %s already exists", quoted(d.command.Name))
	case len(s.cursors) >= mostCursors:
		return nil, newError("53000", "there are %d cursors already", mostCursors)
	}
	// The statement may be closed before the cursor.
	q := *d.query
	q.stmt = nil
	run, err := q.begin(ctx, args)
	if err != nil {
		return nil, err
	}
	s.cursors[d.command.Name] = &cursor{&q, run, d.command.Hold}
	return &textRows{tag: "DECLARE CURSOR"}, nil
}

// A fetch is FETCH and MOVE. It implements [wire.Statement].
type fetch struct {
	statement
	command dialect.Fetch
}

func (s *Session) cursor(name string) (*cursor, error) {
	if c := s.cursors[name]; c != nil {
		return c, nil
	}
	return nil, newError("34000", "cursor %s does not exist", quoted(name))
}

func (s *Session) prepareFetch(c dialect.Fetch) (wire.Statement, error) {
	cursor, err := s.cursor(c.Name)
	if err != nil {
		return nil, err
	}
	f := &fetch{statement{session: s}, c}
	if !c.Move {
		f.columns = cursor.query.columns
	}
	return f, nil
}

// Query implements [wire.Statement].
func (f *fetch) Query(ctx context.Context, _ []any) (wire.Rows, error) {
	if err := f.session.mayQuery(); err != nil {
		return nil, err
	}
	c, err := f.session.cursor(f.command.Name)
	if err != nil {
		return nil, err
	}
	if !f.command.Move && len(c.query.columns) != len(f.columns) {
		return nil, &wire.Error{Code: "0A000", Message: "the cursor has other columns now", Hint: "Prepare the statement again."}
	}
	db := f.session.database
	c.run.patience = f.session.settings.timeout() // each FETCH is a statement
	return &fetchRows{fetch: f, run: c.run, ctx: ctx, stop: db.watch(ctx)}, nil
}

// fetchRows are the rows of a FETCH. They implement [wire.Rows].
type fetchRows struct {
	fetch *fetch
	run   *execution
	ctx   context.Context
	stop  func()
	rows  int64
}

// Next implements [wire.Rows].
func (r *fetchRows) Next(row wire.Row) (bool, error) {
	for r.fetch.command.All || r.rows < r.fetch.command.Count {
		if r.run.stmt == nil {
			return false, newError("34000", "cursor %s does not exist", quoted(r.fetch.command.Name))
		}
		more, err := r.run.next(r.ctx)
		if err != nil || !more {
			return false, r.fetch.session.failed(err)
		}
		r.rows++
		if !r.fetch.command.Move {
			return true, r.run.write(row)
		}
	}
	return false, nil
}

// Copy implements [wire.Rows].
func (r *fetchRows) Copy() *wire.Copy { return nil }

// Tag implements [wire.Rows].
func (r *fetchRows) Tag(rows int64) string {
	if r.fetch.command.Move {
		return "MOVE " + strconv.FormatInt(r.rows, 10)
	}
	return "FETCH " + strconv.FormatInt(rows, 10)
}

// Close implements [wire.Rows].
func (r *fetchRows) Close() { r.stop() }

// closeCursor answers CLOSE.
func (s *Session) closeCursor(c dialect.Close) (string, error) {
	if c.Name == "" {
		s.closeCursors(true)
		return "CLOSE CURSOR ALL", nil
	}
	cursor, err := s.cursor(c.Name)
	if err != nil {
		return "", err
	}
	cursor.close()
	delete(s.cursors, c.Name)
	return "CLOSE CURSOR", nil
}

// A copyOut is COPY (query) TO STDOUT. It implements [wire.Statement].
type copyOut struct {
	*query
	command dialect.Copy
}

func (s *Session) prepareCopy(ctx context.Context, c dialect.Copy, types []uint32) (wire.Statement, error) {
	q, err := s.compileQuery(ctx, dialect.Read(c.SQL), types)
	if err != nil {
		return nil, withoutPosition(err)
	}
	return &copyOut{q, c}, nil
}

// withoutPosition takes the position from an error about a statement that the client has not written.
func withoutPosition(err error) error {
	var e *wire.Error
	if !asWire(err, &e) || e.Position == 0 {
		return err
	}
	without := *e
	without.Position = 0
	return &without
}

// Columns implements [wire.Statement].
func (c *copyOut) Columns() []wire.Column { return nil }

// Query implements [wire.Statement].
func (c *copyOut) Query(ctx context.Context, args []any) (wire.Rows, error) {
	rows, err := c.query.rows(ctx, args)
	if err != nil {
		return nil, err
	}
	return copyRows{rows, c}, nil
}

// copyRows are rows that are copied. They implement [wire.Rows].
type copyRows struct {
	*queryRows
	copy *copyOut
}

// Copy implements [wire.Rows].
func (r copyRows) Copy() *wire.Copy {
	c := r.copy.command
	return &wire.Copy{Columns: r.copy.query.columns, CSV: c.CSV, Header: c.Header, Delimiter: c.Delimiter[0], Null: c.Null, NullSet: true}
}

// Tag implements [wire.Rows].
func (r copyRows) Tag(rows int64) string { return "COPY " + strconv.FormatInt(rows, 10) }

// prepareExplain shows the plan of a query as SQLite tells it.
func (s *Session) prepareExplain(ctx context.Context, c dialect.Explain) (wire.Statement, error) {
	if c.Analyze {
		return nil, &wire.Error{Code: "0A000", Message: "EXPLAIN ANALYZE is not supported: it would run the query, and pay for it",
			Hint: "EXPLAIN without ANALYZE shows the plan."}
	}
	q, err := s.compileQuery(ctx, dialect.Read(c.SQL), nil)
	if err != nil {
		return nil, withoutPosition(err)
	}
	plan, err := s.database.plan(ctx, q.sql)
	q.Close()
	if err != nil {
		return nil, err
	}
	return &statement{session: s, command: c, columns: []wire.Column{{Name: "QUERY PLAN", OID: wire.OIDText}},
		rows: func() [][]string { return plan }, tag: "EXPLAIN"}, nil
}

// plan returns the lines of the plan of a statement, indented by their depth.
func (db *database) plan(ctx context.Context, sql string) (lines [][]string, err error) {
	stmt, err := db.compile(ctx, sql, "EXPLAIN QUERY PLAN "+sql)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	depth := map[int64]int{}
	for {
		more, err := stmt.Step()
		if err != nil {
			return nil, db.runError(ctx, err)
		}
		if !more {
			return lines, nil
		}
		id, parent, detail := stmt.Column(0), stmt.Column(1), stmt.Column(3)
		depth[id.Int()] = depth[parent.Int()] + 1
		lines = append(lines, []string{strings.Repeat("  ", depth[parent.Int()]) + detail.Text()})
	}
}
