package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve"
)

var serveCommand = &cli.Command{
	Name: "serve", Operands: "OUT", Min: 1, Max: 1,
	Summary: "serve a sealed database to psql, tools and browsers",
	Details: `OUT is a sealed database. A role (geosql role) connects with psql, a driver or a tool
to the database that is called as OUT's file, without folder and ending. KEY and the ledger stay
in this process; the SQL of analysts runs in others, which have neither.

Other machines connect with TLS only: without a certificate, only addresses of this machine can
be listened on. --http adds the web console, /healthz, and /metrics for this machine.

SIGTERM and Ctrl-C stop the server once sessions have completed their statements; a second
one stops it at once. SIGHUP reads the certificate and the token again, and opens the audit
log anew. Changed files of a certificate are used without SIGHUP too, and so are roles.

Windows does not serve.`,
	OwnSignals: true,
	Setup: func(fs *flag.FlagSet) cli.Run {
		t := serveTask{listen: "127.0.0.1:5432", maxSessions: 100, drain: 30 * time.Second}
		t.register(fs)
		return func(_ context.Context, operands []string) error { return t.run(operands[0]) }
	},
}

// A serveTask holds the flags of the command serve.
type serveTask struct {
	keys   vault.KeyFlags
	ledger store.LedgerFlags
	logger *slog.Logger

	listen, http     string // addresses
	tlsCert, tlsKey  string // files
	requireTLS       bool
	maxSessions      int64
	memory           int64         // bytes; 0 for the default
	idle, write      time.Duration // 0 for the default
	drain            time.Duration
	json             bool   // the log
	audit            string // a file
	ownerPassword    string // a file
	metricsTokenFile string
}

func (t *serveTask) register(fs *flag.FlagSet) {
	t.keys.Register(fs, "open OUT with the private key in `KEY`; repeatable")
	t.ledger.RegisterFile(fs, "the budgets are in `FILE`, or at a postgres:// URL (default OUT-ledger, beside OUT)")
	fs.StringVar(&t.listen, "listen", t.listen, "serve PostgreSQL's clients at `ADDR`")
	fs.StringVar(&t.http, "http", "", "serve the web console, /healthz and /metrics at `ADDR`, such as 127.0.0.1:8080")
	cli.FileVar(fs, &t.tlsCert, "tls-cert", "the certificate, with those between it and its root, is in `FILE` (PEM)")
	cli.FileVar(fs, &t.tlsKey, "tls-key", "the private key of the certificate is in `FILE` (PEM)")
	cli.Switch(fs, "require-tls", "refuse connections without TLS from this machine too", func() { t.requireTLS = true })
	fs.Func("max-sessions", "serve at most `N` sessions at a time (default 100)", cli.WholeTo(&t.maxSessions))
	fs.Func("memory", "hold at most `BYTES` of memory for all sessions together (default half of the machine's)", cli.WholeTo(&t.memory))
	fs.Func("idle-timeout", "end sessions that ask nothing for `SECONDS` (default 28800)", secondsTo(&t.idle, 1))
	fs.Func("write-timeout", "end sessions that take `SECONDS` to read 32 kB (default 60)", secondsTo(&t.write, 1))
	fs.Func("drain", "wait at most `SECONDS` for statements before stopping (default 30)", secondsTo(&t.drain, 0))
	fs.Func("log-format", "write the log, on standard error, as `text|json` (default text)", func(v string) error {
		if v != "text" && v != "json" {
			return errors.New("it must be text or json")
		}
		t.json = v == "json"
		return nil
	})
	cli.FileVar(fs, &t.audit, "audit", "add questions, with role and cost, to `FILE`, a line of JSON for each event")
	cli.FileVar(fs, &t.ownerPassword, "owner-password-file", "with --http: let the owner log in, with the first line of `FILE`")
	cli.FileVar(fs, &t.metricsTokenFile, "metrics-token-file", "with --http: give /metrics only to clients with the first line of `FILE`")
}

// secondsTo returns the function of a flag for seconds, of at least a number.
func secondsTo(to *time.Duration, least float64) func(string) error {
	return func(v string) error {
		n, err := cli.Number(v)
		if err == nil && !(n >= least && n <= 1e6) {
			err = fmt.Errorf("it must be from %v to 1000000", least)
		}
		*to = time.Duration(n * float64(time.Second))
		return err
	}
}

// check returns an error for flags that have no meaning together.
func (t *serveTask) check(path string) error {
	switch {
	case len(t.keys.Names) == 0:
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
	return cmp.Or(store.CheckName(path), t.ledger.Check())
}

func (t *serveTask) run(path string) (err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := t.check(path); err != nil {
		return err
	}
	t.logger = newLogger(os.Stderr, t.json)
	s, err := t.open(path)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	failed := make(chan error, 1)
	go func() { failed <- s.Serve() }()
	t.greet(s, path)
	notifySystemd("READY=1")
	for {
		select {
		case err := <-failed:
			return cmp.Or(fmt.Errorf("serve: %w", err), t.stop(s, nil))
		case got := <-signals:
			if got == syscall.SIGHUP {
				s.Reload()
				continue
			}
			return t.stop(s, signals)
		}
	}
}

// newLogger returns a structured log.
func newLogger(w io.Writer, json bool) *slog.Logger {
	if json {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// open opens the server of a sealed database.
func (t *serveTask) open(path string) (*serve.Server, error) {
	keys, err := vault.ReadPrivateKeys(t.keys.Names, t.keys.Passphrase)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o := serve.Options{
		Keys: keys, Ledger: t.ledger.File, Worker: func() *exec.Cmd { return exec.Command(program, "worker") },
		Listen: t.listen, HTTP: t.http, CertFile: t.tlsCert, KeyFile: t.tlsKey, RequireTLS: t.requireTLS,
		MaxSessions: int(t.maxSessions), IdleTimeout: t.idle, WriteTimeout: t.write, Memory: t.memory, Logger: t.logger, AuditFile: t.audit,
	}
	if t.ownerPassword != "" {
		if o.OwnerPassword, err = readSecret(t.ownerPassword); err != nil {
			return nil, err
		}
	}
	if t.metricsTokenFile != "" {
		o.MetricsToken = func() (string, error) { return readSecret(t.metricsTokenFile) }
	}
	s, err := serve.Open(path, o)
	if wrong, ok := errors.AsType[*serve.KeyError](err); ok {
		err = fmt.Errorf("%s is not a key that %s is sealed for", t.keys.Names[wrong.Index], path)
	}
	return s, err
}

// readSecret returns the first line of a file, which must not be empty.
func readSecret(name string) (string, error) {
	line, err := vault.FirstLine(name)
	if err == nil && len(line) == 0 {
		err = fmt.Errorf("the first line of %s is empty", name)
	}
	return string(line), err
}

// greet says where the server listens, and how to connect.
func (t *serveTask) greet(s *serve.Server, path string) {
	t.say("listening on "+s.Addr().String(), fmt.Sprintf(`psql "%s"`, s.Connection("ROLE")))
	if url := s.URL(); url != "" {
		t.say("listening on "+s.HTTPAddr().String(), url)
	}
	roles, err := serve.Roles(path, t.ledger.File)
	if columns := s.Columns(); err == nil && len(roles) == 0 && len(columns) > 0 {
		t.say("nobody has a role yet", roleHint(path, columns[0]))
	}
}

// roleHint returns how to add a role that may ask about a column.
func roleHint(path string, c catalog.Column) string {
	unit := budget.Metre
	if c.Universe != nil {
		unit = budget.Unit(c.Universe.Unit)
	}
	return fmt.Sprintf("geosql role %s add NAME --password-file FILE --columns %s.%s --epsilon %s=1 (it can log in at once)",
		path, c.Table, c.Name, unit)
}

// say says something about the server to its owner, in the form that the log has.
func (t *serveTask) say(what, more string) {
	if t.json {
		t.logger.Info(what, "use", more)
		return
	}
	cli.Say("%s: %s", what, more)
}

// stop stops the server. Sessions may complete their statements until the time for that is up, or a signal comes.
func (t *serveTask) stop(s *serve.Server, signals <-chan os.Signal) error {
	notifySystemd("STOPPING=1")
	t.logger.Info("stopping", "seconds_to_drain", t.drain.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), t.drain)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(ctx) }()
	for {
		select {
		case err := <-stopped:
			if err != nil {
				t.logger.Warn("sessions were ended before they had completed their statements")
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
