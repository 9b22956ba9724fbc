package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/keeper"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/throttle"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
)

// Options say how a database is served. Keys and Worker are needed; the zero value of others stands for the default said there.
type Options struct {
	Keys   []*sealed.PrivateKey // which the database is sealed for
	Ledger string               // a path, or a postgres:// URL; by default the file beside the database

	// Worker returns the command that starts the process of a session: a program that calls [Worker], usually this one with
	// an argument by which it knows. It is called for each session.
	Worker func() *exec.Cmd

	Listen string // address of PostgreSQL's clients; 127.0.0.1:5432
	HTTP   string // address of the console, /healthz and /metrics; without it there are none

	// CertFile and KeyFile are the certificate, with those between it and its root, and its private key, in PEM. They are read
	// again when they change. Without them only addresses of this machine can be listened on.
	CertFile, KeyFile string
	RequireTLS        bool // for connections from this machine, too

	MaxSessions  int           // at a time; 100
	IdleTimeout  time.Duration // of a session that asks nothing; 8 hours, and 10 minutes in a transaction or with a cursor
	WriteTimeout time.Duration // for a client to read 32 kB of an answer; a minute

	Memory int64 // bytes that the server holds for all sessions together; half of the machine's

	Logger        *slog.Logger           // by default nothing is logged
	AuditFile     string                 // gets a line of JSON for each event; "" for none
	OwnerPassword string                 // with which the owner logs in to the console; "" if that is not possible
	MetricsToken  func() (string, error) // of clients of /metrics; without it, or if it returns "", they connect from this machine
}

// Worker is the process of a session, which a [Server] has started by [Options.Worker]. It returns the status for [os.Exit].
func Worker() int { return worker.Main() }

// A Server serves one sealed database. Its methods can be called by several goroutines at a time.
type Server struct {
	options Options
	logger  *slog.Logger

	vault        *vault
	certificates *certificates // nil without TLS
	token        atomic.Pointer[string]
	audit        *monitor.Audit // nil without one
	metrics      *monitor.Metrics
	probe        *monitor.Probe // runs inspect
	inspected    string         // by the probe, before
	backend      backend
	listener     net.Listener
	httpListener net.Listener // nil without HTTP

	wire     *wire.Server
	http     *http.Server // nil without HTTP
	draining atomic.Bool
	closed   atomic.Bool
}

// Open opens a sealed database, its ledger, and all else that the options name, and listens, so that whatever is wrong is said
// before the first connection. Clients who connect wait for [Server.Serve]. From now on other processes of the same user
// cannot read the memory of this one, where the kernel lets it say so.
func Open(path string, o Options) (*Server, error) { return open(path, o, openBackend) }

func open(path string, o Options, openBackend func(backendOptions) (backend, error)) (_ *Server, err error) {
	if err := keeper.Supported(); err != nil {
		return nil, err
	}
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:5432")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, logger: o.Logger}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.vault, err = openVault(path, o.Ledger); err != nil {
		return nil, err
	}
	if err := s.vault.checkKeys(o.Keys); err != nil {
		return nil, err
	}
	if o.CertFile != "" {
		if s.certificates, err = loadCertificates(o.CertFile, o.KeyFile, s.logger); err != nil {
			return nil, err
		}
	}
	if err := s.readToken(); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	s.metrics = monitor.NewMetrics()
	s.probe = monitor.NewProbe(s.inspect, errSlow)
	s.metrics.Gauge("healthy", "Whether questions can be answered and charged: 1, or 0, and then /healthz says why.", func() float64 {
		if s.probe.Check() != nil {
			return 0
		}
		return 1
	})
	s.metrics.Ledger(func() *ledger.Size {
		_ = s.probe.Check() // has the size read
		return s.vault.size.Load()
	})
	observers := monitor.Observers{s.metrics, monitor.Log{Logger: s.logger}}
	if o.AuditFile != "" {
		if s.audit, err = monitor.OpenAudit(o.AuditFile, s.logger); err != nil {
			return nil, err
		}
		observers = append(observers, s.audit)
	}
	logins := throttle.New(time.Now)
	keyring := sealed.NewKeyring(o.Keys...)
	s.backend, err = openBackend(backendOptions{
		path: path, database: databaseName(path), ledger: s.vault.ledgerAt, keyring: keyring, worker: o.Worker,
		logger: s.logger, observer: observers, maxSessions: o.MaxSessions, idle: o.IdleTimeout, memory: o.Memory, throttle: logins, ownerPassword: o.OwnerPassword,
	})
	if err != nil {
		return nil, err
	}
	s.metrics.Sessions(s.backend.States)
	return s, s.prepare(keyring, observers, logins)
}

// listen listens for the clients of both protocols.
func (s *Server) listen() (err error) {
	lost := cmp.Or(s.options.WriteTimeout, writeTimeout)
	if s.listener, err = listen("listen", s.options.Listen, s.certificates != nil, lost); err != nil || s.options.HTTP == "" {
		return err
	}
	l, err := listen("http", s.options.HTTP, s.certificates != nil, writeTimeout)
	if err == nil {
		s.httpListener = newVisitorListener(l, mostVisitors, mostAnswers)
	}
	return err
}

// prepare prepares the servers of both protocols.
func (s *Server) prepare(keyring *sealed.Keyring, observers monitor.Observer, logins *throttle.Throttle) error {
	secret, err := mockSecret(keyring, *s.vault.record.Database)
	if err != nil {
		return err
	}
	options := wire.Options{
		RequireTLS: s.options.RequireTLS, MockSecret: secret, MockIterations: s.vault.iterations(),
		MaxSessions: s.options.MaxSessions, WriteTimeout: s.options.WriteTimeout, Logger: s.logger, Throttle: logins,
		LoginFailed: func(login *wire.Login, _ *wire.Error) { observers.LoginFailed(login.Remote, login.User) },
	}
	if s.certificates != nil {
		options.TLS = s.certificates.config()
		s.metrics.Gauge("certificate_expires_timestamp_seconds", "When the certificate expires.", s.certificates.expires)
	}
	s.wire = wire.NewServer(s.backend, options)
	if s.httpListener != nil {
		s.http = s.newHTTPServer()
	}
	return nil
}

// Serve serves until a listener fails. After [Server.Shutdown] or [Server.Close] it returns nil. It can be called once.
func (s *Server) Serve() error {
	failed := make(chan error, 2)
	servers := 1
	go func() { failed <- s.wire.Serve(s.listener) }()
	if s.http != nil {
		servers++
		go func() {
			if s.certificates != nil {
				failed <- s.http.ServeTLS(s.httpListener, "", "")
			} else {
				failed <- s.http.Serve(s.httpListener)
			}
		}()
	}
	for range servers {
		if err := <-failed; err != nil && !s.draining.Load() {
			return err
		}
	}
	return nil
}

// Reload reads the certificate and the token of metrics again, and opens the audit file anew, which may have been moved away.
// After a failure, which is logged, the old one stays.
func (s *Server) Reload() {
	report := func(what string, err error) {
		if err != nil {
			s.logger.Error("not reloaded: "+what, "error", err)
		}
	}
	if s.certificates != nil {
		report("the certificate", s.certificates.reload())
	}
	if s.audit != nil {
		report("the audit log", s.audit.Reopen())
	}
	report("the token", s.readToken())
	s.logger.Info("reloaded")
}

// readToken reads the token for metrics.
func (s *Server) readToken() error {
	token := ""
	if s.options.MetricsToken != nil {
		var err error
		if token, err = s.options.MetricsToken(); err != nil {
			return err
		}
	}
	s.token.Store(&token)
	return nil
}

// Shutdown lets sessions complete the statements that they are at, until ctx is done, and ends them. It returns an error if
// one was ended before. Nobody new comes in meanwhile, and /healthz says that the server is draining.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	err := s.wire.Shutdown(ctx)
	if s.http != nil {
		if e := s.http.Shutdown(ctx); e != nil {
			err = e
			s.http.Close()
		}
	}
	return err
}

// Close ends the remaining sessions, closes all files, and returns the first error. Called again, it does nothing.
func (s *Server) Close() (err error) {
	if s.closed.Swap(true) {
		return nil
	}
	s.draining.Store(true)
	if s.wire != nil {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.wire.Shutdown(now) // says that it was early
	}
	if s.http != nil {
		s.http.Close()
	}
	for _, l := range []net.Listener{s.listener, s.httpListener} {
		if l != nil {
			l.Close() // again, if it has served
		}
	}
	if s.vault != nil {
		err = s.vault.close() // so that the backend can make the database one file again
	}
	if s.backend != nil {
		err = cmp.Or(err, s.backend.Close())
	}
	if s.audit != nil {
		err = cmp.Or(err, s.audit.Close())
	}
	return err
}

// Addr returns the address at which PostgreSQL's clients connect.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// HTTPAddr returns the address of the console, nil if there is none.
func (s *Server) HTTPAddr() net.Addr {
	if s.httpListener == nil {
		return nil
	}
	return s.httpListener.Addr()
}

// Connection returns the connection string of PostgreSQL's clients, for a role.
func (s *Server) Connection(role string) string {
	host, port, _ := net.SplitHostPort(s.Addr().String())
	tls := ""
	if s.certificates != nil {
		host, tls = s.certificates.host(host), " sslmode=verify-full"
	}
	return fmt.Sprintf("host=%s port=%s dbname=%s user=%s%s", host, port, connectionValue(databaseName(s.vault.path)), connectionValue(role), tls)
}

// URL returns the URL of the console, "" if there is none.
func (s *Server) URL() string {
	if s.httpListener == nil {
		return ""
	}
	scheme, at := "http", s.HTTPAddr().String()
	if s.certificates != nil {
		host, port, _ := net.SplitHostPort(at)
		scheme, at = "https", net.JoinHostPort(s.certificates.host(host), port)
	}
	return fmt.Sprintf("%s://%s/", scheme, at)
}

// Columns returns the sealed columns of the database, as they were when it was opened.
func (s *Server) Columns() []catalog.Column { return s.vault.record.Columns }

// databaseName returns the name of a database for clients: that of its file.
func databaseName(path string) string {
	base := filepath.Base(path)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

// connectionValue returns a text as a value of a connection string.
func connectionValue(s string) string {
	if s != "" && !strings.ContainsAny(s, ` '\`) {
		return s
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
