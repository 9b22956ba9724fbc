// Package monitor tells the owner of a server of its events: by an audit log, metrics, a log and an answer to
// whether it is healthy. It imports the Prometheus client. Start at Observer and Session.
//
// Nothing here is secret, and nothing holds the literals of statements. The number of accounts that pay is told, but not which.
package monitor

import (
	"net"
	"time"

	"github.com/geosql/geosql/sqlitefn"
)

// An Observer is told of events on a server, after they have happened. It is called by several goroutines at once.
type Observer interface {
	SessionBegan(Session)
	SessionEnded(Session, Reason)
	LoginFailed(remote net.Addr, user string)
	StatementEnded(Statement)
}

// A Session is that of somebody who has logged in.
type Session struct {
	Number uint32 // pg_backend_pid()
	Role   string
	Remote net.Addr
	TLS    bool
	Began  time.Time
}

// A Reason is why a session ended.
type Reason string

// The reasons.
const (
	ClientLeft   Reason = "client left"
	ServerStops  Reason = "server stops"
	RoleDropped  Reason = "role dropped"
	WorkerDied   Reason = "worker died"   // of a limit, or a fault
	WorkerKilled Reason = "worker killed" // since it hung, or broke the protocol
)

// A Statement is an execution of one that has ended.
type Statement struct {
	Session Session
	Began   time.Time
	Took    time.Duration
	SQL     string // as the client wrote it; observers mask its literals, but for the role itself
	Epsilon string // of SQL's own aggregates, or empty

	State  string          // SQLSTATE; "" stands for 00000
	Report sqlitefn.Report // its calls and their cost
	Rows   int64
	Bytes  int64 // of the rows

	// Ledger is the time that the statement has waited for the ledger, zero if it charged nobody.
	Ledger time.Duration
}

// state returns the SQLSTATE.
func (s *Statement) state() string {
	if s.State == "" {
		return "00000"
	}
	return s.State
}

// Observers tells each of several observers.
type Observers []Observer

// SessionBegan tells all.
func (all Observers) SessionBegan(s Session) {
	for _, o := range all {
		o.SessionBegan(s)
	}
}

// SessionEnded tells all.
func (all Observers) SessionEnded(s Session, reason Reason) {
	for _, o := range all {
		o.SessionEnded(s, reason)
	}
}

// LoginFailed tells all.
func (all Observers) LoginFailed(remote net.Addr, user string) {
	for _, o := range all {
		o.LoginFailed(remote, user)
	}
}

// StatementEnded tells all.
func (all Observers) StatementEnded(s Statement) {
	for _, o := range all {
		o.StatementEnded(s)
	}
}
