package sqlitefn

import (
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"sync"

	"github.com/geosql/geosql/internal/sqlite"
)

// Version is the version of geosql.
const Version = "0.1.0"

// Option changes how a connection is equipped.
type Option func(*options)

type options struct {
	ledger     string
	ledgerMode fs.FileMode
	entropy    io.Reader
}

func collect(opts []Option) (o options) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// same reports false for readers that cannot be compared.
func (o options) same(p options) bool {
	if t := reflect.TypeOf(o.entropy); t != nil && !t.Comparable() {
		return false
	}
	return o == p
}

// WithLedger keeps the ledger in the file at path instead of beside the main
// database. An empty path says nothing.
func WithLedger(path string) Option { return func(o *options) { o.ledger = path } }

// WithLedgerMode lets the group of the ledger's file read it (0640), or charge too
// (0660). Otherwise a new ledger is for its owner alone (0600), and one that is there
// stays as it is. The file keeps the mode. Zero says nothing.
func WithLedgerMode(mode fs.FileMode) Option { return func(o *options) { o.ledgerMode = mode } }

// WithEntropy draws randomness from r instead of crypto/rand. It exists for
// tests: noise from a predictable reader protects nobody. Every connection
// needs a reader of its own.
func WithEntropy(r io.Reader) Option { return func(o *options) { o.entropy = r } }

// attached knows which connections have the functions, so that attaching twice
// is harmless and attaching differently an error.
var attached struct {
	sync.Mutex
	by map[uintptr]options
}

// Attach registers the functions on a connection. Doing so again with the same
// options changes nothing.
func Attach(conn *sqlite.Conn, opts ...Option) error { return attach(conn, collect(opts)) }

func attach(conn *sqlite.Conn, o options) error {
	attached.Lock()
	earlier, ok := attached.by[conn.Handle()]
	attached.Unlock()
	if ok {
		if !earlier.same(o) {
			return fmt.Errorf("geosql: connection already has the functions with other options")
		}
		return nil
	}
	if err := conn.Register(library(newSession(conn, o))); err != nil {
		return err
	}
	attached.Lock()
	defer attached.Unlock()
	if attached.by == nil {
		attached.by = make(map[uintptr]options)
	}
	attached.by[conn.Handle()] = o
	return nil
}

func detach(conn *sqlite.Conn) {
	attached.Lock()
	defer attached.Unlock()
	delete(attached.by, conn.Handle())
}

// library binds the function table to one connection.
func library(s *session) sqlite.Library {
	lib := sqlite.Library{
		NewScope: func() sqlite.Scope { return s.newStatement() },
		Close:    s.close,
	}
	for _, f := range functions {
		if f.scalar != nil {
			lib.Scalars = append(lib.Scalars, sqlite.Scalar{
				Name: f.name, Args: f.arities(), Flags: f.flags, Scoped: f.charges != "",
				Call: func(c *sqlite.Call) error {
					if err := s.admit(f); err != nil {
						return f.named(err)
					}
					return f.named(f.scalar(s, call{c, f}))
				},
			})
		}
		if f.aggregate != nil {
			lib.Aggregates = append(lib.Aggregates, sqlite.Aggregate{
				Name: f.name, Args: f.arities(), Flags: f.flags,
				New: func() sqlite.Group { return &namedGroup{session: s, f: f, group: f.aggregate(s, f)} },
			})
		}
		if f.window != nil {
			lib.Windows = append(lib.Windows, sqlite.Window{
				Name: f.name, Args: f.arities(), Flags: f.flags,
				New: func() sqlite.Partition { return &namedPartition{s, f, f.window(s, f)} },
			})
		}
		if f.table != nil {
			lib.Tables = append(lib.Tables, sqlite.Table{
				Name: f.name, Columns: f.columns, Hidden: f.hidden(), Required: f.required(),
				Flags: f.flags & sqlite.DirectOnly, SingleRow: f.section == released,
				Open: func() sqlite.Cursor { return &namedCursor{s, f, f.required(), f.table(s, f)} },
			})
		}
	}
	return lib
}

// namedGroup puts the function's name in front of errors.
type namedGroup struct {
	session *session
	f       *function
	group   group
	failed  bool // some step did, or panicked
}

func (g *namedGroup) Step(c *sqlite.Call) error {
	failed := g.failed
	g.failed = true
	err := g.session.admit(g.f)
	if err == nil {
		err = g.group.step(call{c, g.f})
	}
	g.failed = failed || err != nil
	return g.f.named(err)
}

// Final is called by SQLite also when the statement is aborted. After an error of the
// group itself nothing is charged or drawn; after one elsewhere, which cannot be told
// from none, what is charged stands.
func (g *namedGroup) Final(c *sqlite.Call) error {
	if g.failed {
		return nil
	}
	if err := g.session.admit(g.f); err != nil {
		return g.f.named(err)
	}
	return g.f.named(g.group.final(call{c, g.f}))
}

// namedPartition puts the function's name in front of errors.
type namedPartition struct {
	session   *session
	f         *function
	partition partition
}

func (p *namedPartition) Row(c *sqlite.Call) error {
	if err := p.session.admit(p.f); err != nil {
		return p.f.named(err)
	}
	return p.f.named(p.partition.row(call{c, p.f}))
}

func (p *namedPartition) End() { p.partition.end() }

// namedCursor puts the function's name in front of errors.
type namedCursor struct {
	session  *session
	f        *function
	required int
	cursor   cursor
}

func (n *namedCursor) Filter(c *sqlite.Call, used uint) (sqlite.Rows, error) {
	if c.Len() < n.required {
		return sqlite.NoRow, n.f.named(fmt.Errorf("%s is missing", n.f.args[c.Len()].name))
	}
	if err := n.session.admit(n.f); err != nil {
		return sqlite.NoRow, n.f.named(err)
	}
	rows, err := n.cursor.filter(call{c, n.f}, used)
	return rows, n.f.named(err)
}

func (n *namedCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	rows, err := n.cursor.next(call{c, n.f})
	return rows, n.f.named(err)
}

func (n *namedCursor) Close() { n.cursor.close() }
