package wire

import (
	"strings"
	"testing"
)

// Messages, texts and parameters are kept only if the session has room for them. All of it is given back, which serve checks.
func TestRoom(t *testing.T) {
	s := serve(t, Options{})
	s.room = 1 << 20
	long := "echo text" + strings.Repeat(" ", 200_000)
	c := s.connect(t, "").PgConn()
	for _, name := range []string{"a", "b", "c"} {
		post(c, parse(name, long), sync_)
		if got := talk(t, c); got != "ParseComplete ReadyForQuery" {
			t.Fatal(got)
		}
	}
	post(c, parse("d", long), sync_) // the message fits, and its text beside the others does not
	if got := talk(t, c); got != "53200 ReadyForQuery" {
		t.Error(got)
	}
	post(c, closeStatement("a"), closeStatement("b"), parse("d", long), sync_)
	if got := talk(t, c); got != "CloseComplete CloseComplete ParseComplete ReadyForQuery" {
		t.Error(got)
	}
	nc := s.connect(t, "").PgConn()
	post(nc, parse("", strings.Repeat(" ", 1<<20)))
	nc.Frontend().Flush()
	if got := reply(t, nc.Conn()); !strings.Contains(got, "53200") {
		t.Errorf("the reply to a message that does not fit is %q", got)
	}
}
