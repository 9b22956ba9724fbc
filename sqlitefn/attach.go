package sqlitefn

import (
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"sync"
	"unsafe"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqlmath"
	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/sealed"
)

// Version is the version of geosql.
const Version = version.Version

// Option changes how a connection is equipped.
type Option func(*options)

type options struct {
	ledger     string
	ledgerMode fs.FileMode
	entropy    io.Reader
	keyring    *sealed.Keyring
	maxRepeat  uint32 // 0 stands for 1
	remote     Remote // what evaluates functions over sealed values instead of the connection
}

// collectOptions returns the options that opts set.
func collectOptions(opts []Option) (o options) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// equal reports whether the options are the same. Readers that cannot be compared count as
// different.
func (o options) equal(p options) bool {
	if t := reflect.TypeOf(o.entropy); t != nil && !t.Comparable() {
		return false
	}
	return o == p
}

// WithLedger keeps the ledger elsewhere than beside the main database: in the file of a path, or on
// the PostgreSQL server of a URL, such as postgres://host/database. An empty text has no effect.
func WithLedger(where string) Option { return func(o *options) { o.ledger = where } }

// WithLedgerMode lets the group of the ledger's file read it (0640), or charge too
// (0660). The file keeps the mode. Without this option a new ledger is accessible to its
// owner only (0600), and an existing one keeps its mode. Zero has no effect.
func WithLedgerMode(mode fs.FileMode) Option { return func(o *options) { o.ledgerMode = mode } }

// WithEntropy draws randomness from r instead of crypto/rand. It exists for
// tests: noise from a predictable reader protects nobody. Every connection
// needs a reader of its own.
func WithEntropy(r io.Reader) Option { return func(o *options) { o.entropy = r } }

// attached holds the sessions of the connections that have the functions, by their handles, so
// that attaching twice is harmless and attaching with other options is an error.
var attached struct {
	sync.Mutex
	by map[unsafe.Pointer]*session
}

// Attach registers the functions on the connection whose handle, an *sqlite3 of C, is db: for
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
func attach(conn *sqlite.Conn, o options) (*session, error) {
	if earlier := attachedSession(conn.Handle()); earlier != nil {
		if !earlier.opts.equal(o) {
			return nil, fmt.Errorf("geosql: connection already has the functions with other options")
		}
		return earlier, nil
	}
	if err := sqlmath.Register(conn); err != nil {
		return nil, err
	}
	s := newSession(conn, functions, o)
	if err := conn.Register(library(s)); err != nil {
		return nil, err
	}
	attached.Lock()
	defer attached.Unlock()
	if attached.by == nil {
		attached.by = make(map[unsafe.Pointer]*session)
	}
	attached.by[conn.Handle()] = s
	return s, nil
}

// attachedSession returns the session of a connection, by its handle, or nil if it does not
// have the functions.
func attachedSession(db unsafe.Pointer) *session {
	attached.Lock()
	defer attached.Unlock()
	return attached.by[db]
}

// detach forgets a connection that is closed.
func detach(conn *sqlite.Conn) {
	attached.Lock()
	defer attached.Unlock()
	delete(attached.by, conn.Handle())
}
