package pgtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/need"
)

// roleVariable makes the test binary start a server and wait for its end.
const roleVariable = "GEOSQL_PGTEST_ROLE"

// read returns the answer of a query on a database.
func read(t testing.TB, url, sql string, args ...any) (text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config, err := pgx.ParseConfig(url)
	check(t, err)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	c, err := pgx.ConnectConfig(ctx, config)
	check(t, err)
	defer c.Close(ctx)
	rows, err := c.Query(ctx, sql, args...)
	check(t, err)
	for rows.Next() {
		check(t, rows.Scan(&text))
	}
	check(t, rows.Err())
	return text
}

func want(t testing.TB, url, sql, answer string) {
	t.Helper()
	if got := read(t, url, sql); got != answer {
		t.Errorf("%s: %s, want %s", sql, got, answer)
	}
}

func TestDatabase(t *testing.T) {
	s := Start(t)
	url := s.Database(t)
	if Start(t) != s || s.Database(t) == url {
		t.Error("one server has one database for each call")
	}
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		want(t, url, "SHOW "+setting, "on")
	}
	want(t, url, "SHOW server_encoding", "UTF8")
	want(t, url, "SELECT (count(*) = 0)::text FROM pg_tables WHERE schemaname = 'public'", "true")
	want(t, url, "SELECT ('Z' < 'a')::text", "true")
}

// The database is gone when its test has ended, though somebody is connected.
func TestDatabaseIsDropped(t *testing.T) {
	s := Start(t)
	var url string
	t.Run("user", func(t *testing.T) {
		url = s.Database(t)
		_, err := pgx.Connect(context.Background(), url)
		check(t, err)
	})
	if c, err := pgx.Connect(context.Background(), url); err == nil {
		c.Close(context.Background())
		t.Error("it is still there")
	}
}

func TestOwn(t *testing.T) {
	s := Own(t)
	url := s.Database(t)
	read(t, url, "CREATE TABLE t(a int)")
	read(t, url, "INSERT INTO t VALUES (1)")
	file := s.Dump(t, url)
	read(t, url, "INSERT INTO t VALUES (2)")
	s.Kill(t)
	if c, err := pgx.Connect(context.Background(), url); err == nil {
		c.Close(context.Background())
		t.Error("a killed server answers")
	}
	s.Restart(t)
	want(t, url, "SELECT sum(a)::text FROM t", "3")
	read(t, url, "INSERT INTO t VALUES (4)")
	s.StopAtOnce(t)
	s.Restart(t)
	want(t, url, "SELECT sum(a)::text FROM t", "7")
	s.KillBackend(t, url) // of none
	c, err := pgx.Connect(context.Background(), url)
	check(t, err)
	s.KillBackend(t, url)
	if c.Ping(context.Background()) == nil {
		t.Error("a connection lives whose process was killed")
	}
	want(t, url, "SELECT sum(a)::text FROM t", "7")
	s.Set(t, "fsync", "off")
	want(t, url, "SHOW fsync", "off")
	s.Set(t, "max_connections", "50")
	want(t, url, "SHOW max_connections", "50")
	s.Restore(t, url, file)
	want(t, url, "SELECT sum(a)::text FROM t", "1")
}

func TestStandby(t *testing.T) {
	s := Own(t)
	url := s.Database(t)
	read(t, url, "CREATE TABLE t(a int)")
	standby := s.Standby(t)
	there := standby.URL(t, url)
	s.CaughtUp(t, standby)
	want(t, there, "SELECT pg_is_in_recovery()::text", "true")
	read(t, url, "INSERT INTO t VALUES (5)")
	s.CaughtUp(t, standby)
	want(t, there, "SELECT sum(a)::text FROM t", "5")
	s.Kill(t)
	standby.Promote(t)
	want(t, there, "SELECT pg_is_in_recovery()::text", "false")
	read(t, there, "INSERT INTO t VALUES (6)")
	want(t, there, "SELECT sum(a)::text FROM t", "11")
}

func TestPgBouncer(t *testing.T) {
	s := Start(t)
	url := s.Database(t)
	read(t, url, "CREATE ROLE other LOGIN")
	t.Cleanup(func() { read(t, url, "DROP ROLE other") })
	through := s.PgBouncer(t, "transaction", url)
	if through == url {
		t.Fatal("the URL leads to the server itself")
	}
	read(t, through, "CREATE TABLE t(a int)")
	want(t, url, "SELECT count(*)::text FROM t", "0")
	want(t, strings.Replace(through, "postgres@", "other@", 1), "SELECT current_user::text", "other")

	// Two clients take turns on one connection of the server.
	pid := func() (pid string) { return read(t, through, "SELECT pg_backend_pid()::text") }
	if a, b := pid(), pid(); a != b {
		t.Errorf("clients had server processes %s and %s", a, b)
	}
}

// Servers end and are removed with the test process that started them: when it ends well, panics or is killed.
func TestEndOfProcess(t *testing.T) {
	if how := os.Getenv(roleVariable); how != "" {
		s := Own(t)
		Start(t)
		os.Stdout.WriteString("folder " + s.place.folder + "\n")
		switch how {
		case "panic":
			panic("a test's")
		case "kill":
			time.Sleep(patience)
		}
		return
	}
	Start(t) // or skip
	ps := need.Program(t, "ps")
	for _, how := range []string{"end", "panic", "kill"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEndOfProcess$")
		cmd.Env = append(os.Environ(), roleVariable+"="+how)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		folder := ""
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if found, ok := strings.CutPrefix(lines.Text(), "folder "); ok {
				folder = found
				if how == "kill" {
					check(t, cmd.Process.Signal(syscall.SIGKILL))
				}
			}
		}
		_ = cmd.Wait() // only one of them ends well
		if folder == "" {
			t.Fatalf("%s: no server was started", how)
		}
		for end := time.Now().Add(patience); exists(folder); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the folder is still there", how)
			}
		}
		for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			list, err := exec.Command(ps, "-eo", "args").Output()
			check(t, err)
			if !strings.Contains(string(list), folder) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: a server still runs", how)
			}
		}
	}
}
