// Package serve attacks, kills and loads the server as a program, over its protocol: geosql serve with its workers.
package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/internal/conformance/served"
	"github.com/geosql/geosql/internal/processes"
)

var (
	program string // the command geosql, built for these tests
	folder  string
)

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	var err error
	if folder, err = os.MkdirTemp("", "geosql-serve-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "geosql")
	if err := served.Build(program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = m.Run()
}

const (
	meters  = 12
	hours   = 40
	owner   = "household" // how the names of the accounts begin: nobody may see one
	timeout = 3           // seconds that a role has for a statement
)

// A place is a sealed database with its key, in a folder.
type place struct {
	testing.TB
	path, key string
}

// run runs the command in the place.
func (p *place) run(args ...string) string {
	p.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		p.Fatalf("geosql %s\n%v\n%s", strings.Join(args, " "), err, said.String())
	}
	return out.String()
}

// newPlace makes a sealed database energy.db: table reading with the public columns hour and zone, the pseudonym meter, and
// the sealed kwh and home. limit is the epsilon of each account in every unit.
func newPlace(tb testing.TB, limit string) *place {
	tb.Helper()
	dir := tb.TempDir()
	p := &place{tb, filepath.Join(dir, "energy.db"), filepath.Join(dir, "owner.key")}
	plain := filepath.Join(dir, "plain.db")
	p.run(plain, fmt.Sprintf(`
		CREATE TABLE reading(id INTEGER PRIMARY KEY, meter TEXT NOT NULL, hour INTEGER NOT NULL, zone TEXT NOT NULL, kwh REAL, home INTEGER);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO reading(meter, hour, zone, kwh, home) SELECT '%s-' || (i %% %d), i / %[3]d, CASE WHEN i %% 3 THEN 'north' ELSE 'south' END, i %% 31 / 10.0, i %% 2 FROM n;
		SELECT dx_universe('energy', 0, 3, 0.1, 'kWh'), dx_universe('flag', 0, 1, 1, 'yes');
		SELECT budget_limit('*', unit.value, %s) FROM json_each('["kWh","record","yes"]') AS unit;`, meters*hours-1, owner, meters, limit))
	p.run("keygen", p.key)
	p.run("seal", plain, p.path, "--key", p.key+".pub", "--table", "reading", "--account", "meter",
		"--seal", "kwh:energy", "--seal", "home:flag", "--public", "hour,zone", "--yes")
	return p
}

// role adds a role with its name as the password.
func (p *place) role(name string, flags ...string) {
	p.Helper()
	password := filepath.Join(p.TempDir(), "password")
	if err := os.WriteFile(password, []byte(name+"\n"), 0o600); err != nil {
		p.Fatal(err)
	}
	p.run(append([]string{"role", p.path, "add", name, "--password-file", password}, flags...)...)
}

// analyst adds a role that may ask about kwh and home, with a budget.
func (p *place) analyst(name, budget string, flags ...string) {
	p.Helper()
	p.role(name, append([]string{"--columns", "reading.kwh,reading.home", "--epsilon", "kWh=" + budget, "--epsilon", "record=" + budget, "--timeout", fmt.Sprint(timeout)}, flags...)...)
}

// spent returns the most that an account has spent of a unit, as the ledger says.
func (p *place) spent(unit string) float64 {
	p.Helper()
	var most float64
	out := p.run("-csv", p.path, "SELECT coalesce(max(spent), 0) AS s FROM ledger_balance WHERE account <> '*' AND unit = '"+unit+"'")
	if _, err := fmt.Sscanf(out, "s\n%g", &most); err != nil {
		p.Fatalf("%v: %q", err, out)
	}
	return most
}

// A server is a running geosql serve.
type server struct {
	*place
	*served.Server
}

// serve starts a server, which is stopped at the end of the test if it still runs.
func (p *place) serve(flags ...string) *server {
	p.Helper()
	return &server{p, served.Start(p.TB, program, append([]string{p.path, "--key", p.key}, flags...)...)}
}

// stop stops the server gently, and fails the test unless it ends well.
func (s *server) stop() {
	s.Helper()
	if err := s.Stop(); err != nil {
		s.Errorf("the server stopped with %v\n%s", err, s.Said())
	}
}

// workers returns the process ids of the server's workers.
func (s *server) workers() []int { return processes.Children(s.PID()) }

// connect opens a session of a role.
func (s *server) connect(role string) (*pgx.Conn, error) {
	host, port, _ := net.SplitHostPort(s.Address)
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s user=%s password=%[3]s dbname=energy sslmode=disable connect_timeout=20", host, port, role))
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(context.Background(), config)
}

// session opens a session of a role for the test.
func (s *server) session(role string) *session {
	s.Helper()
	conn, err := s.connect(role)
	if err != nil {
		s.Fatalf("%v\n%s", err, s.Said())
	}
	s.Cleanup(func() { conn.Close(context.Background()) })
	return &session{s, conn}
}

type session struct {
	*server
	conn *pgx.Conn
}

// ask returns the rows of a statement, printed.
func (s *session) ask(sql string, args ...any) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := s.conn.Query(ctx, sql, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return "", err
		}
		list = append(list, fmt.Sprint(values...))
	}
	return strings.Join(list, ";"), rows.Err()
}

func (s *session) answers(sql, want string) {
	s.Helper()
	if got, err := s.ask(sql); err != nil || got != want {
		s.Errorf("%s\nanswers %q, %v, want %q", sql, got, err, want)
	}
}

// stateOf returns the SQLSTATE of an error.
func stateOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}
