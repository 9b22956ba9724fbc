package frame

import (
	"io"
	"io/fs"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/sealed"
)

// Options are the settings of a session.
type Options struct {
	Ledger     string // where it is, unless beside the database
	LedgerMode fs.FileMode
	Keyring    *sealed.Keyring
	MaxRepeat  uint32 // that a group may have a sealed value; 0 stands for 1
	Test       Test   // nil except in tests
}

// A Test makes answers that can be predicted. So its sessions use only ledgers that tests have made. Package sqlitefntest
// has the only one.
type Test interface {
	Entropy() io.Reader // anew for each session
	Ledger() string     // the ID of one in memory; "" for the database's own
}

// Session holds the parts of one connection: its ledger, its randomness, and the values built
// for it. SQLite serialises the calls on a connection, so nothing is locked.
type Session struct {
	Conn    *sqlite.Conn
	Table   Table // of all functions; options may offer fewer
	Options Options
	source  *exact.Source
	binding
	payer    Payer
	dry      *DryRun     // the payer during a dry run, otherwise nil
	watcher  Observer    // is told of charges; nil if nothing is
	memos    map[any]any // the entries of each memo
	versions int         // of settings, so far
	Refused  *Refusal    // of the last call that failed; nil if that was no refusal
	expected []ledger.Demand
	running  *Statement // keeps compiled statements; nil if the next call may come in another
	own      bool       // a statement of the session's own runs, see alone

	// TrueCells tells an observer that geo_cell was given a location that is no release.
	TrueCells bool
}

// NewSession returns a session of a connection, for functions of a table.
func NewSession(conn *sqlite.Conn, functions Table, o Options) *Session {
	s := &Session{Conn: conn, Table: functions, Options: o, memos: map[any]any{}}
	s.SetPayer(nil)
	var entropy io.Reader
	if o.Test != nil {
		entropy = o.Test.Entropy()
	}
	s.DrawFrom(entropy)
	return s
}

// DrawFrom has the session draw from entropy, nil for the system's.
func (s *Session) DrawFrom(entropy io.Reader) { s.source = exact.NewSource(entropy) }

// close is called when the connection has closed.
func (s *Session) close() {
	if s.ledger != nil {
		_ = s.ledger.Close() // a part that it could not return stays spent
	}
}

// A Memo remembers on every connection the values that were built, by the things that they were
// built from. So a declaration that was rolled back, or that another connection has completed,
// has a key of its own.
type Memo[K comparable, V any] struct{ Limit int }

// NewMemo returns a memo, for a variable of the package.
func NewMemo[K comparable, V any]() *Memo[K, V] {
	return &Memo[K, V]{Limit: 1024} // epsilon may come from a column
}

// Entries returns the entries of the connection.
func (m *Memo[K, V]) Entries(s *Session) map[K]V {
	built, ok := s.memos[m].(map[K]V)
	if !ok {
		built = make(map[K]V)
		s.memos[m] = built
	}
	return built
}

// Get returns the remembered value of a key. If there is none, it builds and remembers it.
func (m *Memo[K, V]) Get(s *Session, key K, build func() (V, error)) (V, error) {
	built := m.Entries(s)
	if v, ok := built[key]; ok {
		return v, nil
	}
	v, err := build()
	if err == nil {
		m.Put(s, key, v)
	}
	return v, err
}

// Put remembers v for a key. A full memo forgets everything else.
func (m *Memo[K, V]) Put(s *Session, key K, v V) {
	built := m.Entries(s)
	if len(built) >= m.Limit {
		clear(built)
	}
	built[key] = v
}
