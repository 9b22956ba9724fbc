//go:build !geosql_loadable

package sqlitefn

import (
	"context"
	"database/sql/driver"

	"github.com/geosql/geosql/internal/sqlite"
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
	return Attach(c, opts...)
}

// Connector opens connections that have the functions, for sql.OpenDB. The data
// source name is that of mattn/go-sqlite3.
func Connector(dsn string, opts ...Option) driver.Connector {
	return &connector{dsn, &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error { return Register(c, opts...) },
	}}
}

type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c *connector) Driver() driver.Driver                        { return c.driver }

// Auto gives the functions to every connection that the process opens from now
// on, for applications that cannot change their driver.
func Auto(opts ...Option) error {
	return sqlite.Auto(func(c *sqlite.Conn) error { return Attach(c, opts...) })
}
