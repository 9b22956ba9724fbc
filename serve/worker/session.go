// Package worker runs the SQL of one analyst on one read-only connection to a sealed database. It
// has neither the key nor the ledger: functions over sealed values are evaluated by a
// [sqlitefn.Remote].
package worker

import (
	"context"
	"errors"
	"time"

	"github.com/geosql/geosql/serve/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A Config says what a session is and what it may use.
type Config struct {
	Path       string            // of the sealed database
	Database   string            // the name under which clients know it
	User       string            // the role
	ProcessID  uint32            // under which clients cancel the session
	Parameters map[string]string // of the startup packet
	Timeout    time.Duration     // of a statement; 0 for none
	Rows       int64             // of a result; 0 for any
	Memory     int64             // in bytes, of SQLite; 0 for any
}

// A Session is an analyst's session. It implements [wire.Session].
type Session struct{}

// NewSession opens the database for an analyst. What the session has to say beside its answers goes
// to client, and functions over sealed values are evaluated by remote.
func NewSession(config Config, client wire.Client, remote sqlitefn.Remote) (*Session, error) {
	return nil, errors.New("not built yet")
}

// Prepare implements [wire.Session].
func (s *Session) Prepare(ctx context.Context, sql string, parameterTypes []uint32) (wire.Statement, string, error) {
	return nil, "", errors.New("not built yet")
}

// Ready implements [wire.Session].
func (s *Session) Ready(failed bool) wire.TxStatus { return wire.Idle }

// Close implements [wire.Session].
func (s *Session) Close() {}
