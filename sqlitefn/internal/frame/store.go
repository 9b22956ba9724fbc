package frame

import (
	"strings"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
)

// schema creates the tables of the main database for the owner's declarations. Their
// names include main, so that a temporary table cannot take their place, and package declaration
// sees to it that nothing else in the file does. Each statement reads again the rows that it needs;
// values built from a declaration are remembered by its content.
//
// No statement stays prepared between calls: it would keep a closed connection alive.
const schema = declaration.Schema + `
CREATE TABLE IF NOT EXISTS main.geosql_markov(name TEXT PRIMARY KEY NOT NULL, model BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_prior(name TEXT PRIMARY KEY NOT NULL, prior BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_cip(name TEXT PRIMARY KEY NOT NULL, policy TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_optimal(name TEXT PRIMARY KEY NOT NULL, mechanism BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_trace(
  trace TEXT PRIMARY KEY, account TEXT NOT NULL, mechanism TEXT NOT NULL, settings TEXT NOT NULL) WITHOUT ROWID;`

// Database is a database of a connection: 0 is main, 1 temp, and others are attached.
type Database struct {
	Number int
	Name   string
}

// Table returns the name of one of its tables, as SQL takes it.
func (d Database) Table(name string) string { return sqlite.QuoteName(d.Name) + "." + name }

// Databases returns the databases of the connection in the order of their numbers.
func (s *Session) Databases() (list []Database, err error) {
	err = s.Query("PRAGMA database_list", func(st *sqlite.Stmt) {
		list = append(list, Database{ColumnInt(st, 0), ColumnText(st, 1)})
	})
	return list, err
}

// Query runs one statement on the user's connection and calls row for each row.
// Parameters are float64, string or []byte.
func (s *Session) Query(sql string, row func(*sqlite.Stmt), params ...any) error {
	return s.Alone(func() error { return s.run(sql, row, params) })
}

// Alone calls f, which runs statements of the session's own. Meanwhile no function may be called: a temporary trigger, for one,
// could read the same table again without end, or charge an account that no statement names.
func (s *Session) Alone(f func() error) error {
	was := s.own
	s.own = true
	defer func() { s.own = was }()
	return f()
}

func (s *Session) run(sql string, row func(*sqlite.Stmt), params []any) error {
	stmt, done, err := s.prepare(sql)
	if err != nil {
		return err
	}
	defer done()
	for i, p := range params {
		if err := stmt.Bind(i+1, p); err != nil {
			return err
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

// prepare compiles a statement, or takes it from the compiled ones that the running statement keeps.
func (s *Session) prepare(sql string) (stmt *sqlite.Stmt, done func(), err error) {
	if s.running == nil {
		stmt, _, err = s.Conn.Prepare(sql)
		return stmt, stmt.Close, err
	}
	stmt = s.running.compiled[sql]
	if stmt == nil {
		if stmt, _, err = s.Conn.Prepare(sql); err != nil {
			return nil, nil, err
		}
		if s.running.compiled == nil {
			s.running.compiled = map[string]*sqlite.Stmt{}
		}
		s.running.compiled[sql] = stmt
	}
	return stmt, stmt.Reset, nil
}

// Read is query on tables of declarations in the main database. Before the first declaration, which creates
// the tables, there are no rows.
func (s *Session) Read(sql string, row func(*sqlite.Stmt), params ...any) error {
	tables := declaration.Named(sql)
	if s.running != nil && s.running.compiled[sql] != nil {
		tables = nil // they were looked at before it was compiled
	}
	return s.use("main", tables, sql, row, params...)
}

// ReadTable reads columns of a table of declarations in any database.
func (s *Session) ReadTable(d Database, table, columns string, row func(*sqlite.Stmt)) error {
	return s.use(d.Name, []string{table}, "SELECT "+columns+" FROM "+d.Table(table), row)
}

func (s *Session) use(database string, tables []string, sql string, row func(*sqlite.Stmt), params ...any) error {
	err := declaration.Use(s.Conn, database, tables, func() error { return s.Query(sql, row, params...) })
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

// Write creates the tables if necessary and runs one statement.
func (s *Session) Write(sql string, params ...any) error {
	if err := declaration.Check(s.Conn, declaration.Named(sql)...); err != nil {
		return err
	}
	if err := s.Conn.Exec(schema); err != nil {
		return err
	}
	return s.Query(sql, nil, params...)
}

// ColumnText returns a text, "" for anything else.
func ColumnText(st *sqlite.Stmt, i int) string {
	v := st.Column(i)
	if v.Type() != sqlite.Text {
		return ""
	}
	return v.Text()
}

// ColumnBlob returns a copy of a blob, nil for anything else.
func ColumnBlob(st *sqlite.Stmt, i int) []byte {
	v := st.Column(i)
	if v.Type() != sqlite.Blob {
		return nil
	}
	return append([]byte{}, v.Bytes()...)
}

// ColumnInt returns an integer, 0 for anything else.
func ColumnInt(st *sqlite.Stmt, i int) int {
	v := st.Column(i)
	if v.Type() != sqlite.Integer {
		return 0
	}
	return int(v.Int())
}

// ColumnFloat returns a number.
func ColumnFloat(st *sqlite.Stmt, i int) float64 {
	v := st.Column(i)
	if v.Type() == sqlite.Integer {
		return float64(v.Int())
	}
	return v.Float()
}
