package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A remote answers without a key: sums of the lengths of the values, and the number of rows.
type remote struct {
	calls, groups, finals int
	err                   error         // of the next call
	wait                  chan struct{} // that a final step waits for
}

func number8(kind byte, bits uint64) sqlitefn.Released {
	return binary.BigEndian.AppendUint64([]byte{kind}, bits)
}

func (r *remote) Call(function string, args []sqlite.Value) (sqlitefn.Released, error) {
	r.calls++
	if r.err != nil {
		return nil, r.err
	}
	return number8('f', math.Float64bits(float64(len(args[0].Bytes())))), nil
}

func (r *remote) Group(function string) sqlitefn.RemoteGroup {
	r.groups++
	return &remoteGroup{remote: r, function: function}
}

type remoteGroup struct {
	remote   *remote
	function string
	rows     int64
	length   int64
	epsilon  sqlite.Type
}

func (g *remoteGroup) Step(args []sqlite.Value) error {
	g.rows++
	g.length += int64(len(args[0].Bytes()))
	g.epsilon = args[1].Type()
	return nil
}

func (g *remoteGroup) Final() (sqlitefn.Released, error) {
	g.remote.finals++
	switch {
	case g.remote.wait != nil:
		<-g.remote.wait
	case g.remote.err != nil:
		return nil, g.remote.err
	case g.epsilon == sqlite.Text:
		return nil, &wire.Error{Code: "42804", Message: "epsilon must be a number"}
	case g.function == "dx_count":
		return number8('i', uint64(g.rows)), nil
	}
	return number8('f', math.Float64bits(float64(g.length))), nil
}

// newFile makes a sealed database of five readings and returns its path.
func newFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "homes.db")
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ledger, err := file.OpenMemory("")
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql string) {
		t.Helper()
		if err := conn.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run(declaration.Schema + `; INSERT INTO geosql_universe VALUES ('u', 0, 10, 1, 'kWh');
		INSERT INTO geosql_domain VALUES ('beijing', 39.4, 115.4, 41.1, 117.6, 1, NULL)`)
	run(`CREATE TABLE reading(id INTEGER PRIMARY KEY, home TEXT, hour TEXT, kwh BLOB, temperature REAL, price NUMERIC, place BLOB);
		CREATE VIEW recent AS SELECT home, hour, kwh FROM reading;
		CREATE VIEW answers AS SELECT dx_sum(kwh, 1) FROM reading;
		CREATE TABLE other(home TEXT, place_kwh BLOB);
		CREATE TABLE plain(n INTEGER, x REAL, s TEXT, b BLOB)`)
	d := sealedtest.Seal(t, conn, ledger, sealedtest.NewKey(t).Public(),
		catalog.Column{Table: "reading", Name: "kwh", Account: "home", Universe: &catalog.Universe{Name: "u", Lo: 0, Hi: 10, Step: 1, Unit: "kWh"}},
		catalog.Column{Table: "other", Name: "place_kwh", Account: "home", Universe: &catalog.Universe{Name: "u", Lo: 0, Hi: 10, Step: 1, Unit: "kWh"}},
		catalog.Column{Table: "reading", Name: "place", Account: "home", Domain: &catalog.Domain{Name: "beijing", South: 39.4, West: 115.4, North: 41.1, East: 117.6, StepM: 1}})
	for i, home := range []string{"ana", "ana", "bo", "cy", "cy"} {
		run(fmt.Sprintf("INSERT INTO reading VALUES (%d, '%s', '2024-03-01 %02d:00:00', %s, %d.5, %d.25, %s)", i+1, home, i, d.Reading(1, home, int64(i)), i, i, d.Location(3, home, 40, 116)))
	}
	run(`INSERT INTO plain VALUES (1, 1.5, 'one', x'01'), (2, 2, 'two', NULL), ('3', '3.5', 3, 'text'), (NULL, NULL, NULL, NULL), (5.5, 'x', 'five', 5);
		PRAGMA journal_mode = WAL`)
	return path
}

// A handler serves the sessions of tests.
type handler struct {
	t        testing.TB
	config   Config
	remote   *remote
	verifier wire.Verifier
}

func (h *handler) Login(context.Context, string, string) (wire.Verifier, bool, error) {
	return h.verifier, true, nil
}

func (h *handler) NewSession(_ context.Context, login *wire.Login) (wire.Session, error) {
	c := h.config
	c.User, c.ProcessID, c.Parameters = login.User, login.ProcessID, login.Parameters
	s, err := NewSession(c, login.Client, h.remote)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A site is a server with a session of a test.
type site struct {
	t      testing.TB
	remote *remote
	port   string
}

var verifier = func() wire.Verifier {
	v, err := wire.NewVerifier("secret", wire.DefaultIterations)
	if err != nil {
		panic(err)
	}
	return v
}()

// serve serves sessions on a new database.
func serve(t testing.TB, config Config) *site {
	t.Helper()
	if config.Path == "" {
		config.Path = newFile(t)
	}
	config.Database = "homes"
	s := &site{t: t, remote: &remote{}}
	server := wire.NewServer(&handler{t, config, s.remote, verifier}, wire.Options{ServerVersion: pgcatalog.Version})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		server.Shutdown(ctx)
		<-served
	})
	_, s.port, _ = net.SplitHostPort(listener.Addr().String())
	return s
}

func (s *site) dsn() string {
	return "host=127.0.0.1 user=ann dbname=homes sslmode=disable port=" + s.port
}

// A client is a connection of pgx.
type client struct {
	*pgx.Conn
	t       testing.TB
	notices []string // so far
}

// connect connects with pgx.
func (s *site) connect(options ...string) *client {
	s.t.Helper()
	config, err := pgx.ParseConfig(s.dsn() + " password=secret " + strings.Join(options, " "))
	if err != nil {
		s.t.Fatal(err)
	}
	c := &client{t: s.t}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		c.notices = append(c.notices, n.Severity+": "+n.Message)
	}
	if c.Conn, err = pgx.ConnectConfig(context.Background(), config); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Conn.Close(context.Background()) })
	return c
}

// try runs a statement and returns its rows, as texts with | between values, and its error with the SQLSTATE in front.
func (c *client) try(sql string, args ...any) (list []string, failure string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return nil, text(err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, text(err)
		}
		var row []string
		for _, v := range values {
			switch x := v.(type) {
			case nil:
				row = append(row, "NULL")
			case []byte:
				row = append(row, "bytes "+string(x))
			default:
				row = append(row, fmt.Sprint(x))
			}
		}
		list = append(list, strings.Join(row, "|"))
	}
	return list, text(rows.Err())
}

// text returns an error with its SQLSTATE in front.
func text(err error) string {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code + " " + e.Message
	}
	return err.Error()
}

// answers fails the test if a statement does not answer want.
func (c *client) answers(sql, want string, args ...any) {
	c.t.Helper()
	rows, failure := c.try(sql, args...)
	if got := strings.Join(rows, "\n"); failure != "" || got != want {
		c.t.Errorf("%s answers %q %s, want %q", clip(sql), got, failure, want)
	}
}

// wantTypes fails the test if the columns of a statement do not have types with these OIDs.
func (c *client) wantTypes(sql string, want []uint32) {
	c.t.Helper()
	d, err := c.Prepare(context.Background(), "", sql)
	if err != nil {
		c.t.Errorf("%s: %s", sql, text(err))
		return
	}
	var got []uint32
	for _, f := range d.Fields {
		got = append(got, f.DataTypeOID)
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("%s: types %v, want %v", sql, got, want)
	}
}

// fails fails the test if a statement does not fail with an SQLSTATE and words.
func (c *client) fails(sql, want string, args ...any) {
	c.t.Helper()
	if rows, failure := c.try(sql, args...); !strings.HasPrefix(failure, want) {
		c.t.Errorf("%s answers %q and fails with %q, want %q", clip(sql), rows, failure, want)
	}
}
