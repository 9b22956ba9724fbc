package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/ledger/internal/engine"
)

// Ledger implements [ledger.Ledger]. A process has one Ledger for each URL. Every [Open] needs one
// [Ledger.Close].
type Ledger struct {
	*engine.Core
	store *store
	url   string
	refs  int // guarded by registry
}

// registry holds the ledgers of the process under their URLs. A second Ledger would not know the amounts that
// the first has set aside.
var registry = struct {
	sync.Mutex
	ledgers map[string]*Ledger
}{ledgers: map[string]*Ledger{}}

// seam implements [engine.Store] for the core of a ledger.
type seam struct {
	*store
	ledger *Ledger
}

var _ engine.Store = seam{}

// Retain implements [engine.Store].
func (s seam) Retain() error {
	registry.Lock()
	defer registry.Unlock()
	if s.ledger.refs == 0 {
		return engine.ErrClosed
	}
	s.ledger.refs++
	return nil
}

// Close implements [engine.Store].
func (s seam) Close() error { return s.ledger.Close() }

// Open opens the ledger in the database that a URL names. With create, it makes a ledger if the
// database has none. Without, such a database is an error that wraps [fs.ErrNotExist].
func Open(url string, create bool) (*Ledger, error) {
	if l := opened(url); l != nil {
		return l, nil
	}
	s, err := openStore(url, create)
	if err != nil {
		return nil, engine.Wrap(err)
	}
	if l := opened(url); l != nil { // meanwhile
		return l, s.shutdown()
	}
	l := &Ledger{store: s, url: url, refs: 1}
	l.Core = engine.New(seam{s, l})
	registry.Lock()
	defer registry.Unlock()
	registry.ledgers[url] = l
	return l, nil
}

// opened returns the ledger of a URL with another reference, or nil if none is open. One that the
// owner has accepted a loss of meanwhile does not come back.
func opened(url string) *Ledger {
	registry.Lock()
	defer registry.Unlock()
	l := registry.ledgers[url]
	if l == nil || l.store.outdated.Load() {
		return nil
	}
	l.refs++
	return l
}

// openStore opens the ledger in the database that a URL names.
func openStore(url string, create bool) (*store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := &store{turn: make(chan struct{}, 1)}
	s.queue.Enter, s.queue.Commit = s.enter, s.commit
	pool, err := connect(ctx, url, func(conn *pgconn.PgConn, text string) { s.warning.Store(&warning{conn, text}) })
	if err != nil {
		return nil, err
	}
	s.pool = pool
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { return s.open(ctx, conn.Conn(), create) })
	if err != nil {
		pool.Close()
		return nil, explainConnect(err)
	}
	return s, nil
}

// recoverySQL asks for the state and the settings of a server that may forget commits.
const recoverySQL = "SELECT pg_is_in_recovery(), current_setting('fsync') || ' ' || current_setting('full_page_writes')"

// open finds the ledger in a database, or makes it. It looks at everything that may keep it from
// being charged, except the rights to write.
func (s *store) open(ctx context.Context, conn *pgx.Conn, create bool) error {
	var recovery bool
	var storage string
	err := queryRow(ctx, conn, recoverySQL, nil, &recovery, &storage)
	if err != nil {
		return err
	}
	if err := checkServer(recovery, "on", storage); err != nil {
		return err
	}
	if err := prepareSchema(ctx, conn, create); err != nil {
		return err
	}
	var generation int64
	err = queryRow(ctx, conn, `
SELECT max(value) FILTER (WHERE key = 'id'), max(value) FILTER (WHERE key = 'generation')::bigint,
  (SELECT coalesce(max(revision), 0) FROM geosql.budget) FROM geosql.meta`, nil, &s.id, &generation, &s.limits.revision)
	if err != nil {
		return err
	}
	if err = checkKnown(ctx, conn, s.id, generation); err == errBehind {
		_ = noteLoss(ctx, conn, s.id, 0) // the error is the loss
	}
	return err
}

// ID implements [ledger.Ledger].
func (l *Ledger) ID() string { return l.store.id }

// Path implements [ledger.Ledger]. It returns "".
func (l *Ledger) Path() string { return "" }

// Close implements [ledger.Ledger].
func (l *Ledger) Close() error {
	registry.Lock()
	if l.refs == 0 {
		registry.Unlock()
		return engine.ErrClosed
	}
	l.refs--
	last := l.refs == 0
	if last && registry.ledgers[l.url] == l {
		delete(registry.ledgers, l.url)
	}
	registry.Unlock()
	if !last {
		return nil
	}
	return errors.Join(l.ReturnPools(), engine.Wrap(l.store.shutdown()))
}

// read lets work read everything that has been charged so far.
func (l *Ledger) read(work func(*reader) error) error {
	if err := l.Flush(); err != nil {
		return err
	}
	return engine.Wrap(l.store.view(context.Background(), work))
}

// String returns the place of the ledger as it is shown: host, port, database and user.
func (l *Ledger) String() string { return Redact(l.url) }
