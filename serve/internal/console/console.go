// Package console is the web console of a sealed database: a page on which analysts see the cost of a statement
// before they run it, and the HTTP interface of the page. Its data comes from a [Backend]. The
// page loads nothing from elsewhere, and nothing is charged before its user has been shown the cost. It imports
// the keeper and pgcatalog, for Serve. Start at Server and Backend.
package console

import (
	"cmp"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/serve/internal/throttle"
)

// Options are the options of a Server. The zero Options are the usual ones.
type Options struct {
	Idle     time.Duration // after which an unused login ends; 30 minutes unless set
	Absolute time.Duration // after which every login ends; 12 hours unless set
	Log      *slog.Logger  // takes logins and faults of the server, and no SQL; none unless set

	// Throttle makes guessers of passwords wait. A server with users who also log in elsewhere shares it; otherwise the
	// console has its own.
	Throttle *throttle.Throttle

	// LoginFailed is told of logins that fail. A nil one is not.
	LoginFailed func(remote net.Addr, user string)

	// Answering is called before a request of a login is answered, and done afterwards. It may be nil.
	Answering func(*http.Request) (done func())
}

// Bounds of requests and answers.
const (
	maxSmallBody = 16 << 10 // bytes of a request without a statement
	maxStatement = 1 << 20  // bytes of a request with one
	maxRows      = 10_000   // of a result
	maxResult    = 16 << 20 // bytes of a result's cells; rows end with the one that reaches it
	maxCell      = 8 << 20  // bytes of a text; a heat map is one
	maxHistory   = 500      // entries
	maxKept      = 4 << 10  // bytes of a statement in the history, or that is saved
	maxSaved     = 100      // questions of a role
	maxName      = 80       // bytes of their names
	maxRegion    = 1 << 18  // bytes of a region that is drawn

	bodyTime = 30 * time.Second // in which a request has to arrive
)

// A Server is the web console: an http.Handler for the whole of a host. It goes by the requests' own TLS, address and host,
// so a proxy in front has to use TLS to it and pass the host on, and makes all users share one address. The
// http.Server needs a ReadHeaderTimeout; a WriteTimeout would end statements.
type Server struct {
	backend Backend
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	handler http.Handler // the mux, for this server's hosts
	secret  []byte       // keys tokens

	mu     sync.Mutex
	logins map[loginID]*login
	closed bool
	sweep  *time.Timer // ends logins that are out of time
}

// New returns a console. Close ends it.
func New(backend Backend, options Options) *Server {
	options.Idle = cmp.Or(options.Idle, 30*time.Minute)
	options.Absolute = cmp.Or(options.Absolute, 12*time.Hour)
	if options.Throttle == nil {
		options.Throttle = throttle.New(time.Now)
	}
	s := &Server{
		backend: backend,
		options: options,
		log:     cmp.Or(options.Log, slog.New(slog.DiscardHandler)),
		mux:     http.NewServeMux(),
		secret:  randomBytes(),
		logins:  map[loginID]*login{},
	}
	if s.options.Answering == nil {
		s.options.Answering = func(*http.Request) func() { return func() {} }
	}
	s.handler = CheckHost(s.mux)
	s.sweep = time.AfterFunc(sweepInterval, s.sweepLogins)
	s.routes()
	return s
}

// Close ends all logins, and the statements that they run.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.sweep.Stop()
	logins := s.logins
	s.logins = map[loginID]*login{}
	s.mu.Unlock()
	for _, l := range logins {
		l.end()
	}
}

// policy is the page's content policy. Scripts cannot make elements of text at all: trusted types are required, and
// nothing may make any.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(r.URL.Path, "/api/") {
		h.Set("Cache-Control", "no-store")
	}
	if r.ContentLength != 0 {
		// Also for requests that are refused: the server waits for the rest of their bodies. Writers of tests have no deadline.
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
	s.handler.ServeHTTP(w, r)
}

// CheckHost returns a handler that, without TLS, answers requests for a name of this machine only. With others,
// passwords would travel in the clear, and a page of elsewhere could have its own name resolved to this machine and read
// the answers as if they had one origin.
func CheckHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil && !isLocal(r.Host) {
			http.Error(w, "Without TLS the server is for this machine only. Ask for http://localhost, or give it a certificate.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) routes() {
	s.mux.HandleFunc("/", s.servePage)
	s.mux.HandleFunc("/api/", s.handleNowhere)
	s.mux.HandleFunc("GET /api/session", s.withSource(s.handleSession))
	s.mux.HandleFunc("POST /api/login", s.withSource(s.handleLogin))
	s.mux.HandleFunc("POST /api/logout", s.withLogin(withBody(maxSmallBody, s.handleLogout)))
	s.mux.HandleFunc("GET /api/schema", s.withLogin(s.handleSchema))
	s.mux.HandleFunc("GET /api/budgets", s.withLogin(s.handleBudgets))
	s.mux.HandleFunc("GET /api/history", s.withLogin(s.handleHistory))
	s.mux.HandleFunc("GET /api/saved", s.withLogin(s.handleSaved))
	s.mux.HandleFunc("POST /api/save", s.withLogin(withBody(maxSmallBody, s.handleSave)))
	s.mux.HandleFunc("GET /api/left", s.withOwner(s.handleLeft))
	s.mux.HandleFunc("POST /api/quote", s.withLogin(withBody(maxStatement, s.handleQuote)))
	s.mux.HandleFunc("POST /api/run", s.withLogin(withBody(maxStatement, s.handleRun)))
	s.mux.HandleFunc("POST /api/cancel", s.withLogin(withBody(maxSmallBody, s.handleCancel)))
	s.mux.HandleFunc("GET /api/roles", s.withOwner(s.handleRoles))
	s.mux.HandleFunc("POST /api/roles/add", s.withOwner(withBody(maxSmallBody, s.handleAddRole)))
	s.mux.HandleFunc("POST /api/roles/drop", s.withOwner(withBody(maxSmallBody, s.handleDropRole)))
}
