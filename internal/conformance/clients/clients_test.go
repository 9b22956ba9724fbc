// Package clients tests geosql serve with the programs and drivers that analysts have: psql, pgbench, and those for
// Python, Java and Node. They are run as they are installed, against the command, over the network.
package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/conformance/served"
	"github.com/geosql/geosql/internal/need"
)

// patience is how long a program may take.
const patience = 3 * time.Minute

// scratch is a folder that all tests share.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "geosql-clients-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}())
}

// made makes the common parts of all tests, once: the command, and a sealed database with its roles.
var made = sync.OnceValue(func() error {
	if err := served.Build(geosql()); err != nil {
		return err
	}
	if err := makeCertificates(); err != nil {
		return err
	}
	return makeDatabase()
})

func geosql() string { return filepath.Join(scratch, "geosql") }

// shared returns the path of a file that all tests share.
func shared(name string) string { return filepath.Join(scratch, name) }

// The roles of the database, with one password. ann may spend any amount; poor may spend 0.5 of kWh
// of each account, and 0.4 at once.
const (
	password = "correct horse"
	database = "open"
)

// The table reading has rowsOfReadings sealed readings of 20 accounts, of 0 to 10 kWh. Their sum is sumOfReadings.
// epsilon is 100/kWh wherever a test wants exact answers: noise other than 0 has a chance below 1e-42.
const (
	plainTables = `
		SELECT dx_universe('energy', 0, 10, 1, 'kWh'), dx_universe('flag', 0, 1, 1, 'on'), geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1),
			budget_limit('*', 'kWh', 1000000), budget_limit('*', 'm', 1000), budget_limit('*', 'record', 1000000);
		CREATE TABLE reading(home TEXT, kwh INTEGER, lat REAL, lon REAL, hour TEXT, temperature REAL, day INTEGER);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
		INSERT INTO reading SELECT 'home ' || (i % 20), i % 11, 48.85, 2.3, strftime('%Y-%m-%d %H:00:00', '2024-03-01', (i / 20) || ' hours'), (i % 30) / 2.0, i / 20 / 24 FROM n`
	publicTables = `
		CREATE TABLE place(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
		INSERT INTO place VALUES (1, 'Paris'), (2, 'Montréal'), (3, 'a "quoted" one');
		CREATE TABLE series(n INTEGER PRIMARY KEY, x REAL NOT NULL, s TEXT, b BLOB, place_id INTEGER REFERENCES place(id));
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		INSERT INTO series SELECT i, i / 8.0, CASE WHEN i % 10 THEN 'text ' || i END, CASE WHEN i <= 3 THEN x'00ff0a' END, i % 3 + 1 FROM n;
		CREATE INDEX series_by_place ON series(place_id, x);
		CREATE VIEW warm AS SELECT home, hour, kwh, temperature FROM reading WHERE temperature > 10;` + sample
)

func makeDatabase() error {
	if err := os.WriteFile(shared("password"), []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	plain, open, key := shared("plain.db"), shared(database+".db"), shared("KEY")
	for _, args := range [][]string{
		{plain, plainTables},
		{"keygen", key},
		{"seal", plain, open, "--key", key + ".pub", "--table", "reading", "--account", "home", "--seal", "kwh:energy", "--seal", "lat,lon:city",
			"--public", "hour,temperature,day", "--yes"},
		{"--key", key, open, publicTables},
		{"role", open, "add", "ann", "--password-file", shared("password"), "--columns", "reading.kwh,reading.location",
			"--epsilon", "kWh=1000000", "--epsilon", "m=1000", "--epsilon", "record=1000000"},
		{"role", open, "add", "poor", "--password-file", shared("password"), "--columns", "reading.kwh", "--epsilon", "kWh=0.5", "--epsilon-max", "kWh=0.4"},
	} {
		if _, err := run(nil, "", geosql(), args...); err != nil {
			return err
		}
	}
	return nil
}

// run runs a program. Its error contains the output of the program.
func run(env []string, input, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(input)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s%s", name, err, out.String(), said.String())
	}
	return out.String(), nil
}

// A server is geosql serve.
type server struct {
	*served.Server
	port string
}

// serve starts geosql serve with some flags, and ends it with the test.
func serve(t testing.TB, flags ...string) *server {
	t.Helper()
	if err := made(); err != nil {
		t.Fatal(err)
	}
	s := served.Start(t, geosql(), append([]string{shared(database + ".db"), "--key", shared("KEY")}, flags...)...)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if t.Failed() {
			t.Logf("the server said\n%s", s.Said())
		}
	})
	_, port, _ := net.SplitHostPort(s.Address)
	return &server{s, port}
}

// env returns the environment in which clients find the server, as most of them read it. A later setting of a name
// replaces an earlier one.
func (s *server) env(more ...string) []string {
	return append([]string{"PGHOST=127.0.0.1", "PGPORT=" + s.port, "PGUSER=ann", "PGPASSWORD=" + password, "PGDATABASE=" + database,
		"PGSSLMODE=prefer", "PGCONNECT_TIMEOUT=20", "PGSYSCONFDIR=" + scratch, "PGSERVICEFILE=/nonexistent", "PGPASSFILE=/nonexistent",
		"LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONWARNINGS=ignore"}, more...)
}

// A check is one that a client's program made.
type check struct {
	what string
	ok   bool
	said string
}

var result = regexp.MustCompile(`^(not )?ok - (.*)$`)

// checks reads the checks that a program reports, in the form of the Test Anything Protocol: a line "ok - what" or
// "not ok - what" for each, lines with a # for details, and at the end 1..N.
func checks(out string) ([]check, error) {
	var list []check
	ended := false
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		plan, isPlan := strings.CutPrefix(line, "1..")
		m := result.FindStringSubmatch(line)
		switch {
		case m != nil:
			list = append(list, check{what: m[2], ok: m[1] == ""})
		case isPlan:
			if n, err := strconv.Atoi(plan); err != nil || n != len(list) {
				return list, fmt.Errorf("the program made %d checks, and says %s", len(list), plan)
			}
			ended = true
		case len(list) > 0 && strings.HasPrefix(line, "#"):
			list[len(list)-1].said += strings.TrimPrefix(line, "#") + "\n"
		case line != "":
			return list, fmt.Errorf("the program prints %s", line)
		}
	}
	if !ended || len(list) == 0 {
		return list, errors.New("the program did not complete its checks")
	}
	return list, nil
}

// runs runs a client's program, and makes a test of each of its checks.
func (s *server) runs(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	out, failed := run(s.env(env...), "", name, args...)
	list, err := checks(out)
	for _, c := range list {
		t.Run(c.what, func(t *testing.T) {
			if !c.ok {
				t.Error(c.said)
			}
		})
	}
	if err == nil {
		err = failed
	} else if failed != nil {
		err = fmt.Errorf("%w: %w", err, failed)
	}
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d checks", len(list))
}

func TestPython(t *testing.T) {
	s := serve(t)
	for _, c := range []struct{ module, debian string }{
		{"psycopg2", "python3-psycopg2"},
		{"psycopg", "python3-psycopg"},
		{"asyncpg", "python3-asyncpg"},
		{"sqlalchemy", "python3-sqlalchemy python3-psycopg2"},
		{"pandas", "python3-pandas python3-sqlalchemy python3-psycopg2"},
	} {
		t.Run(c.module, func(t *testing.T) {
			python := need.Python(t, "import "+c.module, c.debian)
			s.runs(t, nil, python, "python/check_"+c.module+".py")
		})
	}
}

// Debian's driver for Java.
const driver = "/usr/share/java/postgresql.jar"

func TestJava(t *testing.T) {
	java := need.Program(t, "java")
	need.Program(t, "javac")
	need.File(t, driver, "Debian: libpostgresql-jdbc-java")
	s := serve(t)
	s.runs(t, nil, java, "-cp", driver, "java/Checks.java")
}

func TestNode(t *testing.T) {
	node := need.Program(t, "node")
	pg := need.File(t, "../hosts/node_modules/pg", "npm install --prefix internal/conformance/hosts")
	serve(t).runs(t, []string{"NODE_PATH=" + filepath.Dir(pg), "PGSSLMODE=disable"}, node, "node/checks.js")
}

// TestGo tests features that psql 15 lacks: TLS from the first byte, and protocol 3.2.
func TestGo(t *testing.T) {
	s := serve(t, "--tls-cert", shared("server.pem"), "--tls-key", shared("server.key"))
	for _, more := range []string{
		"sslmode=verify-full sslnegotiation=direct channel_binding=require",
		"sslmode=verify-full max_protocol_version=3.2",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		conn, err := pgx.Connect(ctx, fmt.Sprintf("host=127.0.0.1 port=%s user=ann password='%s' dbname=%s sslrootcert=%s %s", s.port, password, database, shared("ca.pem"), more))
		if err != nil {
			t.Errorf("%s: %v", more, err)
			continue
		}
		var sum float64
		var homes int
		err = conn.QueryRow(ctx, "SELECT dx_sum(kwh, $1), count(DISTINCT home) FROM reading", 100).Scan(&sum, &homes)
		if err != nil || sum != 4995 || homes != 20 {
			t.Errorf("%s: %v, %d, %v", more, sum, homes, err)
		}
		conn.Close(ctx)
	}
}
