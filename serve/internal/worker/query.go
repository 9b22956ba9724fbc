package worker

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A query is a compiled SELECT. It implements [wire.Statement].
type query struct {
	session    *Session
	sql        string       // that SQLite compiles
	stmt       *sqlite.Stmt // nil while rows use it
	parameters []uint32
	columns    []wire.Column
	asks       bool // whether it calls functions that the keeper answers
	questions  pipe.Questions
	single     bool // whether it asks and has at most one row, for which alone it asks
}

// compileQuery compiles a query. types are the types of parameters as far as the client declares them.
func (s *Session) compileQuery(ctx context.Context, read sqltext.Statement, types []uint32) (*query, error) {
	if err := mayRun(read.SQL); err != nil {
		return nil, err
	}
	db := s.database
	d := dialect.Describe(read, db.catalogue.ColumnsIn(read), privateFunctions())
	d.Parameters(0, types)
	rewritten, err := d.Rewrite(true)
	if err != nil {
		return nil, asError(err)
	}
	db.timeout = s.settings.timeout()
	stmt, err := db.compile(ctx, read.SQL, rewritten)
	if err != nil {
		return nil, err
	}
	private := rewritten
	seen, err := db.inspect(ctx, rewritten)
	if err == nil && (seen.asks || seen.sealed) {
		// Another order than that of GROUP BY would ask for all groups before the first row.
		if rewritten, err = d.Rewrite(false); err == nil {
			stmt.Close()
			if stmt, err = db.compile(ctx, read.SQL, rewritten); err != nil {
				return nil, err
			}
			seen, err = db.inspect(ctx, rewritten)
		}
	}
	if err == nil && seen.sealed {
		private, err = db.pass(ctx, rewritten, s.settings.now[Epsilon])
	}
	if err == nil && private != rewritten {
		stmt.Close()
		if stmt, err = db.compile(ctx, read.SQL, private); err != nil {
			return nil, err
		}
		seen, err = db.inspect(ctx, private)
	}
	if err == nil && stmt.Columns() == 0 {
		err = newError("42601", "the statement has no columns")
	}
	if err != nil {
		stmt.Close()
		return nil, err
	}
	q := &query{session: s, sql: private, stmt: stmt, asks: seen.asks, single: seen.asks && seen.single, questions: seen.questions}
	q.parameters = d.Parameters(stmt.Parameters(), types)
	results := d.Results()
	s.tell(d.Differences())
	if private != rewritten { // under the names that the client knows
		d = dialect.Describe(dialect.Read(private), db.catalogue.ColumnsIn(read), privateFunctions())
		for i, r := range d.Results() {
			if i < len(results) {
				results[i].Type = r.Type
			}
		}
	}
	q.columns = resultColumns(d, results, stmt)
	return q, nil
}

// tell tells the client, once in a session, that statements mean something else here than to PostgreSQL.
func (s *Session) tell(differences []string) {
	for _, d := range differences {
		if kind, _, _ := strings.Cut(d, " "); !s.told[kind] {
			s.told[kind] = true
			s.client.Notice(&wire.Error{Message: d})
		}
	}
}

// privateFunctions returns the private functions of sessions by their names.
var privateFunctions = sync.OnceValue(func() map[string]dialect.Function {
	functions := map[string]dialect.Function{}
	for _, f := range sqlitefn.RemoteFunctions() {
		functions[f.Name] = dialect.Function{Returns: f.Returns, Numbers: f.Numbers}
	}
	return functions
})

// readers are the first words of statements that only read.
var readers = map[string]bool{"SELECT": true, "WITH": true, "VALUES": true, "EXPLAIN": true}

// writers are those of statements that change rows or tables, as PostgreSQL names them.
var writers = map[string]bool{"INSERT": true, "UPDATE": true, "DELETE": true, "REPLACE": true, "MERGE": true, "TRUNCATE": true,
	"CREATE": true, "ALTER": true, "DROP": true, "VACUUM": true, "REINDEX": true, "ANALYZE": true, "COMMENT": true, "CLUSTER": true,
	"REFRESH": true, "IMPORT": true, "SECURITY": true, "REASSIGN": true}

// mayRun returns the error of a statement that does more than read, whatever it is.
func mayRun(sql string) error {
	word := strings.ToUpper(sqltext.PostgreSQL.First(sql).Text)
	switch {
	case readers[word]:
		return nil
	case writers[word]:
		return readOnly(word)
	case word == "PRAGMA", word == "ATTACH", word == "DETACH", word == "LOAD":
		return newError("42501", "permission denied for %s", word)
	}
	return nil // a syntax error, which SQLite words
}

// Parameters implements [wire.Statement].
func (q *query) Parameters() []uint32 { return q.parameters }

// Columns implements [wire.Statement].
func (q *query) Columns() []wire.Column { return q.columns }

// Close implements [wire.Statement].
func (q *query) Close() {
	if q.stmt != nil {
		q.stmt.Close()
		q.stmt = nil
	}
}

// Query implements [wire.Statement].
func (q *query) Query(ctx context.Context, args []any) (wire.Rows, error) {
	r, err := q.rows(ctx, args)
	if err != nil {
		return nil, err // not a nil *queryRows
	}
	return r, nil
}

func (q *query) rows(ctx context.Context, args []any) (*queryRows, error) {
	if err := q.session.mayQuery(); err != nil {
		return nil, err
	}
	run, err := q.begin(ctx, args)
	if err != nil {
		return nil, err
	}
	return &queryRows{run: run, ctx: ctx, stop: q.session.database.watch(ctx)}, nil
}

// begin begins an execution. It steps nothing.
func (q *query) begin(ctx context.Context, args []any) (*execution, error) {
	db := q.session.database
	db.timeout = q.session.settings.timeout()
	stmt := q.stmt
	if q.stmt = nil; stmt == nil { // other rows of the statement are open
		var err error
		if stmt, err = db.compile(ctx, q.sql, q.sql); err != nil {
			return nil, err
		}
	}
	for i, a := range args {
		if i < stmt.Parameters() {
			bind(stmt, i+1, a, q.parameters[i])
		}
	}
	return &execution{query: q, stmt: stmt, values: make([]sqlite.Value, len(q.columns)), patience: db.timeout}, nil
}

// bind binds an argument. A numeric travels as text.
func bind(stmt *sqlite.Stmt, i int, arg any, oid uint32) {
	switch a := arg.(type) {
	case nil:
		stmt.BindNull(i)
	case int64:
		stmt.BindInts(i, a)
	case float64:
		stmt.BindFloat(i, a)
	case bool:
		stmt.BindInts(i, number(a))
	case []byte:
		stmt.BindBlob(i, a)
	case string:
		if oid == wire.OIDNumeric {
			if n, err := strconv.ParseInt(a, 10, 64); err == nil {
				stmt.BindInts(i, n)
				return
			}
			if f, err := strconv.ParseFloat(a, 64); err == nil {
				stmt.BindFloat(i, f)
				return
			}
		}
		stmt.BindText(i, a)
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// An execution is a run of a query.
type execution struct {
	query    *query
	stmt     *sqlite.Stmt
	values   []sqlite.Value
	rows     int64         // so far
	patience time.Duration // that is left; 0 for ever
	since    time.Time     // when it began to work without a pause; zero if it pauses behind each row
	over     bool
	noticed  bool // that it reads a sealed column bare
}

// next steps to the next row. ctx is that of the call.
func (e *execution) next(ctx context.Context) (bool, error) {
	if e.over {
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		if e := (*wire.Error)(nil); asWire(context.Cause(ctx), &e) {
			return false, e
		}
		return false, wire.ErrCanceled
	}
	if e.since.IsZero() {
		defer e.work()()
	}
	if e.patience < 0 {
		e.over = true
		return false, wire.ErrTimeout
	}
	db := e.query.session.database
	db.guard.Begin()
	db.remote.err = nil
	more, err := e.stmt.Step()
	if err != nil {
		e.over = true
		return false, db.runError(ctx, err)
	}
	if !more {
		e.over = true
		return false, nil
	}
	if e.rows++; e.rows == 1 && e.stmt.CountColumns() != len(e.values) {
		e.over = true
		return false, &wire.Error{Code: "0A000", Message: "the tables have changed, and the statement has other columns now", Hint: "Prepare the statement again."}
	}
	if most := e.query.session.config.Rows; most > 0 && e.rows > most {
		e.over = true
		return false, &wire.Error{Code: "54000", Message: fmt.Sprintf("the result has more than %d rows", most),
			Hint: "Add a LIMIT, or let the owner raise the role's rows."}
	}
	e.stmt.Row(0, e.values)
	return true, nil
}

// work says that rows follow each other from now on, until the function is called that it returns. The time until then is
// taken from the patience.
func (e *execution) work() (pause func()) {
	e.since = time.Now()
	e.query.session.database.guard.SetPatience(max(e.patience, 0))
	return func() {
		if e.patience > 0 {
			if e.patience -= time.Since(e.since); e.patience == 0 {
				e.patience = -1 // 0 would be for ever
			}
		}
		e.since = time.Time{}
	}
}

// write writes the row that next has stepped to.
func (e *execution) write(row wire.Row) error {
	for i := range e.values {
		v := &e.values[i]
		if v.Type() == sqlite.Blob && e.isSealed(v.Bytes()) {
			writeSealed(row, e.query.columns[i].OID)
			continue
		}
		if err := write(row, v, &e.query.columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// isSealed reports whether a blob is a sealed value, narrowed or not, and tells the client about it.
func (e *execution) isSealed(b []byte) bool {
	if !sqlitefn.IsSealed(b) {
		return false
	}
	s := e.query.session
	c, is := s.database.sealed[binary.BigEndian.Uint32(b)]
	if is && !e.noticed {
		e.noticed = true
		example := "dx_sum(" + c.column + ", 0.1)"
		if c.location {
			example = "dx_heatmap(" + c.column + ", 1, 1000)"
		}
		s.client.Notice(&wire.Error{Message: c.column + " is sealed: ask with a private function, such as " + example})
	}
	return is
}

// writeSealed writes the stand-in for a sealed value.
func writeSealed(row wire.Row, oid uint32) {
	const sealed = "sealed"
	if oid == wire.OIDBytea {
		row.Bytes([]byte(sealed))
	} else {
		row.Text(sealed)
	}
}

// close ends the execution. The next one uses its statement again.
func (e *execution) close() {
	if e.stmt == nil {
		return
	}
	e.stmt.Reset()
	e.stmt.ClearBindings()
	if e.query.stmt == nil {
		e.query.stmt = e.stmt
	} else {
		e.stmt.Close()
	}
	e.stmt = nil
}

// queryRows are the rows of an execution. They implement [wire.Rows].
type queryRows struct {
	run  *execution
	ctx  context.Context
	stop func()
}

// Next implements [wire.Rows].
func (r *queryRows) Next(row wire.Row) (bool, error) {
	more, err := r.run.next(r.ctx)
	if err != nil || !more {
		return false, r.run.query.session.failed(err)
	}
	return true, r.run.write(row)
}

// asks implements [knowing].
func (r *queryRows) asks() bool { return r.run.query.asks }

// last implements [knowing].
func (r *queryRows) last() bool { return r.run.query.single }

// work implements [knowing].
func (r *queryRows) work() (pause func()) { return r.run.work() }

// Copy implements [wire.Rows].
func (r *queryRows) Copy() *wire.Copy { return nil }

// Tag implements [wire.Rows].
func (r *queryRows) Tag(rows int64) string { return "SELECT " + strconv.FormatInt(rows, 10) }

// Close implements [wire.Rows].
func (r *queryRows) Close() {
	r.stop()
	r.run.close()
}
