package sqlitefn

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
)

// schema creates the tables of the main database that hold what the owner declares. Their
// names include main, so that a temporary table cannot take their place, and package declaration
// sees to it that nothing else in the file does. Each statement reads again what it needs; what
// is built from a declaration is remembered by its content.
//
// No statement stays prepared between calls: it would keep a closed connection alive.
const schema = declaration.Schema + `
CREATE TABLE IF NOT EXISTS main.geosql_markov(name TEXT PRIMARY KEY NOT NULL, model BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_prior(name TEXT PRIMARY KEY NOT NULL, prior BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_cip(name TEXT PRIMARY KEY NOT NULL, policy TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_optimal(name TEXT PRIMARY KEY NOT NULL, mechanism BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_trace(
  trace TEXT PRIMARY KEY, account TEXT NOT NULL, mechanism TEXT NOT NULL, settings TEXT NOT NULL) WITHOUT ROWID;`

// database is a database of a connection: 0 is main, 1 temp, and others are attached.
type database struct {
	number int
	name   string
}

// table returns the name of one of its tables, as SQL takes it.
func (d database) table(name string) string { return sqlite.QuoteName(d.name) + "." + name }

// databases returns the databases of the connection in the order of their numbers.
func (s *session) databases() (list []database, err error) {
	err = s.query("PRAGMA database_list", func(st *sqlite.Stmt) {
		list = append(list, database{columnInt(st, 0), columnText(st, 1)})
	})
	return list, err
}

// query runs one statement on the user's connection and calls row for each row.
// Parameters are float64, string or []byte.
func (s *session) query(sql string, row func(*sqlite.Stmt), params ...any) error {
	return s.alone(func() error { return s.run(sql, row, params) })
}

// alone calls f, which runs statements of the session's own. Meanwhile no function may be called: a temporary trigger, for one,
// could read the same table again without end, or charge an account that no statement names.
func (s *session) alone(f func() error) error {
	was := s.own
	s.own = true
	defer func() { s.own = was }()
	return f()
}

func (s *session) run(sql string, row func(*sqlite.Stmt), params []any) error {
	stmt, done, err := s.prepare(sql)
	if err != nil {
		return err
	}
	defer done()
	for i, p := range params {
		switch v := p.(type) {
		case float64:
			stmt.BindFloat(i+1, v)
		case string:
			stmt.BindText(i+1, v)
		case []byte:
			stmt.BindBlob(i+1, v)
		}
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if row != nil {
			row(stmt)
		}
	}
}

// prepare compiles a statement, or takes it from those that the running statement keeps.
func (s *session) prepare(sql string) (stmt *sqlite.Stmt, done func(), err error) {
	if s.running == nil {
		stmt, _, err = s.conn.Prepare(sql)
		return stmt, stmt.Close, err
	}
	stmt = s.running.compiled[sql]
	if stmt == nil {
		if stmt, _, err = s.conn.Prepare(sql); err != nil {
			return nil, nil, err
		}
		if s.running.compiled == nil {
			s.running.compiled = map[string]*sqlite.Stmt{}
		}
		s.running.compiled[sql] = stmt
	}
	return stmt, stmt.Reset, nil
}

// read is query on tables of declarations in the main database. Before the first declaration, which creates
// the tables, there are no rows.
func (s *session) read(sql string, row func(*sqlite.Stmt), params ...any) error {
	tables := declaration.Named(sql)
	if s.running != nil && s.running.compiled[sql] != nil {
		tables = nil // they were looked at before it was compiled
	}
	return s.use("main", tables, sql, row, params...)
}

// readTable reads columns of a table of declarations in any database.
func (s *session) readTable(d database, table, columns string, row func(*sqlite.Stmt)) error {
	return s.use(d.name, []string{table}, "SELECT "+columns+" FROM "+d.table(table), row)
}

func (s *session) use(database string, tables []string, sql string, row func(*sqlite.Stmt), params ...any) error {
	err := declaration.Use(s.conn, database, tables, func() error { return s.query(sql, row, params...) })
	if err != nil && isUndeclared(err) {
		return nil
	}
	return err
}

// isUndeclared reports whether a declaration's table is missing.
func isUndeclared(err error) bool {
	table, missing := strings.CutPrefix(err.Error(), "no such table: ")
	return missing && strings.Contains(table, ".geosql_")
}

// write creates the tables if necessary and runs one statement.
func (s *session) write(sql string, params ...any) error {
	if err := declaration.Check(s.conn, declaration.Named(sql)...); err != nil {
		return err
	}
	if err := s.conn.Exec(schema); err != nil {
		return err
	}
	return s.query(sql, nil, params...)
}

// declare returns what is declared. If nothing is, it first runs the statement insert, which
// must not change an existing declaration, and reads again, since another process may be
// declaring at the same time.
func declare[T any](s *session, read func() (declared T, found bool, err error), insert string, params ...any) (declared T, err error) {
	declared, found, err := read()
	if err != nil || found {
		return declared, err
	}
	if err := s.write(insert, params...); err != nil {
		return declared, err
	}
	declared, _, err = read()
	return declared, err
}

// blobs is the table of a kind of declarations that are blobs under names.
type blobs struct{ kind, table, column string }

// read returns the blob of a name, nil if none is stored.
func (b blobs) read(s *session, name string) (data []byte, err error) {
	err = s.read(`SELECT `+b.column+` FROM main.`+b.table+` WHERE name = ?`, func(st *sqlite.Stmt) {
		data = columnBlob(st, 0)
	}, name)
	return data, err
}

// insert is the statement that stores the blob of a name unless there is one.
func (b blobs) insert() string {
	return `INSERT OR IGNORE INTO main.` + b.table + `(name, ` + b.column + `) VALUES(?,?)`
}

// store stores a blob under a name. It is an error if another one is stored there.
func (b blobs) store(s *session, name string, data []byte) error {
	earlier, err := declare(s, func() ([]byte, bool, error) {
		stored, err := b.read(s, name)
		return stored, stored != nil, err
	}, b.insert(), name, data)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, earlier) {
		return b.errStored(name)
	}
	return nil
}

func (b blobs) errStored(name string) error {
	return fmt.Errorf("%s '%s' is stored already and cannot change; take another name", b.kind, name)
}

// columnText returns a text, "" for anything else.
func columnText(st *sqlite.Stmt, i int) string {
	v := st.Column(i)
	if v.Type() != sqlite.Text {
		return ""
	}
	return v.Text()
}

// columnBlob returns a copy of a blob, nil for anything else.
func columnBlob(st *sqlite.Stmt, i int) []byte {
	v := st.Column(i)
	if v.Type() != sqlite.Blob {
		return nil
	}
	return append([]byte{}, v.Bytes()...)
}

// columnInt returns an integer, 0 for anything else.
func columnInt(st *sqlite.Stmt, i int) int {
	v := st.Column(i)
	if v.Type() != sqlite.Integer {
		return 0
	}
	return int(v.Int())
}

// columnFloat returns a number.
func columnFloat(st *sqlite.Stmt, i int) float64 {
	v := st.Column(i)
	if v.Type() == sqlite.Integer {
		return float64(v.Int())
	}
	return v.Float()
}

// declaredNames returns the names of the declarations of a kind, such as "domain": that is
// the name of its table without the prefix geosql_.
func (s *session) declaredNames(kind string) (names []string, err error) {
	err = s.read(`SELECT name FROM main.geosql_`+kind+` ORDER BY name`,
		func(st *sqlite.Stmt) { names = append(names, columnText(st, 0)) })
	return names, err
}

// undeclared returns the error about an argument that names no declaration of its kind.
func (c call) undeclared(a *argument, kind string) error {
	there := "none is"
	if names, err := c.session.declaredNames(kind); err == nil && len(names) > 0 {
		there = "there are: " + strings.Join(names, ", ")
	}
	return c.argErrorf(a, "%s is not declared (%s)", quoted(c.bytes(a)), there)
}

// parseStored returns what a stored value means. The result is remembered by the content of
// the value, as long as its domain stays the same.
func parseStored[T any](s *session, m *memo[string, T], data []byte,
	parse func([]byte, func(string) (*planar.Domain, error)) (T, error), domainOf func(T) *planar.Domain) (T, error) {
	if v, ok := m.entries(s)[string(data)]; ok {
		was := domainOf(v)
		if domain, err := s.resolveDomain(was.Name()); err != nil || domain == was {
			return v, err
		}
	}
	v, err := parse(data, s.resolveDomain)
	if err == nil {
		m.put(s, string(data), v)
	}
	return v, err
}
