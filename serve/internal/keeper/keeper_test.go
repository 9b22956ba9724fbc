package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
	"github.com/geosql/geosql/sqlitefn"
)

// TestMain makes the program of the tests the worker, too, if its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "worker":
			os.Exit(worker.Main())
		case "hostile":
			os.Exit(hostile(os.Args[2]))
		case "probe":
			os.Exit(probe(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// self returns a command that runs the program of the tests as something else.
func self(args ...string) func() *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return func() *exec.Cmd { return exec.Command(path, args...) }
}

const patience = 20 * time.Second // after which a test is said to hang

// A site is a keeper of a sealed database, in a test.
type site struct {
	t      testing.TB
	path   string
	key    *sealed.PrivateKey
	ledger *file.Ledger
	*Keeper
	log    *logged
	events *events
	extra  int    // further rows of ana in the database
	folder string // of the database, or a new one
}

// A logged collects the log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// events are an observer's events.
type events struct {
	mu         sync.Mutex
	began      int
	ended      []monitor.Reason
	statements []monitor.Statement
}

func (e *events) SessionBegan(monitor.Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.began++
}

func (e *events) SessionEnded(_ monitor.Session, r monitor.Reason) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = append(e.ended, r)
}

func (e *events) LoginFailed(net.Addr, string) {}

func (e *events) StatementEnded(s monitor.Statement) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.statements = append(e.statements, s)
}

// last returns the last statement.
func (e *events) last() monitor.Statement {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.statements) == 0 {
		return monitor.Statement{}
	}
	return e.statements[len(e.statements)-1]
}

// reasons returns why sessions have ended.
func (e *events) reasons() []monitor.Reason {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]monitor.Reason{}, e.ended...)
}

// homes are the accounts of the database, with a reading of 1 kWh for each hour.
var homes = []string{"ana", "bo", "cy", "di"}

const hours = 24

// newSite seals a database of homes, and serves it for the role ann with the password secret. The accounts have 1/kWh.
func newSite(t testing.TB, change func(*Options)) *site {
	t.Helper()
	s := &site{t: t}
	s.open(change)
	return s
}

func (s *site) open(change func(*Options)) {
	t := s.t
	t.Helper()
	s.path, s.key, s.log, s.events = filepath.Join(cmp.Or(s.folder, t.TempDir()), "homes.db"), sealedtest.NewKey(t), &logged{}, &events{}
	s.seal()
	s.addRole(func(*role.Role) {})
	o := Options{
		Path: s.path, Keyring: sealed.NewKeyring(s.key), Worker: self("worker"), Observer: s.events,
		Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	}
	if change != nil {
		change(&o)
	}
	var err error
	if s.Keeper, err = Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Keeper.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the log:\n%s", s.log)
		}
	})
}

// setWorker sets the arguments of workers that are started from now on.
func (s *site) setWorker(args ...string) {
	for preparing := true; preparing; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		preparing = s.preparing
		s.mu.Unlock()
	}
	if w := s.takeWaiting(); w != nil {
		w.stop(0)
	}
	s.options.Worker = self(args...)
}

func (s *site) seal() {
	t := s.t
	conn, err := sqlite.Open(s.path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if s.ledger, err = file.Open(sqlitefn.LedgerPath(s.path), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.ledger.Close() })
	run := func(sql string) {
		t.Helper()
		if err := conn.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run(declaration.Schema + `; INSERT INTO geosql_universe VALUES ('halfhour', 0, 10, 0.001, 'kWh');
		CREATE TABLE reading(id INTEGER PRIMARY KEY, home TEXT, hour INTEGER, kwh BLOB)`)
	d := sealedtest.Seal(t, conn, s.ledger, s.key.Public(), catalog.Column{Table: "reading", Name: "kwh", Account: "home",
		Universe: &catalog.Universe{Name: "halfhour", Lo: 0, Hi: 10, Step: 0.001, Unit: "kWh"}})
	if err := sqlitefn.Attach(conn.Handle(), sqlitefn.WithKeyring(sealed.NewKeyring(s.key))); err != nil {
		t.Fatal(err)
	}
	run("SELECT budget_limit('*', 'kWh', 1)")
	run("BEGIN")
	for h := range hours {
		for _, home := range homes {
			value := d.Reading(1, home, 1000)
			run(fmt.Sprintf("INSERT INTO reading(home, hour, kwh) VALUES ('%s', %d, %s)", d.Account(home).Pseudonym, h, value))
		}
	}
	for range s.extra {
		run(fmt.Sprintf("INSERT INTO reading(home, hour, kwh) VALUES ('%s', 99, %s)", d.Account("ana").Pseudonym, d.Reading(1, "ana", 1000)))
	}
	run("COMMIT")
}

var verifier = func() wire.Verifier {
	v, err := wire.NewVerifier("secret", 4096)
	if err != nil {
		panic(err)
	}
	return v
}()

func amount(t testing.TB, s string) budget.Amount {
	t.Helper()
	rat, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%s is not a number", s)
	}
	a, err := budget.Limit(rat)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// addRole adds the role ann, or replaces it.
func (s *site) addRole(change func(*role.Role)) *role.Role {
	s.t.Helper()
	r := &role.Role{Verifier: verifier, Terms: role.Terms{
		Name: "ann", Columns: []catalog.ColumnName{{Table: "reading", Column: "kwh"}},
		Epsilon:   map[budget.Unit]budget.Amount{"kWh": amount(s.t, "100")},
		MaxRepeat: 1, Timeout: patience, Added: time.Now(),
	}}
	change(r)
	if err := r.Check(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.ledger.Record(r.Fact()); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// spent returns the spending of an account, of its 1/kWh.
func (s *site) spent(home string) budget.Amount {
	s.t.Helper()
	balance, err := s.ledger.Balance(home, "kWh")
	if err != nil {
		s.t.Fatal(err)
	}
	return balance.Spent
}

// A client keeps its notices. It implements wire.Client.
type client struct {
	mu      sync.Mutex
	notices []string
}

func (c *client) Notice(e *wire.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, e.Message)
}

func (c *client) Parameter(string, string) {}

func (c *client) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.notices, "\n")
}

// A session is one of ann.
type session struct {
	*Session
	t      testing.TB
	client *client
}

func (s *site) session() *session {
	s.t.Helper()
	x, err := s.begin()
	if err != nil {
		s.t.Fatal(err)
	}
	return x
}

func (s *site) begin() (*session, error) {
	c := &client{}
	x, err := s.Begin(context.Background(), &wire.Login{User: "ann", Verifier: verifier, Database: "homes", Client: c, ProcessID: 7})
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(x.Close)
	return &session{x, s.t, c}, nil
}

// query returns the rows of a statement as text, a line each.
func (s *session) query(sql string, args ...any) (string, error) {
	return s.queryContext(context.Background(), sql, args...)
}

func (s *session) queryContext(ctx context.Context, sql string, args ...any) (string, error) {
	st, _, err := s.Compile(ctx, sql, nil)
	if err != nil {
		return "", err
	}
	defer st.Close()
	r, err := st.Run(ctx, args)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var lines []string
	for {
		v, err := r.Values()
		if err != nil {
			if err.Error() == "EOF" {
				err = nil
			}
			return strings.Join(lines, "\n"), err
		}
		var cells []string
		for _, x := range v {
			cells = append(cells, fmt.Sprint(x))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
}

// want runs a statement that has to answer.
func (s *session) want(sql string, args ...any) string {
	s.t.Helper()
	got, err := s.query(sql, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, describe(err))
	}
	return got
}

// describe returns all of an error.
func describe(err error) string {
	var e *wire.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s %s: %s (%s) (%s)", e.Severity, e.Code, e.Message, e.Detail, e.Hint)
	}
	return fmt.Sprint(err)
}

// wantError runs a statement that has to fail with an SQLSTATE.
func (s *session) wantError(state, sql string, args ...any) *wire.Error {
	s.t.Helper()
	_, err := s.query(sql, args...)
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != state {
		s.t.Fatalf("%s: %v, want %s", sql, describe(err), state)
	}
	return e
}

// serve serves the keeper to clients of PostgreSQL, and returns where.
func (s *site) serve() string {
	s.t.Helper()
	server := wire.NewServer(s.Keeper, wire.Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		server.Shutdown(ctx)
		<-served
	})
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "host=127.0.0.1 user=ann password=secret dbname=homes sslmode=disable port=" + port
}

func connect(t testing.TB, dsn string) (*pgx.Conn, *[]string) {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	notices := &[]string{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { *notices = append(*notices, n.Message) }
	c, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c, notices
}
