//go:build !geosql_loadable

package sqlitefn

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// Register gives one connection of mattn/go-sqlite3 the functions. It fits into
// a ConnectHook beside an application's own work; called through sql.Conn.Raw it
// equips that one pooled connection only.
func Register(conn *sqlite3.SQLiteConn, opts ...Option) error {
	c, err := sqlite.FromDriver(conn)
	if err != nil {
		return err
	}
	_, err = attach(c, collectOptions(opts))
	return err
}

// Connector opens connections that have the functions, for sql.OpenDB. The data
// source name is that of mattn/go-sqlite3. The error that a pool returns of a statement that was
// refused is a [*RefusedError]; sql.Conn.Raw passes a [*Conn].
func Connector(dsn string, opts ...Option) driver.Connector {
	return &connector{dsn, &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error { return Register(c, opts...) },
	}}
}

type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	conn := opened.(*sqlite3.SQLiteConn)
	handle, err := sqlite.FromDriver(conn)
	if err != nil {
		return nil, err
	}
	return &Conn{conn, attachedTo(handle.Handle()).session}, nil
}

// A Conn is a connection of a [Connector]: the driver's, with refusals that are a [*RefusedError]
// where database/sql asks for them.
type Conn struct {
	*sqlite3.SQLiteConn
	session *frame.Session
}

// refusal returns an error of the driver, in a [*RefusedError] if it is a refusal. The session
// has kept the text of the last call that failed. If the driver's error has its text, it comes from
// that call, and not from another function that fails with the same code.
func (c *Conn) refusal(err error) error {
	failed, ok := err.(sqlite3.Error)
	kept := c.session.Refused
	if !ok || failed.ExtendedCode != sqlite.CodeDenied || kept == nil || kept.Text != failed.Error() {
		return err
	}
	return newRefusedError(kept, err)
}

// newRefusedError returns the error of a statement that was refused, where a driver returns another one.
func newRefusedError(r *frame.Refusal, driver error) *RefusedError {
	return &RefusedError{r.Function, r.Account, r.Unit, r.Asked, r.Left, r.Asked - r.Left, r.Reopens, r.Text, driver}
}

// ExecContext implements [driver.ExecerContext].
func (c *Conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.SQLiteConn.ExecContext(ctx, query, args)
	return result, c.refusal(err)
}

// QueryContext implements [driver.QueryerContext].
func (c *Conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.rows(c.SQLiteConn.QueryContext(ctx, query, args))
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *Conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	prepared, err := c.SQLiteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &connStmt{prepared.(*sqlite3.SQLiteStmt), c}, nil
}

// rows returns the rows of a query of the driver.
func (c *Conn) rows(answer driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, c.refusal(err)
	}
	return &connRows{answer.(*sqlite3.SQLiteRows), c}, nil
}

// connStmt is a prepared statement of a Conn.
type connStmt struct {
	*sqlite3.SQLiteStmt
	conn *Conn
}

func (s *connStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.SQLiteStmt.ExecContext(ctx, args)
	return result, s.conn.refusal(err)
}

func (s *connStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.rows(s.SQLiteStmt.QueryContext(ctx, args))
}

// connRows are the rows of a query on a Conn.
type connRows struct {
	*sqlite3.SQLiteRows
	conn *Conn
}

func (r *connRows) Next(row []driver.Value) error { return r.conn.refusal(r.SQLiteRows.Next(row)) }

func (r *connRows) Close() error { return r.conn.refusal(r.SQLiteRows.Close()) }

// automatic holds the options of the last call of Auto.
var automatic struct {
	sync.Mutex
	on   bool
	opts options
}

// Auto gives the functions to every connection that the process opens from now
// on, until [Cancel], for applications that cannot change their driver. It may be
// called at any time and from any goroutine. Calling it again with the same options
// changes nothing; with others it returns an error.
func Auto(opts ...Option) error {
	o := collectOptions(opts)
	automatic.Lock()
	defer automatic.Unlock()
	if automatic.on {
		if automatic.opts != o {
			return errors.New("geosql: connections already get the functions with other options")
		}
		return nil
	}
	each := func(c *sqlite.Conn) error {
		_, err := attach(c, o)
		return err
	}
	if err := sqlite.Auto(each); err != nil {
		return err
	}
	automatic.on, automatic.opts = true, o
	return nil
}

// Cancel ends [Auto]. Connections that have the functions keep them.
func Cancel() {
	automatic.Lock()
	defer automatic.Unlock()
	sqlite.CancelAuto()
	automatic.on, automatic.opts = false, options{}
}
