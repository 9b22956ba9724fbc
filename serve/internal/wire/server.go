package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/geosql/geosql/serve/internal/throttle"
)

// Options say how a Server serves. The zero value of each is a sensible default.
type Options struct {
	// TLS has the certificate; without it no connection is encrypted. A certificate that changes is returned by
	// its GetCertificate or GetConfigForClient.
	TLS *tls.Config

	// RequireTLS refuses connections without TLS from this machine too. From others they are always refused.
	RequireTLS bool

	// MockSecret makes up the salts of users that do not exist. It has to outlive the server: a salt that
	// changes when the server starts again tells that nobody has it. It is random unless it is set.
	MockSecret []byte

	// MockIterations is the number of iterations of users that do not exist, DefaultIterations unless it is
	// set: that of the users who do.
	MockIterations int

	// ServerVersion is the server's version for clients, which adapt to it. "15.0" unless set.
	ServerVersion string

	MaxSessions int // sessions at a time; 100
	MaxPending  int // connections that have not logged in; beyond it one gives way, as a throttle.Room says; 200
	MaxMessage  int // bytes of a message; 16 MB
	MaxPrepared int // statements, and portals, that a session may have; 4096

	LoginTimeout   time.Duration // from the connection to the right password; 30 s
	MessageTimeout time.Duration // from the first byte of a message to its last; a minute
	WriteTimeout   time.Duration // for 64 kB, until the client has read enough; a minute

	Logger *slog.Logger // nothing is logged unless it is set

	// Throttle makes guessers of passwords wait. A server with users who also log in elsewhere shares it; otherwise it
	// has one of its own.
	Throttle *throttle.Throttle

	// LoginFailed is told of each wrong password, and of each that was not checked after too many wrong ones. The
	// log then does not have them too. It may be nil. It is called by several goroutines at once.
	LoginFailed func(login *Login, reason *Error)
}

// A Server serves a Handler to PostgreSQL clients.
type Server struct {
	handler Handler
	options Options

	// ctx is that of all sessions. It ends if Shutdown has waited in vain.
	ctx    context.Context
	cancel context.CancelCauseFunc
	conns  sync.WaitGroup

	pending *throttle.Room // connections that have not logged in

	mu        sync.Mutex
	closing   bool
	listeners map[net.Listener]struct{}
	strangers map[*conn]struct{} // that have not logged in
	sessions  map[uint32]*conn   // by process id
}

// NewServer returns a server of handler.
func NewServer(handler Handler, options Options) *Server {
	if options.MockSecret == nil {
		options.MockSecret = make([]byte, 32)
		rand.Read(options.MockSecret)
	}
	options.MockIterations = cmp.Or(options.MockIterations, DefaultIterations)
	options.ServerVersion = cmp.Or(options.ServerVersion, "15.0")
	options.MaxSessions = cmp.Or(options.MaxSessions, 100)
	options.MaxPending = cmp.Or(options.MaxPending, 200)
	options.MaxMessage = cmp.Or(options.MaxMessage, 16<<20)
	options.MaxPrepared = cmp.Or(options.MaxPrepared, 4096)
	options.LoginTimeout = cmp.Or(options.LoginTimeout, 30*time.Second)
	options.MessageTimeout = cmp.Or(options.MessageTimeout, time.Minute)
	options.WriteTimeout = cmp.Or(options.WriteTimeout, time.Minute)
	if options.Throttle == nil {
		options.Throttle = throttle.New(time.Now)
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		handler:   handler,
		options:   options,
		pending:   throttle.NewRoom(options.MaxPending),
		listeners: map[net.Listener]struct{}{},
		strangers: map[*conn]struct{}{},
		sessions:  map[uint32]*conn{},
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// ErrServerClosed is the error of Serve after Shutdown.
var ErrServerClosed = errors.New("wire: the server is closed")

// Serve accepts connections until Shutdown is called or the listener fails. It closes the listener.
func (s *Server) Serve(listener net.Listener) error {
	defer listener.Close()
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[listener] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, listener)
		s.mu.Unlock()
	}()

	var pause time.Duration
	for {
		nc, err := listener.Accept()
		if err == nil {
			pause = 0
			s.accept(nc)
			continue
		}
		if s.isClosing() {
			return ErrServerClosed
		}
		if !isTemporary(err) {
			return err
		}
		// There are no file descriptors left, say. Connections that end give some back.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		s.options.Logger.Error("no connection can be accepted", "error", err)
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return ErrServerClosed
		}
	}
}

func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// accept serves a connection in a goroutine of its own.
func (s *Server) accept(nc net.Conn) {
	c := &conn{server: s, raw: nc, log: s.options.Logger.With("remote", nc.RemoteAddr().String())}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)

	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		nc.Close()
		return
	}
	s.pending.Enter(nc)
	s.strangers[c] = struct{}{}
	s.conns.Add(1)
	s.mu.Unlock()

	go func() {
		defer s.conns.Done()
		defer s.forget(c)
		c.serve()
	}()
}

// forget takes a connection out of the lists.
func (s *Server) forget(c *conn) {
	s.pending.Leave(c.raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.strangers, c)
	if c.key != nil {
		delete(s.sessions, c.processID)
	}
}

// admit makes a session of a connection that has logged in, and gives it an id and a key of the given size.
func (s *Server) admit(c *conn, keySize int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return errNotNow
	}
	if len(s.sessions) >= s.options.MaxSessions {
		return fatal("53300", "sorry, too many clients already")
	}
	s.pending.Leave(c.raw)
	delete(s.strangers, c)
	for taken := true; taken; {
		var id [4]byte
		rand.Read(id[:])
		c.processID = binary.BigEndian.Uint32(id[:]) &^ (1 << 31) // clients take it for a positive number
		_, taken = s.sessions[c.processID]
		taken = taken || c.processID == 0
	}
	c.key = make([]byte, keySize)
	rand.Read(c.key)
	s.sessions[c.processID] = c
	return nil
}

// cancelRequest cancels a session's request, if the key is right.
func (s *Server) cancelRequest(processID uint32, key []byte) {
	s.mu.Lock()
	c := s.sessions[processID]
	s.mu.Unlock()
	if c != nil && subtle.ConstantTimeCompare(c.key, key) == 1 {
		c.cancelRunning()
	}
}

// isClosing reports whether Shutdown was called.
func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// Shutdown stops the server: no connection is accepted any more, clients that log in are told to come back, sessions that
// wait for a request are told so and closed, others complete the request that they are at. If ctx ends before they have,
// their statements are canceled, they get a moment to read why, all connections are closed, and Shutdown returns the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.strangers {
		if c.transport != nil {
			c.transport.end()
		} else { // nothing is agreed on that could be said
			c.raw.Close()
		}
	}
	for _, c := range s.sessions {
		if c.transport != nil {
			c.transport.drain()
		}
	}
	s.mu.Unlock()

	done := make(chan struct{})
	go func() {
		s.conns.Wait()
		close(done)
	}()
	select {
	case <-done:
		s.cancel(errShutdown)
		return nil
	case <-ctx.Done():
	}
	s.cancel(errShutdown)
	s.each(func(c *conn) {
		if c.transport != nil {
			c.transport.end()
		}
	})
	select {
	case <-done:
	case <-time.After(2 * lastWords):
	}
	s.each(func(c *conn) { c.raw.Close() })
	return ctx.Err()
}

// each calls do for each session.
func (s *Server) each(do func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		do(c)
	}
}
