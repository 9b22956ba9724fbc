package pgtest

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Link is a way to a server over TCP, on which data can be held up.
type Link struct{ gate sync.RWMutex }

// Stop holds up all data in both directions, as a network does that forwards nothing: connections can be made and stay.
func (l *Link) Stop() { l.gate.Lock() }

// Go lets data through, also data that was held up.
func (l *Link) Go() { l.gate.Unlock() }

// Link returns a way to the server, until the test's end, and the URL that leads over it to the same database. The data goes
// through at first.
func (s *Server) Link(t testing.TB, where string) (*Link, string) {
	t.Helper()
	config, err := pgx.ParseConfig(where)
	check(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	l := &Link{}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(config.Host, ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			go l.pass(client, server)
			go l.pass(server, client)
		}
	}()
	over := url.URL{Scheme: "postgres", User: url.User(superuser), Host: listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}
	return l, over.String()
}

// pass passes data on while the gate is open.
func (l *Link) pass(from, to net.Conn) {
	_, _ = io.Copy(gated{to, &l.gate}, from) // until an end closes the connection
	l.gate.RLock()                           // its end is held up too
	defer l.gate.RUnlock()
	to.Close()
}

// gated writes while a gate is open.
type gated struct {
	io.Writer
	gate *sync.RWMutex
}

func (g gated) Write(b []byte) (int, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Writer.Write(b)
}
