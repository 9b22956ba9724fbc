// Package host evaluates the SQL of an audit: in this process, in another program that has loaded the
// extension, or at a server of sealed databases. An audit sees nothing but rows, errors, and the
// ledger says was spent. It imports sqlitefn for the first. Start at Session and Database.
package host

import (
	"context"
	"fmt"
	"sync"

	"github.com/geosql/geosql/internal/sqltext"
)

// A Host makes databases and evaluates SQL on them.
type Host interface {
	// Describe names the audited program in a few words, such as "geosql 1.0 in this process".
	Describe() string

	// Makes reports whether the host has sealed databases, or plain ones.
	Makes(sealed bool) bool

	// Create makes a database in an empty folder.
	Create(ctx context.Context, folder string, setup Setup) (Database, error)
}

// A Setup holds the tables of a database.
type Setup struct {
	SQL    []string // statements that declare, set limits and fill tables, run in this order
	Sealed []Sealed // tables that analysts find sealed; none for a database that is not
	Repeat int      // how often a group may have a sealed value; once if it is 0
}

// A Sealed says which columns of a table are sealed. Its column account is the account's, and its
// column trial is public.
type Sealed struct {
	Table   string
	Columns []string // COLUMN:UNIVERSE or LAT,LON:DOMAIN, as the command seal takes them
	Later   bool     // rows with a column later that is true come from another collector, under pseudonyms of their own
}

// A Database is a database and its ledger. Its methods may be called concurrently.
type Database interface {
	// Connect opens one more connection.
	Connect(ctx context.Context) (Session, error)

	// Spent returns the spending of the accounts that match an SQLite GLOB pattern in a unit, as the
	// owner reads it in the ledger.
	Spent(ctx context.Context, accounts, unit string) (float64, error)

	Close() error
}

// A Session is a connection. It is used by one goroutine at a time.
type Session interface {
	// Query runs one statement and calls row for each of its rows, until that returns an error. Values
	// are nil, int64, float64, string or []byte. The slice is valid during the call, its values are
	// valid afterwards too.
	Query(ctx context.Context, sql string, row func(values []any) error) error

	Close() error
}

// A Forker is a Session in a process that can fork, as that of a web server that has loaded the extension
// before it forks its workers.
type Forker interface {
	Session

	// Fork runs one statement in the process, and then in a copy of it that was forked before: on the
	// connection that it has from the process or, if that refuses, on one of its own. It returns the
	// rows of both; a copy that refuses has none.
	Fork(ctx context.Context, sql string) (rows [2][][]any, err error)
}

// A Noticer is a Session that says more than rows and errors, as a server does.
type Noticer interface {
	Session

	// Notices returns the notices of the last statement. It is valid until the next.
	Notices() []string
}

// A fileDatabase is a database that sessions open by themselves.
type fileDatabase struct {
	connect func(ctx context.Context) (Session, error)

	mu    sync.Mutex
	owner Session // reads the ledger; nil before the first time
}

// Connect implements [Database].
func (d *fileDatabase) Connect(ctx context.Context) (Session, error) { return d.connect(ctx) }

// Spent implements [Database]. A process that reserves budget for the rows of a statement returns the rest when that ends,
// and the ledger learns later that it was spent.
func (d *fileDatabase) Spent(ctx context.Context, accounts, unit string) (spent float64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == nil {
		s, err := d.connect(ctx)
		if err != nil {
			return 0, err
		}
		d.owner = s
	}
	sql := fmt.Sprintf("SELECT total(spent + reserved) FROM ledger_balance WHERE account GLOB %s AND unit = %s",
		sqltext.Quote(accounts), sqltext.Quote(unit))
	err = d.owner.Query(ctx, sql, func(row []any) error {
		spent = row[0].(float64)
		return nil
	})
	return spent, err
}

// Close implements [Database].
func (d *fileDatabase) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == nil {
		return nil
	}
	return d.owner.Close()
}

// fill runs the statements that fill a database.
func (d *fileDatabase) fill(ctx context.Context, statements []string) error {
	s, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, statement := range statements {
		if err := s.Query(ctx, statement, func([]any) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}
