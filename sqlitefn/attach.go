package sqlitefn

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"unsafe"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqlmath"
	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// Version is the version of geosql.
const Version = version.Version

// Option changes how a connection is equipped. Package sqlitefntest has one more, for tests.
type Option func(*frame.Options)

type options struct {
	frame.Options
	remote unseal.Remote // evaluates functions over sealed values instead of the connection
}

// collectOptions returns the options that opts set.
func collectOptions(opts []Option) (o options) {
	for _, opt := range opts {
		opt(&o.Options)
	}
	return o
}

// WithLedger keeps the ledger elsewhere than beside the main database: in the file of a path, or on
// the PostgreSQL server of a URL, such as postgres://host/database. An empty text has no effect.
func WithLedger(where string) Option { return func(o *frame.Options) { o.Ledger = where } }

// WithLedgerMode lets the group of the ledger's file read it (0640), or charge too
// (0660). The file keeps the mode. Without this option a new ledger is accessible to its
// owner only (0600), and an existing one keeps its mode. Zero has no effect.
func WithLedgerMode(mode fs.FileMode) Option { return func(o *frame.Options) { o.LedgerMode = mode } }

// WithKeyring lets the functions open values that were sealed for the keys: see docs/sealed.md. Without
// it they refuse sealed values. Nil has no effect.
func WithKeyring(k *sealed.Keyring) Option { return func(o *frame.Options) { o.Keyring = k } }

// WithMaxRepeat lets a group of an aggregate over sealed values have the same value up to n
// times, from 1 to [unseal.MaxRepeat], instead of once: a query that repeats a row, as a join may, costs
// its account as many times epsilon. A number outside of the range stands for the nearest in it.
func WithMaxRepeat(n int) Option {
	return func(o *frame.Options) { o.MaxRepeat = uint32(min(max(n, 1), unseal.MaxRepeat)) }
}

// attached holds the sessions of the connections that have the functions, by their handles, so
// that attaching twice is harmless and attaching with other options is an error.
var attached struct {
	sync.Mutex
	by map[unsafe.Pointer]attachment
}

// An attachment is the session of a connection, and the options that it was made with.
type attachment struct {
	session *frame.Session
	opts    options
}

// Attach registers the functions on the connection with the handle db, an *sqlite3 of C: for
// programs that open SQLite by other means than the driver. Doing so again with the same
// options changes nothing.
func Attach(db unsafe.Pointer, opts ...Option) error {
	conn, err := sqlite.FromHandle(db)
	if err != nil {
		return err
	}
	_, err = attach(conn, collectOptions(opts))
	return err
}

// attach is Attach with collected options. It returns the connection's session.
func attach(conn *sqlite.Conn, o options) (*frame.Session, error) {
	if earlier := attachedTo(conn.Handle()); earlier.session != nil {
		if earlier.opts != o {
			return nil, fmt.Errorf("geosql: connection already has the functions with other options")
		}
		return earlier.session, nil
	}
	if err := sqlmath.Register(conn); err != nil {
		return nil, err
	}
	s := frame.NewSession(conn, functions, o.Options)
	offered := functions
	if o.remote != nil {
		offered = unseal.RemoteTable(functions, o.remote)
	}
	if err := s.Register(offered, func() { detach(conn) }); err != nil {
		return nil, err
	}
	attached.Lock()
	defer attached.Unlock()
	if attached.by == nil {
		attached.by = make(map[unsafe.Pointer]attachment)
	}
	attached.by[conn.Handle()] = attachment{s, o}
	return s, nil
}

// attachedTo returns the attachment of a connection, by its handle; without a session if it does not have the functions.
func attachedTo(db unsafe.Pointer) attachment {
	attached.Lock()
	defer attached.Unlock()
	return attached.by[db]
}

// sessionOf returns the session of a connection that has the functions.
func sessionOf(db unsafe.Pointer) (*frame.Session, error) {
	if a := attachedTo(db); a.session != nil {
		return a.session, nil
	}
	return nil, errors.New("geosql: the connection does not have the functions")
}

// detach forgets a connection that is closed.
func detach(conn *sqlite.Conn) {
	attached.Lock()
	defer attached.Unlock()
	delete(attached.by, conn.Handle())
}
