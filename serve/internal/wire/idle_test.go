package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A client that asks nothing for too long loses its session, and is told why: in a transaction, within a request, and otherwise.
func TestIdleTimeouts(t *testing.T) {
	s := serve(t, Options{})
	s.idleInTransaction = 50 * time.Millisecond
	flush := &pgproto3.Flush{}
	for _, messages := range [][]any{
		{query("begin")},
		{query("begin"), query("fail")},
		{parse("", "rows 100"), bind("", ""), executePortal("", 1), flush},
		{parse("", "rows 1"), flush},
		{query("begin"), parse("", "rows 100"), bind("p", ""), executePortal("p", 1), sync_},
	} {
		c := s.connect(t, "").PgConn()
		c.Conn().SetDeadline(time.Now().Add(patience))
		post(c, messages...)
		if err := c.Frontend().Flush(); err != nil {
			t.Fatal(err)
		}
		if got := reply(t, c.Conn()); !strings.Contains(got, "25P03") {
			t.Errorf("%v: the reply is %q", messages, got)
		}
	}
	c := s.connect(t, "").PgConn() // nothing is open: there is no limit
	time.Sleep(4 * s.idleInTransaction)
	post(c, query("rows 1"))
	if got := talk(t, c); !strings.Contains(got, "ReadyForQuery") {
		t.Error(got)
	}
	s = serve(t, Options{})
	s.idleSession = 50 * time.Millisecond
	c = s.connect(t, "").PgConn()
	c.Conn().SetDeadline(time.Now().Add(patience))
	if got := reply(t, c.Conn()); !strings.Contains(got, "57P05") {
		t.Errorf("the reply is %q", got)
	}
}

// A session can be ended whatever it is doing, and its client is told why if it reads.
func TestEnd(t *testing.T) {
	s := serve(t, Options{})
	for _, statement := range []string{"", "begin", "wait", "rows 100000000", "big 30000000", "copy 100000000"} {
		c := s.connect(t, "").PgConn()
		c.Conn().SetDeadline(time.Now().Add(patience))
		login := <-s.logins
		if statement != "" {
			post(c, query(statement))
			if err := c.Frontend().Flush(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // it writes, or waits
		}
		login.End(&Error{Severity: "FATAL", Code: "57P01", Message: "enough"})
		for deadline := time.Now().Add(patience); s.sessions() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q goes on", statement)
			}
		}
		if got := reply(t, c.Conn()); !strings.Contains(got, "57P01") && !strings.ContainsAny(statement, "0") {
			t.Errorf("%q: the reply is %q", statement, got)
		}
	}
}
