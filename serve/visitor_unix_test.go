//go:build unix

package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/servetest"
)

// A visited server waits, at /work, until the test lets it go on.
type visited struct {
	*testing.T
	addr string
	busy chan bool // gets an element when a request has come
	work chan bool // gets one for each that may be answered
}

func newVisited(t *testing.T, visitors, answers int) *visited {
	s := &visited{t, "", make(chan bool), make(chan bool)}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	s.addr = plain.Addr().String()
	web := &http.Server{ConnContext: withVisitor, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/work" {
			defer answering(r)()
			s.busy <- true
			<-s.work
		}
		fmt.Fprint(w, "done")
	})}
	go web.Serve(newVisitorListener(plain, visitors, answers))
	t.Cleanup(func() { web.Close() })
	return s
}

func (s *visited) dial() net.Conn {
	s.Helper()
	c, err := net.Dial("tcp", s.addr)
	check(s.T, err)
	s.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// flood opens connections that send half a header, and waits until so many of them are closed.
func (s *visited) flood(n, closed int) {
	s.Helper()
	var all []net.Conn
	for range n {
		c := s.dial()
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost:")
		all = append(all, c)
	}
	for _, c := range all[:closed] {
		if n, err := c.Read(make([]byte, 1)); n > 0 || isTimeout(err) {
			s.Fatalf("a connection is not closed: %v", err)
		}
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// start sends a request, and returns once it is being answered. The channel gets the answer.
func (s *visited) start() (answer <-chan string) {
	said := make(chan string, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
		r, err := client.Post("http://"+s.addr+"/work", "", nil) // which clients do not repeat
		if err != nil {
			said <- "nothing"
			return
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		said <- string(text)
	}()
	<-s.busy
	return said
}

// Slow connections give way to new ones. Connections on which a request of a login is being answered do not, as
// long as there are not too many of these.
func TestVisitors(t *testing.T) {
	s := newVisited(t, 4, 1)
	kept := s.start()
	s.flood(20, 16)
	client := &http.Client{Transport: &http.Transport{}}
	for range 3 {
		if status, text := servetest.Fetch(t, client, "http://"+s.addr+"/healthz"); status != 200 || text != "done" {
			t.Fatalf("a request within the flood: %d %s", status, text)
		}
		client.CloseIdleConnections()
	}
	surplus := s.start()
	s.flood(20, 16)
	s.work <- true
	s.work <- true
	if got := <-kept; got != "done" {
		t.Errorf("the request that was being answered has got %s", got)
	}
	if got := <-surplus; got != "nothing" {
		t.Errorf("the request beyond the bound has got %s", got)
	}
	next := s.start() // the bound is free again
	s.flood(20, 16)
	s.work <- true
	if got := <-next; got != "done" {
		t.Errorf("the next request has got %s", got)
	}
}
