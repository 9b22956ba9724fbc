//go:build !geosql_loadable

package sqlitefn

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

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
	return attach(c, collectOptions(opts))
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

// automatic holds what Auto was last called with.
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
		if !automatic.opts.equal(o) {
			return errors.New("geosql: connections already get the functions with other options")
		}
		return nil
	}
	if err := sqlite.Auto(func(c *sqlite.Conn) error { return attach(c, o) }); err != nil {
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
