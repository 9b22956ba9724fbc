package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/geosql/geosql/sqlitefn"
)

// A loginID is the hash of the cookie of a login, so that looking one up takes a time that tells nothing of others.
type loginID [sha256.Size]byte

func idOf(cookie string) loginID { return sha256.Sum256([]byte(cookie)) }

func randomBytes() []byte {
	b := make([]byte, 32)
	rand.Read(b)
	return b
}

func randomText() string { return base64.RawURLEncoding.EncodeToString(randomBytes()) }

const (
	sweepInterval = time.Minute
	maxLogins     = 8                // of one user; the one that was used longest ago ends for another
	maxQuotes     = 16               // of one login; the oldest is forgotten for another
	quoteTime     = 15 * time.Minute // for which a quote can be run
)

// A login is a browser that has logged in.
type login struct {
	user    string
	session Session
	ctx     context.Context // ends with the login
	cancel  context.CancelFunc

	// working counts the users of the session.
	working sync.WaitGroup

	mu       sync.Mutex
	began    time.Time
	used     time.Time
	requests int // that are being answered
	ended    bool
	stop     context.CancelFunc // of the statement that is running, or nil
	quotes   []quote
}

// A quote is a cost that was shown.
type quote struct {
	id       string
	question Question
	report   sqlitefn.Report
	at       time.Time
}

// enter reports whether the login is still good, and keeps it from ending for want of use until leave.
func (l *login) enter(o Options) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.isOver(o) {
		return false
	}
	l.requests++
	l.working.Add(1)
	return true
}

func (l *login) leave() {
	l.mu.Lock()
	l.requests--
	l.used = time.Now()
	l.mu.Unlock()
	l.working.Done()
}

// isOver reports whether the login is out of time. The caller holds l.mu.
func (l *login) isOver(o Options) bool {
	return time.Since(l.began) > o.Absolute || l.requests == 0 && time.Since(l.used) > o.Idle
}

// begin makes the context of a statement, unless one is running. The caller calls done after it.
func (l *login) begin(request context.Context) (ctx context.Context, done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(request)
	unlink := context.AfterFunc(l.ctx, cancel)
	l.stop = cancel
	return ctx, func() {
		l.mu.Lock()
		l.stop = nil
		l.mu.Unlock()
		unlink()
		cancel()
	}, true
}

// cancelStatement ends the statement that is running, if there is one.
func (l *login) cancelStatement() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
}

// end ends the login once. It does not wait for the statement that it cancels.
func (l *login) end() {
	l.mu.Lock()
	first := !l.ended
	l.ended = true
	l.mu.Unlock()
	if first {
		l.cancel()
		go func() {
			l.working.Wait()
			l.session.Close()
		}()
	}
}

// keepQuote keeps a quote and returns its id.
func (l *login) keepQuote(question Question, report sqlitefn.Report) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.quotes) == maxQuotes {
		l.quotes = l.quotes[1:]
	}
	q := quote{randomText(), question, report, time.Now()}
	l.quotes = append(l.quotes, q)
	return q.id
}

// takeQuote returns the quote for a question, and forgets it.
func (l *login) takeQuote(id string, question Question) (sqlitefn.Report, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, q := range l.quotes {
		if q.id == id {
			l.quotes = append(l.quotes[:i:i], l.quotes[i+1:]...)
			return q.report, q.question == question && time.Since(q.at) <= quoteTime
		}
	}
	return sqlitefn.Report{}, false
}

// addLogin makes a login of a session and returns its cookie.
func (s *Server) addLogin(user string, session Session) (cookie string, ok bool) {
	cookie = randomText()
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Now()
	l := &login{user: user, session: session, ctx: ctx, cancel: cancel, began: now, used: now}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		l.end()
		return "", false
	}
	var oldest loginID
	n := 0
	for id, other := range s.logins {
		if other.user != user {
			continue
		}
		if n++; n == 1 || other.lastUsed().Before(s.logins[oldest].lastUsed()) {
			oldest = id
		}
	}
	var surplus *login
	if n >= maxLogins {
		surplus = s.logins[oldest]
		delete(s.logins, oldest)
	}
	s.logins[idOf(cookie)] = l
	s.mu.Unlock()
	if surplus != nil {
		surplus.end()
	}
	return cookie, true
}

func (l *login) lastUsed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.requests > 0 {
		return time.Now()
	}
	return l.used
}

// findLogin returns the login of a request, or nil.
func (s *Server) findLogin(r *http.Request) *login {
	cookie := s.cookie(r)
	if cookie == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins[idOf(cookie)]
}

// dropLogin ends a login.
func (s *Server) dropLogin(l *login) {
	s.mu.Lock()
	for id, other := range s.logins {
		if other == l {
			delete(s.logins, id)
		}
	}
	s.mu.Unlock()
	l.end()
}

// sweepLogins ends the logins that are out of time, now and from time to time.
func (s *Server) sweepLogins() {
	var over []*login
	s.mu.Lock()
	for id, l := range s.logins {
		l.mu.Lock()
		if l.isOver(s.options) {
			over = append(over, l)
			delete(s.logins, id)
		}
		l.mu.Unlock()
	}
	if !s.closed {
		s.sweep.Reset(sweepInterval)
	}
	s.mu.Unlock()
	for _, l := range over {
		l.end()
	}
}

// cookieName returns the name of the cookie. With the prefix, browsers take it over HTTPS and from this very host only.
// Browsers do not tell ports apart, so the name has the port: servers on one machine would log out each other's users.
func cookieName(r *http.Request) string {
	name := "geosql"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	if r.TLS != nil {
		return "__Host-" + name
	}
	return name
}

// cookie returns the cookie of a request, or nothing.
func (s *Server) cookie(r *http.Request) string {
	c, err := r.Cookie(cookieName(r))
	if err != nil || len(c.Value) != base64.RawURLEncoding.EncodedLen(32) {
		return ""
	}
	return c.Value
}

// setCookie sets the cookie. It ends with the browser's session; an empty one ends at once.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/",
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// token returns the proof that a request with a cookie comes from the page: other pages can neither
// read the cookie nor the answer that has the token.
func (s *Server) token(cookie string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
