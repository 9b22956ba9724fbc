// Package worker runs the SQL of one analyst on one read-only connection to a sealed database. It
// has neither the key nor the ledger: functions over sealed values are evaluated by a
// [sqlitefn.Remote]. It imports sqlitefn, pgcatalog and internal/vdbe. Start at Main and Session.
//
// A statement may read and compute, and nothing else. The sealed values are safe because only the remote opens them. The
// checks in this package protect the analyst from wrong answers, and the machine from the analyst.
package worker

import (
	"context"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A Config holds the parameters and limits of a session.
type Config struct {
	Path       string            // of the sealed database
	Database   string            // the name under which clients know it
	User       string            // the role
	ProcessID  uint32            // under which clients cancel the session
	Parameters map[string]string // of the startup packet
	Timeout    time.Duration     // of a statement; 0 for none
	Rows       int64             // of a result; 0 for any
	Memory     int64             // in bytes, of SQLite in this process; 0 for any

	IdleInTransaction time.Duration // longest idle_in_transaction_session_timeout; 0 for any
	IdleSession       time.Duration // longest idle_session_timeout; 0 for any
}

// A Session is an analyst's session. It implements [wire.Session].
type Session struct {
	config   Config
	client   wire.Client
	database *database
	settings *settings

	status     wire.TxStatus
	savepoints []savepoint // of the transaction
	cursors    map[string]*cursor
	told       map[string]bool // see tell
	lastCost   string          // rows of geosql.last_cost, in JSON
}

// NewSession opens the database for an analyst. The session's notices go to client, and remote evaluates functions over
// sealed values.
func NewSession(config Config, client wire.Client, remote sqlitefn.Remote) (*Session, error) {
	s := &Session{config: config, client: client, status: wire.Idle, cursors: map[string]*cursor{}, told: map[string]bool{}, lastCost: "[]"}
	s.settings = newSettings(config, client)
	if err := s.settings.start(config.Parameters); err != nil {
		return nil, err
	}
	var err error
	if s.database, err = openDatabase(config, describer{s}, remote); err != nil {
		return nil, err
	}
	return s, nil
}

// A describer tells the catalogue about the session.
type describer struct{ s *Session }

func (d describer) Database() string                   { return d.s.config.Database }
func (d describer) User() string                       { return d.s.config.User }
func (d describer) BackendPID() int32                  { return int32(d.s.config.ProcessID) }
func (d describer) Setting(name string) (string, bool) { return d.s.settings.get(name) }
func (d describer) Set(name, value string) error       { return d.s.settings.set(name, value) }
func (d describer) Settings() []string                 { return d.s.settings.names() }
func (d describer) LastCost() string                   { return d.s.lastCost }

// Prepare implements [wire.Session].
func (s *Session) Prepare(ctx context.Context, sql string, parameterTypes []uint32) (wire.Statement, string, error) {
	before, first, rest := sqltext.PostgreSQL.Split(sql, dialect.Budget)
	if first.SQL == "" {
		return nil, "", nil
	}
	command, err := dialect.Parse(first)
	var st wire.Statement
	if err == nil {
		st, err = s.prepare(ctx, first, command, parameterTypes)
	}
	if err != nil {
		return nil, "", wire.Moved(asError(err), before)
	}
	return st, rest, nil
}

// Ready implements [wire.Session].
func (s *Session) Ready(failed bool) wire.TxStatus {
	if failed && s.status == wire.InTransaction {
		s.status = wire.Failed
	}
	return s.status
}

// IdleTimeout implements [wire.Session].
func (s *Session) IdleTimeout(executing bool) (time.Duration, *wire.Error) {
	name, reason := IdleSession, wire.ErrIdleSession
	if executing || s.status != wire.Idle || s.holds() {
		name, reason = IdleInTransaction, wire.ErrIdleInTransaction
	}
	d, _ := ParseTimeout(s.settings.now[name]) // which was checked
	return d, reason
}

// Hold implements [wire.Session]. The process has limits of its own.
func (s *Session) Hold(int64) error { return nil }

// holds reports whether cursors are open that outlive transactions.
func (s *Session) holds() bool { return s.status == wire.Idle && len(s.cursors) > 0 }

// Close implements [wire.Session].
func (s *Session) Close() {
	s.closeCursors(true)
	s.database.close()
}

// quoted returns a text between the quotes that messages have.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
