package keeper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
)

// open opens a cursor and fetches a row of it.
func (s *session) open(sql string) *Rows {
	s.t.Helper()
	st, _, err := s.Compile(context.Background(), sql, nil)
	if err != nil {
		s.t.Fatal(describe(err))
	}
	rows, err := st.Run(context.Background(), nil)
	if err != nil {
		s.t.Fatal(describe(err))
	}
	s.t.Cleanup(rows.Close)
	return rows
}

// A reader does not keep the owner from writing, nor others from logging in while the owner writes.
func TestReadersAndWriters(t *testing.T) {
	s := newSite(t, nil)
	reader := s.session()
	const first = "SELECT (SELECT count(*) FROM reading) AS n, hex(zeroblob(30000)) FROM reading"
	rows := reader.open(first)
	before, err := rows.Values()
	if err != nil {
		t.Fatal(describe(err))
	}
	owner, err := sqlite.Open(s.path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	for i := range 2 { // the second checkpoint meets a reader
		if err := owner.Exec("BEGIN IMMEDIATE; INSERT INTO reading(home, hour) VALUES ('x', 99)"); err != nil {
			t.Fatal(err)
		}
		s.session().want("SELECT count(*) FROM reading WHERE hour = 99", fmt.Sprint(i))
		if err := owner.Exec("COMMIT; PRAGMA wal_checkpoint"); err != nil {
			t.Fatal(err)
		}
	}
	s.session().want("SELECT count(*) FROM reading WHERE hour = 99", "2")
	for n := 1; ; n++ { // all of the reader's rows are of one state
		row, err := rows.Values()
		if row == nil || err != nil {
			if n <= 90 {
				t.Errorf("%d rows, %v", n, describe(err))
			}
			break
		}
		if row[0] != before[0] {
			t.Errorf("row %d says %v rows, and the first said %v", n, row[0], before[0])
		}
	}
}

// A session of a dropped role ends at once, even in the middle of a statement, and releases its locks.
func TestDroppedRolesLetGo(t *testing.T) {
	s := newSite(t, nil)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	told := make(chan *wire.Error, 10)
	var sessions []*Session
	for i := range 3 {
		x, err := s.Begin(context.Background(), &wire.Login{User: "ann", Verifier: verifier, Database: "homes", End: func(e *wire.Error) { told <- e }})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		sessions = append(sessions, x)
		c := &session{x, t, &client{}}
		switch i {
		case 1:
			c.open("SELECT hex(zeroblob(30000)) FROM reading").Values()
		case 2:
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c.query(endless)
			}()
			defer func() { <-ended }()
		}
	}
	dropped := s.addRole(func(*role.Role) {})
	if err := s.ledger.Record(dropped.Dropped()); err != nil {
		t.Fatal(err)
	}
	for range sessions {
		select {
		case e := <-told:
			if e.Code != "57P01" || e.Severity != "FATAL" {
				t.Errorf("the client is told %v", e)
			}
		case <-time.After(patience):
			t.Fatal("a session of a role that was dropped goes on")
		}
	}
	for _, x := range sessions {
		<-x.worker.exited
	}
}

// A client in a transaction, or with a cursor, may not ask nothing for ever, whatever it sets.
func TestIdleTimeout(t *testing.T) {
	s := newSite(t, func(o *Options) { o.IdleInTransaction, o.IdleSession = time.Minute, time.Hour })
	x := s.session()
	wants := func(sql string, executing bool, limit time.Duration, reason *wire.Error) {
		t.Helper()
		if sql != "" {
			if _, err := x.query(sql); err != nil {
				t.Fatalf("%s: %s", sql, describe(err))
			}
			x.Ready(false)
		}
		if d, e := x.IdleTimeout(executing); d != limit || e != reason {
			t.Errorf("after %s: %v, %v", sql, d, e)
		}
	}
	wants("", false, time.Hour, wire.ErrIdleSession)
	wants("", true, time.Minute, wire.ErrIdleInTransaction)
	wants("SET idle_session_timeout = '5min'", false, 5*time.Minute, wire.ErrIdleSession)
	wants("SET idle_session_timeout = 0", false, time.Hour, wire.ErrIdleSession)
	wants("SET idle_session_timeout = '5min'", false, 5*time.Minute, wire.ErrIdleSession)
	wants("SET idle_in_transaction_session_timeout = 2000", false, 5*time.Minute, wire.ErrIdleSession)
	wants("BEGIN", false, 2*time.Second, wire.ErrIdleInTransaction)
	wants("SET idle_in_transaction_session_timeout = 0", false, time.Minute, wire.ErrIdleInTransaction)
	wants("SET idle_in_transaction_session_timeout = '3d'", false, time.Minute, wire.ErrIdleInTransaction)
	wants("SET idle_in_transaction_session_timeout = '1us'", false, time.Millisecond, wire.ErrIdleInTransaction)
	wants("ROLLBACK", false, 5*time.Minute, wire.ErrIdleSession) // and later settings are undone
	wants("DECLARE c CURSOR WITH HOLD FOR SELECT 1 FROM reading", false, 2*time.Second, wire.ErrIdleInTransaction)
	wants("CLOSE c", false, 5*time.Minute, wire.ErrIdleSession)
	x.want("SHOW idle_in_transaction_session_timeout", "2s")
	s.session().want("SHOW idle_in_transaction_session_timeout", "1min")
	s.session().want("SHOW idle_session_timeout", "1h")
	x.wantError("22023", "SET idle_session_timeout = 'long'")
	x.wantError("22023", "SET statement_timeout = '2147483647d'")
}

// A client that asks nothing hears at once that its session's process was killed, and so do all when the keeper closes.
func TestIdleClientHears(t *testing.T) {
	s := newSite(t, nil)
	dsn := s.serve()
	hears := func(c *pgx.Conn, want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		message, err := c.PgConn().ReceiveMessage(ctx)
		if got := fmt.Sprint(message, err); !strings.Contains(got, "57P01") || !strings.Contains(got, want) {
			t.Errorf("an idle client hears %s", got)
		}
	}
	killed, _ := connect(t, dsn)
	if _, err := killed.Prepare(t.Context(), "one", "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.running()[0].worker.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	hears(killed, "the session's process has ended")
	other, _ := connect(t, dsn)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	hears(other, "administrator command")
	for range patience / time.Millisecond {
		if time.Sleep(time.Millisecond); len(s.events.reasons()) == 2 {
			break
		}
	}
	if got := s.events.reasons(); !slices.Equal(got, []monitor.Reason{monitor.WorkerDied, monitor.ServerStops}) {
		t.Errorf("the sessions ended because %q", got)
	}
	if got := strings.Count(s.log.String(), "a worker was lost"); got != 1 {
		t.Errorf("%d lost workers in the log", got)
	}
}
