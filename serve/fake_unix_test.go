//go:build unix

package serve

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A fakeBackend answers few words to the role ana: "wait MILLISECONDS" takes that long.
type fakeBackend struct {
	options  backendOptions
	verifier wire.Verifier
	began    chan<- bool // gets an element when a statement has begun, if it has room
}

func (b *fakeBackend) Login(_ context.Context, user, _ string) (wire.Verifier, bool, error) {
	return b.verifier, user == "ana", nil
}

func (b *fakeBackend) NewSession(_ context.Context, login *wire.Login) (wire.Session, error) {
	if login.Database != b.options.database {
		return nil, &wire.Error{Code: "3D000", Message: "there is no such database"}
	}
	s := &fakeSession{b, monitor.Session{Number: login.ProcessID, Role: login.User, Remote: login.Remote, TLS: login.TLS, Began: time.Now()}}
	b.options.observer.SessionBegan(s.is)
	return s, nil
}

func (b *fakeBackend) Console() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "the console of", b.options.database) })
}

func (b *fakeBackend) States() map[monitor.State]int { return map[monitor.State]int{monitor.Idle: 1} }

func (b *fakeBackend) Close() error { return nil }

type fakeSession struct {
	backend *fakeBackend
	is      monitor.Session
}

func (s *fakeSession) Prepare(_ context.Context, sql string, _ []uint32) (wire.Statement, string, error) {
	st := &fakeStatement{session: s, sql: sql}
	if _, err := fmt.Sscanf(sql, "wait %d", &st.wait); err != nil && sql != "" {
		return nil, "", &wire.Error{Code: "42601", Message: "this is not the language of the test"}
	}
	return st, "", nil
}

func (s *fakeSession) Ready(bool) wire.TxStatus { return wire.Idle }

func (s *fakeSession) IdleTimeout(bool) (time.Duration, *wire.Error) { return 0, nil }

func (s *fakeSession) Hold(int64) error { return nil }

func (s *fakeSession) Close() { s.backend.options.observer.SessionEnded(s.is, monitor.ClientLeft) }

type fakeStatement struct {
	session *fakeSession
	sql     string
	wait    int
}

func (s *fakeStatement) Parameters() []uint32   { return nil }
func (s *fakeStatement) Columns() []wire.Column { return []wire.Column{{Name: "n", OID: wire.OIDInt8}} }
func (s *fakeStatement) Close()                 {}

func (s *fakeStatement) Query(ctx context.Context, _ []any) (wire.Rows, error) {
	return &fakeRows{ctx: ctx, statement: s, began: time.Now()}, nil
}

type fakeRows struct {
	ctx       context.Context
	statement *fakeStatement
	began     time.Time
	done      bool
}

func (r *fakeRows) Next(row wire.Row) (bool, error) {
	if r.done {
		return false, nil
	}
	r.done = true
	select {
	case r.statement.session.backend.began <- true:
	default:
	}
	select {
	case <-time.After(time.Duration(r.statement.wait) * time.Millisecond):
	case <-r.ctx.Done():
		return false, context.Cause(r.ctx)
	}
	row.Int(int64(r.statement.wait))
	return true, nil
}

func (r *fakeRows) Copy() *wire.Copy   { return nil }
func (r *fakeRows) Tag(n int64) string { return fmt.Sprint("SELECT ", n) }

func (r *fakeRows) Close() {
	r.statement.session.backend.options.observer.StatementEnded(monitor.Statement{
		Session: r.statement.session.is, Began: r.began, Took: time.Since(r.began), SQL: r.statement.sql, Rows: 1,
	})
}
