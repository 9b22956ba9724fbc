package sqlitefn

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/exact"
)

// session holds what belongs to one connection: its ledger, its randomness, and what was
// built for it. SQLite serialises the calls on a connection, so nothing is locked.
type session struct {
	conn   *sqlite.Conn
	table  table // of all functions, of which options may offer fewer
	opts   options
	source *exact.Source
	binding
	payer    payer
	dry      *dryRun       // the payer during a dry run, otherwise nil
	meter    *Meter        // what counts the charges, if anything does
	memos    map[any]any   // the entries of each memo
	versions int           // of settings, so far
	refused  *RefusedError // of the last call that failed; nil if that was no refusal
	running  *statement    // keeps what is compiled; nil if the next call may come in another
	own      bool          // a statement of the session's own runs, see alone
}

func newSession(conn *sqlite.Conn, functions table, o options) *session {
	s := &session{conn: conn, table: functions, opts: o, source: exact.NewSource(o.entropy), memos: map[any]any{}}
	s.payer = charger{s}
	return s
}

// close is called when the connection has closed.
func (s *session) close() {
	detach(s.conn)
	if s.book != nil {
		_ = s.book.Close() // what it could not return stays spent
	}
}

// A memo remembers on every connection what was built, by what it was built from. So a
// declaration that was rolled back, or that another connection has completed, has a key
// of its own.
type memo[K comparable, V any] struct{ limit int }

// newMemo returns a memo, for a variable of the package.
func newMemo[K comparable, V any]() *memo[K, V] {
	return &memo[K, V]{limit: 1024} // epsilon may come from a column
}

// entries returns what the connection remembers.
func (m *memo[K, V]) entries(s *session) map[K]V {
	built, ok := s.memos[m].(map[K]V)
	if !ok {
		built = make(map[K]V)
		s.memos[m] = built
	}
	return built
}

// get returns what is remembered for a key. If nothing is, it builds and remembers it.
func (m *memo[K, V]) get(s *session, key K, build func() (V, error)) (V, error) {
	built := m.entries(s)
	if v, ok := built[key]; ok {
		return v, nil
	}
	v, err := build()
	if err == nil {
		m.put(s, key, v)
	}
	return v, err
}

// put remembers v for a key. A full memo forgets everything else.
func (m *memo[K, V]) put(s *session, key K, v V) {
	built := m.entries(s)
	if len(built) >= m.limit {
		clear(built)
	}
	built[key] = v
}
