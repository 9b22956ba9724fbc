package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/processes"
)

// mine ends a test that does something to a server which others use.
func (s *Server) mine(t testing.TB) {
	t.Helper()
	if !s.private {
		t.Fatal("only a server of the test's own may be changed: use pgtest.Own")
	}
}

// Kill kills all processes of the server, as the end of its machine's power would, and returns when
// they are gone. Data given to the operating system stays.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.mine(t)
	check(t, s.kill())
}

func (s *Server) kill() error {
	if err := s.process.signal(pause); err != nil { // so that it starts no more of them
		return err
	}
	all := processes.Children(s.process.pid)
	if err := s.process.signal(os.Kill); err != nil {
		return err
	}
	for _, pid := range all {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended by itself
		}
	}
	return s.process.wait()
}

// Stop has the server end the connections and stop in good order.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.mine(t)
	check(t, s.process.signal(fastStop))
	check(t, s.process.wait())
}

// StopAtOnce has the server end everything at once, so that it has to recover when it starts again.
func (s *Server) StopAtOnce(t testing.TB) {
	t.Helper()
	s.mine(t)
	check(t, s.process.signal(immediateStop))
	check(t, s.process.wait())
}

// KillBackend kills the process behind one of the connections to a database, if there are any, as the
// system does that runs out of memory. The server ends all others then and recovers. KillBackend
// returns when it answers again.
func (s *Server) KillBackend(t testing.TB, url string) {
	t.Helper()
	s.mine(t)
	var pid int
	check(t, s.query(func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT coalesce((SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'
			ORDER BY random() LIMIT 1), 0)`, s.database(t, url)).Scan(&pid)
	}))
	if pid == 0 {
		return
	}
	before := s.recoveries(t)
	p, err := os.FindProcess(pid)
	if check(t, err); p.Kill() != nil {
		return // it has ended by itself
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if s.recoveries(t) > before && s.query(func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) }) == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server does not recover:\n%s", s.logEnd())
		}
	}
}

// recoveries returns how often the server has ended all connections because a process was killed.
func (s *Server) recoveries(t testing.TB) int {
	t.Helper()
	log, err := os.ReadFile(s.log())
	check(t, err)
	return strings.Count(string(log), "all server processes terminated; reinitializing")
}

// Restart starts the server again, and stops it before that if it runs.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if s.mine(t); s.process.running() {
		s.Stop(t)
	}
	check(t, s.start())
}

// remove kills the server and deletes its data.
func (s *Server) remove() {
	_ = s.kill() // else the guard does it
	_ = os.RemoveAll(s.data)
	_ = os.RemoveAll(s.socket)
}

// Set changes a setting of the server. It returns when new connections have it; the server is
// started again where that is needed.
func (s *Server) Set(t testing.TB, setting, value string) {
	t.Helper()
	s.mine(t)
	var restart bool
	check(t, s.query(func(ctx context.Context, c *pgx.Conn) error {
		err := c.QueryRow(ctx, "SELECT context = 'postmaster' FROM pg_settings WHERE name = $1", setting).Scan(&restart)
		if err != nil {
			return fmt.Errorf("setting %s: %w", setting, err)
		}
		_, err = c.Exec(ctx, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", setting, strings.ReplaceAll(value, "'", "''")))
		return err
	}))
	if restart {
		s.Restart(t)
		return
	}
	before := s.loaded(t)
	check(t, s.process.signal(reload))
	for end := time.Now().Add(patience); !s.loaded(t).After(before); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server does not load setting %s:\n%s", setting, s.logEnd())
		}
	}
}

// loaded returns when the server has loaded its settings.
func (s *Server) loaded(t testing.TB) (at time.Time) {
	t.Helper()
	check(t, s.query(func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT pg_conf_load_time()").Scan(&at)
	}))
	return at
}

// database returns the name of the database that a URL of this server leads to.
func (s *Server) database(t testing.TB, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	check(t, err)
	return config.Database
}

// Dump returns the path of a file with the contents of a database, made by pg_dump.
func (s *Server) Dump(t testing.TB, url string) (file string) {
	t.Helper()
	file = s.place.path("dump")
	check(t, s.place.run(exec.Command(s.place.program("pg_dump"), "--format", "custom", "--file", file, s.url(s.database(t, url)))))
	return file
}

// Restore replaces a database with the file of a Dump. It ends the connections to the database.
func (s *Server) Restore(t testing.TB, url, file string) {
	t.Helper()
	name := s.database(t, url)
	check(t, s.exec("DROP DATABASE "+name+" WITH (FORCE)"))
	check(t, s.exec("CREATE DATABASE "+name))
	check(t, s.place.run(exec.Command(s.place.program("pg_restore"), "--exit-on-error", "--dbname", s.url(name), file)))
}

// Standby starts another server that follows this one, asynchronously, until the test's end. It is
// in recovery: it can be read. URL returns where its databases are.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	s.mine(t)
	data := s.place.path("data")
	check(t, s.place.run(exec.Command(s.place.program("pg_basebackup"), "--pgdata", data, "--write-recovery-conf",
		"--checkpoint", "fast", "--no-sync", "--dbname", s.url("postgres"))))
	standby, err := s.place.newServer(data)
	check(t, err)
	standby.private = true
	t.Cleanup(standby.remove)
	return standby
}

// Promote ends the recovery of a standby, which follows nobody any more.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.mine(t)
	check(t, s.exec("SELECT pg_promote()"))
}

// CaughtUp waits until a standby has everything that s has now.
func (s *Server) CaughtUp(t testing.TB, standby *Server) {
	t.Helper()
	var position string
	check(t, s.query(func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&position)
	}))
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		var there bool
		check(t, standby.query(func(ctx context.Context, c *pgx.Conn) error {
			return c.QueryRow(ctx, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", position).Scan(&there)
		}))
		if there {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the standby does not follow:\n%s", standby.logEnd())
		}
	}
}

// URL returns where a database of another server is in this one, such as its standby.
func (s *Server) URL(t testing.TB, url string) string {
	t.Helper()
	return s.url(s.database(t, url))
}

// PgBouncer starts PgBouncer in front of the server, in a mode such as "transaction", until the
// test's end. It returns the URL that leads to the same database through it. The roles are those
// that the server has now.
func (s *Server) PgBouncer(t testing.TB, mode, url string) string {
	t.Helper()
	program := need.Program(t, "pgbouncer")
	folder := s.place.path("bouncer")
	check(t, os.Mkdir(folder, 0o700))
	var users strings.Builder
	check(t, s.query(func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, "SELECT rolname FROM pg_roles WHERE rolcanlogin")
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, name := range names {
			fmt.Fprintf(&users, "%q \"\"\n", name)
		}
		return err
	}))
	config := fmt.Sprintf(`[databases]
* = host=%s
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = %s
auth_type = trust
auth_file = %[2]s/users
pool_mode = %s
max_client_conn = 500
`, s.socket, folder, mode)
	for name, text := range map[string]string{"users": users.String(), "config": config} {
		path := filepath.Join(folder, name)
		check(t, os.WriteFile(path, []byte(text), 0o600))
		check(t, s.place.user.give(path))
	}
	check(t, s.place.user.give(folder))
	bouncer, err := s.place.start(exec.Command(program, filepath.Join(folder, "config")), folder+".log")
	check(t, err)
	t.Cleanup(func() {
		_ = bouncer.signal(immediateStop) // else the guard does it
		_ = bouncer.wait()
		_ = os.RemoveAll(folder)
	})
	through := socketURL(folder, s.database(t, url))
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		c, err := pgx.Connect(ctx, through)
		if err == nil {
			c.Close(ctx)
		}
		cancel()
		if err == nil {
			return through
		}
		if !bouncer.running() || time.Now().After(end) {
			log, _ := os.ReadFile(folder + ".log")
			t.Fatalf("pgbouncer does not start: %v\n%s", err, log)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
