package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/serve/keeper"
	"github.com/geosql/geosql/serve/monitor"
	"github.com/geosql/geosql/serve/throttle"
	"github.com/geosql/geosql/serve/wire"
)

var serveCommand = &cli.Command{
	Name: "serve", Operands: "OUT", Min: 1, Max: 1,
	Summary: "serve a sealed database to psql, tools and browsers",
	Details: `OUT is a sealed database. Whoever has a role (geosql role) connects with psql, a driver or a tool
to the database that is called as OUT's file, without folder and ending. KEY and the ledger stay
in this process; what analysts write runs in others, which have neither.

Other machines connect with TLS only: without a certificate, only addresses of this machine can
be listened on. --http adds the web console, /healthz, and /metrics for this machine.

SIGTERM and Ctrl-C stop the server once sessions have completed what they are at; a second
one stops it at once. SIGHUP reads the certificate and the token again, and opens the audit
log anew. A certificate whose files have changed is used without SIGHUP too, and so are roles.

Windows does not serve.`,
	OwnSignals: true,
	Setup: func(fs *flag.FlagSet) cli.Run {
		t := serveTask{listen: "127.0.0.1:5432", maxSessions: 100, drain: 30}
		t.register(fs)
		return func(_ context.Context, operands []string) error { return t.run(operands[0]) }
	},
}

// A serveTask holds the flags of the command serve.
type serveTask struct {
	keys   keyFlags
	ledger ledgerFlags

	listen, http     string // addresses
	tlsCert, tlsKey  string // files
	requireTLS       bool
	maxSessions      int64
	memory           int64   // bytes; 0 for the default
	drain            float64 // seconds
	json             bool    // the log
	audit            string  // a file
	ownerPassword    string  // a file
	metricsTokenFile string
}

func (t *serveTask) register(fs *flag.FlagSet) {
	t.keys.register(fs, "open OUT with the private key in `KEY`; repeatable")
	t.ledger.registerFile(fs, "the budgets are in `FILE`, or at a postgres:// URL (default OUT-ledger, beside OUT)")
	fs.StringVar(&t.listen, "listen", t.listen, "serve PostgreSQL's clients at `ADDR`")
	fs.StringVar(&t.http, "http", "", "serve the web console, /healthz and /metrics at `ADDR`, such as 127.0.0.1:8080")
	files := func(to *string, name, usage string) {
		fs.Func(name, usage, func(v string) (err error) {
			*to, err = fileName(v)
			return err
		})
	}
	files(&t.tlsCert, "tls-cert", "the certificate, with those between it and its root, is in `FILE` (PEM)")
	files(&t.tlsKey, "tls-key", "the private key of the certificate is in `FILE` (PEM)")
	cli.Switch(fs, "require-tls", "refuse connections without TLS from this machine too", func() { t.requireTLS = true })
	fs.Func("max-sessions", "serve at most `N` sessions at a time (default 100)", wholeVar(&t.maxSessions))
	fs.Func("memory", "hold at most `BYTES` of memory for all sessions together (default half of the machine's)", wholeVar(&t.memory))
	fs.Func("drain", "wait at most `SECONDS` for statements before stopping (default 30)", func(v string) (err error) {
		if t.drain, err = cli.Number(v); err == nil && !(t.drain >= 0 && t.drain <= 1e6) {
			err = errors.New("it must be from 0 to 1000000")
		}
		return err
	})
	fs.Func("log-format", "write the log, on standard error, as `text|json` (default text)", func(v string) error {
		if v != "text" && v != "json" {
			return errors.New("it must be text or json")
		}
		t.json = v == "json"
		return nil
	})
	files(&t.audit, "audit", "add who asked what at which cost to `FILE`, a line of JSON for each event")
	files(&t.ownerPassword, "owner-password-file", "with --http: let the owner log in, with the first line of `FILE`")
	files(&t.metricsTokenFile, "metrics-token-file", "with --http: give /metrics to whoever has the first line of `FILE`, and to nobody else")
}

// check returns an error for flags that have no meaning together.
func (t *serveTask) check() error {
	switch {
	case len(t.keys.names) == 0:
		return cli.UsageError("serve: give the private key with --key KEY")
	case (t.tlsCert == "") != (t.tlsKey == ""):
		return cli.UsageError("serve: --tls-cert and --tls-key belong together: give both")
	case t.requireTLS && t.tlsCert == "":
		return cli.UsageError("serve: --require-tls needs a certificate: give --tls-cert and --tls-key")
	case t.http == "" && t.ownerPassword != "":
		return cli.UsageError("serve: --owner-password-file is for the web console: give --http ADDR too")
	case t.http == "" && t.metricsTokenFile != "":
		return cli.UsageError("serve: --metrics-token-file is for /metrics: give --http ADDR too")
	}
	return nil
}

func (t *serveTask) run(path string) (err error) {
	if err := keeper.Supported(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := t.check(); err != nil {
		return err
	}
	s := &server{task: t, logger: newLogger(os.Stderr, t.json)}
	defer func() { err = cmp.Or(err, s.close()) }()
	if err := s.open(path); err != nil {
		if wrong := cli.UsageError(""); errors.As(err, &wrong) {
			return err
		}
		return fmt.Errorf("serve: %w", err)
	}
	return s.serve(signals)
}

// newLogger returns a structured log.
func newLogger(w io.Writer, json bool) *slog.Logger {
	if json {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// A server is all that geosql serve has open.
type server struct {
	task   *serveTask
	logger *slog.Logger

	vault        *servedVault
	certificates *certificates // nil without TLS
	token        atomic.Pointer[string]
	audit        *monitor.Audit // nil without one
	metrics      *monitor.Metrics
	backend      backend
	listener     net.Listener
	httpListener net.Listener // nil without HTTP

	wire     *wire.Server
	http     *http.Server
	draining atomic.Bool
}

// open opens everything, so that whatever is wrong is said before the first connection.
func (s *server) open(path string) (err error) {
	t := s.task
	if s.vault, err = openServedVault(path, t.ledger, t.keys); err != nil {
		return err
	}
	if t.tlsCert != "" {
		if s.certificates, err = loadCertificates(t.tlsCert, t.tlsKey, s.logger); err != nil {
			return err
		}
	}
	if err := s.readToken(); err != nil {
		return err
	}
	owner := ""
	if t.ownerPassword != "" {
		if owner, err = readSecret(t.ownerPassword); err != nil {
			return err
		}
	}
	if s.listener, err = listen("listen", t.listen, s.certificates != nil); err != nil {
		return err
	}
	if t.http != "" {
		l, err := listen("http", t.http, s.certificates != nil)
		if err != nil {
			return err
		}
		s.httpListener = newVisitorListener(l, mostVisitors, mostAnswers)
	}
	s.metrics = monitor.NewMetrics()
	observers := monitor.Observers{s.metrics, monitor.Log{Logger: s.logger}}
	if t.audit != "" {
		if s.audit, err = monitor.OpenAudit(t.audit, s.logger); err != nil {
			return err
		}
		observers = append(observers, s.audit)
	}
	logins := throttle.New()
	s.backend, err = openBackend(backendOptions{
		Path: path, Database: databaseName(path), Ledger: s.vault.ledger, Keyring: s.vault.keyring,
		Logger: s.logger, Observer: observers, MaxSessions: int(t.maxSessions), Memory: t.memory, Throttle: logins, OwnerPassword: owner,
	})
	if err != nil {
		return err
	}
	return s.prepare(observers, logins)
}

// prepare prepares the servers of both protocols.
func (s *server) prepare(observers monitor.Observer, logins *throttle.Throttle) error {
	secret, err := s.vault.mockSecret()
	if err != nil {
		return err
	}
	options := wire.Options{
		RequireTLS: s.task.requireTLS, MockSecret: secret, MockIterations: s.vault.iterations(),
		MaxSessions: int(s.task.maxSessions), Logger: s.logger, Throttle: logins,
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

// serve serves until a signal ends it, or a listener fails.
func (s *server) serve(signals <-chan os.Signal) error {
	failed := make(chan error, 2)
	go func() { failed <- s.wire.Serve(s.listener) }()
	if s.http != nil {
		go func() {
			if s.certificates != nil {
				failed <- s.http.ServeTLS(s.httpListener, "", "")
			} else {
				failed <- s.http.Serve(s.httpListener)
			}
		}()
	}
	s.greet()
	notifySystemd("READY=1")
	for {
		select {
		case err := <-failed:
			return cmp.Or(fmt.Errorf("serve: %w", err), s.stop(nil))
		case got := <-signals:
			if got == syscall.SIGHUP {
				s.reload()
				continue
			}
			return s.stop(signals)
		}
	}
}

// greet says where the server listens, and how to connect.
func (s *server) greet() {
	host, port, _ := net.SplitHostPort(s.listener.Addr().String())
	tls := ""
	if s.certificates != nil {
		host, tls = s.certificates.host(host), " sslmode=verify-full"
	}
	s.say("listening on "+s.listener.Addr().String(), fmt.Sprintf(`psql "host=%s port=%s dbname=%s user=ROLE%s"`,
		host, port, connectionValue(databaseName(s.vault.path)), tls))
	if s.http != nil {
		scheme, at := "http", s.httpListener.Addr().String()
		if s.certificates != nil {
			host, port, _ := net.SplitHostPort(at)
			scheme, at = "https", net.JoinHostPort(s.certificates.host(host), port)
		}
		s.say("listening on "+s.httpListener.Addr().String(), fmt.Sprintf("%s://%s/", scheme, at))
	}
	if hint := s.vault.roleHint(); hint != "" {
		s.say("nobody has a role yet", hint)
	}
}

// say tells whoever has started the server something, in the form that the log has.
func (s *server) say(what, more string) {
	if s.task.json {
		s.logger.Info(what, "use", more)
		return
	}
	cli.Say("%s: %s", what, more)
}

// reload reads again what the owner may have changed.
func (s *server) reload() {
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
func (s *server) readToken() error {
	token := ""
	if s.task.metricsTokenFile != "" {
		var err error
		if token, err = readSecret(s.task.metricsTokenFile); err != nil {
			return err
		}
	}
	s.token.Store(&token)
	return nil
}

// readSecret returns the first line of a file, which must not be empty.
func readSecret(name string) (string, error) {
	line, err := firstLine(name)
	if err == nil && len(line) == 0 {
		err = fmt.Errorf("the first line of %s is empty", name)
	}
	return string(line), err
}

// stop stops the server. Sessions may complete what they are at until the time for that is up, or a signal comes.
func (s *server) stop(signals <-chan os.Signal) error {
	s.draining.Store(true)
	notifySystemd("STOPPING=1")
	drain := time.Duration(s.task.drain * float64(time.Second))
	s.logger.Info("stopping", "seconds_to_drain", s.task.drain)
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	stopped := make(chan error, 1)
	go func() {
		err := s.wire.Shutdown(ctx)
		if s.http != nil {
			if e := s.http.Shutdown(ctx); e != nil {
				err = e
				s.http.Close()
			}
		}
		stopped <- err
	}()
	for {
		select {
		case err := <-stopped:
			if err != nil {
				s.logger.Warn("sessions were ended before they had completed what they were at")
			}
			return nil
		case got := <-signals:
			if got == syscall.SIGHUP {
				continue
			}
			cancel()
			<-stopped
			return cli.SignalError(got.(syscall.Signal))
		}
	}
}

// close closes what is open, and returns the first error.
func (s *server) close() (err error) {
	for _, l := range []net.Listener{s.listener, s.httpListener} {
		if l != nil {
			l.Close() // again, if it has served
		}
	}
	if s.backend != nil {
		err = s.backend.Close()
	}
	if s.audit != nil {
		err = cmp.Or(err, s.audit.Close())
	}
	if s.vault != nil {
		err = cmp.Or(err, s.vault.close())
	}
	return err
}

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
