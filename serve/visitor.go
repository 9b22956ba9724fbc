package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/serve/internal/throttle"
)

// The largest numbers of connections of HTTP at a time. They leave file descriptors for sessions.
const (
	mostVisitors = 300 // which answer no request of a login
	mostAnswers  = 200 // to requests of logins; their connections stay
)

// A visitorListener bounds connections of HTTP. Until a login's request arrives on a connection, its user is unknown: if it is
// slow or idle, or has sent something else, it gives way to new ones.
type visitorListener struct {
	net.Listener
	room    *throttle.Room
	answers chan struct{} // has an element for each that is being given
}

func newVisitorListener(l net.Listener, visitors, answers int) *visitorListener {
	return &visitorListener{l, throttle.NewRoom(visitors), make(chan struct{}, answers)}
}

// Accept returns the next connection.
func (l *visitorListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &visitor{Conn: c, listener: l}
	l.room.Enter(v)
	return v, nil
}

// A visitor is a connection of HTTP.
type visitor struct {
	net.Conn
	listener *visitorListener
	closed   atomic.Bool

	mu      sync.Mutex
	answers int // to requests of logins, that are being given
}

// Close makes room for another connection.
func (v *visitor) Close() error {
	v.closed.Store(true)
	v.listener.room.Leave(v)
	return v.Conn.Close()
}

// begin keeps the connection until done is called, unless too many are kept already.
func (v *visitor) begin() (done func()) {
	select {
	case v.listener.answers <- struct{}{}:
	default:
		return func() {}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.answers++; v.answers == 1 {
		v.listener.room.Leave(v)
	}
	return v.end
}

func (v *visitor) end() {
	<-v.listener.answers
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.answers--; v.answers > 0 {
		return
	}
	v.listener.room.Enter(v)
	if v.closed.Load() {
		v.listener.room.Leave(v)
	}
}

// visitorKey is the key of a request's visitor in its context.
type visitorKey struct{}

// withVisitor returns a context of the requests that come through a connection.
func withVisitor(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, visitorKey{}, c)
}

// answering keeps the connection of a login's request until that is answered and done is called.
func answering(r *http.Request) (done func()) {
	return r.Context().Value(visitorKey{}).(*visitor).begin()
}
