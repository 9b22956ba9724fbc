package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/servetest"
)

// A serving is a server that runs for a test.
type serving struct {
	servetest.Client
	cmd      *exec.Cmd
	httpAddr string
	ended    chan struct{}

	mu   sync.Mutex
	said []string // lines of standard error
}

// startServing starts a server on ports that are free, and waits until it listens.
func startServing(t *testing.T, p sealedPlace, args ...string) *serving {
	t.Helper()
	return startServer(t, clitest.Command(t, append(serveArgs(p.out, p.key), args...)...))
}

// serveArgs are the arguments of a server on ports that are free.
func serveArgs(db, key string) []string {
	return []string{"serve", db, "--key", key, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}
}

// startServer starts a command with serveArgs, and waits until it listens.
func startServer(t *testing.T, cmd *exec.Cmd) *serving {
	t.Helper()
	s := &serving{Client: servetest.Client{T: t}, cmd: cmd, ended: make(chan struct{})}
	stderr, err := s.cmd.StderrPipe()
	check(t, err)
	check(t, s.cmd.Start())
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.mu.Lock()
			s.said = append(s.said, lines.Text())
			s.mu.Unlock()
		}
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.ended
		s.cmd.Wait()
	})
	addrs := s.wait(`listening on (127\.0\.0\.1:\d+)`, 2)
	s.Address, s.httpAddr = addrs[0], addrs[1]
	return s
}

func (s *serving) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.said...)
}

// wait waits until so many lines match a pattern, and returns the matches of its group.
func (s *serving) wait(pattern string, n int) (found []string) {
	s.Helper()
	p := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		found = nil
		for _, line := range s.lines() {
			if m := p.FindStringSubmatch(line); m != nil {
				found = append(found, m[len(m)-1])
			}
		}
		if len(found) >= n {
			return found
		}
		if time.Now().After(deadline) {
			s.Fatalf("%d lines match %s, want %d:\n%s", len(found), pattern, n, strings.Join(s.lines(), "\n"))
		}
	}
}

func (s *serving) signal(which os.Signal) {
	s.Helper()
	check(s.T, s.cmd.Process.Signal(which))
}

// end waits until the server has ended, and demands its exit status.
func (s *serving) end(status int) {
	s.Helper()
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		s.Fatalf("the server does not end:\n%s", strings.Join(s.lines(), "\n"))
	}
	if got := clitest.ExitStatus(s.T, s.cmd.Wait()); got != status {
		s.Errorf("exit status %d, want %d:\n%s", got, status, strings.Join(s.lines(), "\n"))
	}
}

// busy makes the server run a statement that does not end, and sends its error once it is ended.
func (s *serving) busy() <-chan error {
	s.Helper()
	rows, err := s.MustConnect("sslmode=disable").Query(context.Background(), endless+"SELECT x FROM c", pgx.QueryExecModeSimpleProtocol)
	check(s.T, err)
	if !rows.Next() {
		s.Fatal(rows.Err())
	}
	done := make(chan error, 1)
	go func() {
		for rows.Next() {
		}
		done <- rows.Err()
	}()
	return done
}

// addAna adds the role ana with the password sesame.
func (p sealedPlace) addAna() {
	p.Helper()
	password := clitest.WriteFile(p.T, "sesame\n")
	p.run("role", p.out, "add", "ana", "--password-file", password, "--columns", "meter.kwh", "--epsilon", "kWh=1")
}

// A server that nobody has a role of says where it listens and how to add one. It reloads and stops at signals.
func TestServeSignals(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	s := startServing(t, p, "--drain", "0.2")
	_, port, _ := net.SplitHostPort(s.Address)
	first := s.lines()[0]
	if want := "listening on " + s.Address + `: psql "host=127.0.0.1 port=` + port + ` dbname=out user=ROLE"`; first != want {
		t.Errorf("said %s, want %s", first, want)
	}
	s.wait(`listening on `+s.httpAddr+`: http://`+s.httpAddr+`/$`, 1)
	s.wait(`nobody has a role yet: geosql role .* add NAME --password-file FILE --columns meter.kwh --epsilon kWh=1`, 1)
	s.signal(syscall.SIGHUP)
	s.wait(`msg=reloaded`, 1)
	p.addAna()
	done := s.busy()
	s.signal(syscall.SIGINT)
	s.end(0)
	s.wait("sessions were ended before they had completed", 1)
	if err := <-done; err == nil {
		t.Error("the statement has ended well")
	}
}

// A second signal stops a server that drains.
func TestServeSecondSignal(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.addAna()
	s := startServing(t, p)
	s.busy()
	s.signal(syscall.SIGTERM)
	s.wait(`msg=stopping seconds_to_drain=30`, 1)
	s.signal(syscall.SIGHUP) // which a stopping server ignores
	s.signal(syscall.SIGINT)
	s.end(130)
}

// Every line is JSON where that is asked for.
func TestServeLogsJSON(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.addAna()
	s := startServing(t, p, "--log-format", "json")
	c := s.MustConnect("sslmode=disable")
	c.Close(context.Background())
	s.Connect("sslmode=disable password=wrong")
	s.wait("a session ended", 1)
	s.signal(syscall.SIGTERM)
	s.end(0)
	for _, line := range s.lines() {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q is not JSON", line)
		}
	}
}

// Systemd is told when the server is ready, and when it stops.
func TestServeNotifies(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	check(t, err)
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", name)
	s := startServing(t, newSealed(t))
	read := func() string {
		t.Helper()
		b := make([]byte, 100)
		socket.SetReadDeadline(time.Now().Add(20 * time.Second))
		n, err := socket.Read(b)
		check(t, err)
		return string(b[:n])
	}
	if got := read(); got != "READY=1" {
		t.Error(got)
	}
	s.signal(syscall.SIGTERM)
	if got := read(); got != "STOPPING=1" {
		t.Error(got)
	}
	s.end(0)
}

// A role asks over the protocol, and the owner sees the cost.
func TestServeAnswers(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("a,1,2.5,48.5,2.5\na,2,3,48.5,2.5\nb,1,4,48.5,2.5\n")
	audit := p.out + ".audit"
	s := startServing(t, p, "--audit", audit)
	p.addAna()
	c := s.MustConnect("sslmode=disable") // with a role that is newer than the server
	ask := func() (sum float64) {
		t.Helper()
		check(t, c.QueryRow(context.Background(), "SELECT dx_sum(kwh, 0.75) FROM meter WHERE room < 100", pgx.QueryExecModeSimpleProtocol).Scan(&sum))
		return sum
	}
	if first := ask(); ask() != first {
		t.Error("an answer is not given again")
	}
	_, err := c.Exec(context.Background(), "SELECT dx_avg(kwh, 0.75) FROM meter", pgx.QueryExecModeSimpleProtocol)
	if servetest.SQLState(err) != "53400" {
		t.Errorf("beyond the budget: %v", err)
	}
	_, err = c.Exec(context.Background(), "DELETE FROM meter", pgx.QueryExecModeSimpleProtocol)
	if servetest.SQLState(err) != "25006" {
		t.Errorf("DELETE: %v", err)
	}
	_, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/metrics")
	for _, want := range []string{
		`geosql_charged_epsilon_total{unit="kWh"} 0.75`, `geosql_answers_total{origin="drawn"} 1`, `geosql_answers_total{origin="remembered"} 1`,
		"geosql_refusals_total 1", `geosql_logins_total{result="ok"} 1`, "geosql_ledger_seconds_count ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	c.Close(context.Background())
	s.wait("a session ended", 1)
	s.signal(syscall.SIGTERM)
	s.end(0)
	if logs, err := filepath.Glob(p.out + "-[ws]*"); err != nil || len(logs) > 0 {
		t.Errorf("the stopped server leaves %q, %v", logs, err)
	}
	record, err := os.ReadFile(audit)
	check(t, err)
	for _, want := range []string{
		`"sql":"SELECT dx_sum(kwh, ?) FROM meter WHERE room < ?","functions":["dx_sum"],"columns":["meter.kwh"],` +
			`"costs":[{"unit":"kWh","accounts":2,"most":"0.75","role_accounts":2,"role_most":"0.75","multiplicity":1}],"answers":1,"remembered":0,`,
		`"answers":1,"remembered":1,`, `"sqlstate":"53400"`, `"sqlstate":"25006"`,
	} {
		if !strings.Contains(string(record), want) {
			t.Errorf("no %s in\n%s", want, record)
		}
	}
}
