package wire

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// A transport is the connection below the messages, behind TLS. Its reads know where messages end. So a client may
// think as long as it likes between two messages, but not within one, and a session that waits for a request can be
// told from one that is being served.
type transport struct {
	net.Conn
	bodyTimeout  time.Duration
	writeTimeout time.Duration
	idleTimeout  time.Duration // between two messages; 0 for ever
	until        time.Time     // the deadline of all messages before the session; zero afterwards

	header [5]byte // of the message that is being read
	filled int     // bytes of header that are there
	body   int     // bytes of the body to come

	deadline time.Time // of the message that is being read; zero between messages

	room    func(bytes int64) error // is asked before a large body is read; nil before the session
	maxBody int                     // bytes of a body that is read
	taken   int64                   // for the message that is being read, or answered

	mu       sync.Mutex
	waiting  bool // for a request, with no other one unanswered
	draining bool
	ended    bool
}

// Read reads the available bytes, and sets the deadlines.
func (t *transport) Read(p []byte) (int, error) {
	t.mu.Lock()
	between := t.filled == 0
	switch {
	case t.ended:
		t.mu.Unlock()
		return 0, net.ErrClosed
	case between && t.waiting && t.draining:
		t.mu.Unlock()
		return 0, errShutdown
	case !t.until.IsZero():
		t.deadline = t.until
	case between && t.idleTimeout > 0:
		t.deadline = time.Now().Add(t.idleTimeout)
	case between:
		t.deadline = time.Time{}
	case t.deadline.IsZero():
		t.deadline = time.Now().Add(t.bodyTimeout)
	}
	t.Conn.SetReadDeadline(t.deadline)
	t.mu.Unlock()

	n, err := t.Conn.Read(p)
	if refused := t.follow(p[:n]); refused != nil {
		return 0, refused
	}
	return n, err
}

// largeBody is the size of bodies, in bytes, from which room is asked for.
const largeBody = 64 << 10

// follow keeps track of where messages begin. It returns an error if there is no room for one.
func (t *transport) follow(p []byte) error {
	for len(p) > 0 {
		if t.filled < len(t.header) {
			n := copy(t.header[t.filled:], p)
			t.filled += n
			p = p[n:]
			if t.filled < len(t.header) {
				return nil
			}
			// A length that makes no sense ends the connection when the message is received.
			t.body = max(0, int(int32(binary.BigEndian.Uint32(t.header[1:])))-4)
			if t.room != nil && t.body >= largeBody && t.body <= t.maxBody {
				size := 2 * int64(t.body) // with the message that is made of it
				if err := t.room(size); err != nil {
					return err
				}
				t.taken += size
			}
		}
		n := min(t.body, len(p))
		t.body -= n
		p = p[n:]
		if t.body == 0 {
			t.filled = 0
			t.deadline = time.Time{}
		}
	}
	return nil
}

// forget gives back the room of messages that are answered, or of all if the session ends.
func (t *transport) forget(all bool) {
	if t.taken > 0 && (all || t.filled == 0) {
		_ = t.room(-t.taken)
		t.taken = 0
	}
}

// setWaiting says whether the session waits for a request, and reports whether it may.
func (t *transport) setWaiting(waiting bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = waiting
	return !(waiting && t.draining)
}

// drain ends the wait for a request, and lets none begin any more.
func (t *transport) drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
	if t.waiting {
		t.Conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// lastWords bounds a client's time to read the reason for the end of its session.
const lastWords = time.Second

// end ends reading, and soon writing.
func (t *transport) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.Conn.SetReadDeadline(time.Unix(1, 0))
	t.Conn.SetWriteDeadline(time.Now().Add(lastWords))
}

// Write writes all of p, or fails if the client does not read.
func (t *transport) Write(p []byte) (int, error) {
	t.mu.Lock()
	timeout := t.writeTimeout
	if t.ended {
		timeout = lastWords
	}
	t.Conn.SetWriteDeadline(time.Now().Add(timeout))
	t.mu.Unlock()
	return t.Conn.Write(p)
}

// isBetween reports whether no message has begun.
func (t *transport) isBetween() bool { return t.filled == 0 }

// A replayed connection returns its first byte, which has been read, again.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(p []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(p)
}
