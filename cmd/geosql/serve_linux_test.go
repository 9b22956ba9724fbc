package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// A serving is a server that runs for a test.
type serving struct {
	*testing.T
	cmd      *exec.Cmd
	addr     string // of PostgreSQL's clients
	httpAddr string
	ended    chan struct{}

	mu   sync.Mutex
	said []string // lines of standard error
}

// startServing starts a server with a backend of few words on ports that are free, and waits until it listens.
func startServing(t *testing.T, p sealedPlace, args ...string) *serving {
	t.Helper()
	t.Setenv(fakeAnswers, "1")
	return startReal(t, p, args...)
}

// startReal is startServing with workers.
func startReal(t *testing.T, p sealedPlace, args ...string) *serving {
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
	s := &serving{T: t, cmd: cmd, ended: make(chan struct{})}
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
	s.addr, s.httpAddr = addrs[0], addrs[1]
	return s
}

func (s *serving) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.said...)
}

// wait waits until so many lines match a pattern, and returns what its group matches in them.
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

func (s *serving) connect(more string) (*pgx.Conn, error) {
	host, port, _ := net.SplitHostPort(s.addr)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s dbname=out user=ana password=sesame %s", host, port, more))
	if err != nil {
		return nil, err
	}
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{host}, nil } // also of localhost, which not every machine knows
	return pgx.ConnectConfig(ctx, config)
}

func (s *serving) mustConnect(more string) *pgx.Conn {
	s.Helper()
	c, err := s.connect(more)
	check(s.T, err)
	s.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestServe(t *testing.T) {
	p := newSealed(t)
	audit, token := p.out+".audit", p.out+".token"
	check(t, os.WriteFile(token, []byte("abc\n"), 0o600))
	s := startServing(t, p, "--audit", audit, "--metrics-token-file", token)
	_, port, _ := net.SplitHostPort(s.addr)
	first := s.lines()[0]
	if want := "listening on " + s.addr + `: psql "host=127.0.0.1 port=` + port + ` dbname=out user=ROLE"`; first != want {
		t.Errorf("said %s, want %s", first, want)
	}
	s.wait(`nobody has a role yet: geosql role .* add NAME --password-file FILE --columns meter.kwh --epsilon kWh=1`, 1)

	c := s.mustConnect("sslmode=disable")
	var n int
	if err := c.QueryRow(context.Background(), "wait 1", pgx.QueryExecModeSimpleProtocol).Scan(&n); err != nil || n != 1 {
		t.Error(n, err)
	}
	if _, err := s.connect("sslmode=disable password=wrong"); sqlState(err) != "28P01" {
		t.Error(err)
	}
	base := "http://" + s.httpAddr
	for _, c := range []struct {
		path, token string
		status      int
		want        string
	}{
		{"/healthz", "", 200, "ok"},
		{"/metrics", "", 401, "a token is needed"},
		{"/metrics", "Bearer abc", 200, `geosql_logins_total{result="failed"} 1`},
		{"/metrics", "Bearer abc", 200, `geosql_sessions 1`},
		{"/", "", 200, "the console of out"},
	} {
		if status, text := fetch(t, http.DefaultClient, base+c.path, "Authorization", c.token); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", c.path, status, text)
		}
	}
	if r, err := http.Post(base+"/healthz", "", nil); err != nil || r.StatusCode != 405 {
		t.Error(r, err)
	}
	// A new token and a new audit log, for a signal.
	check(t, os.WriteFile(token, []byte("def\n"), 0o600))
	check(t, os.Rename(audit, audit+".1"))
	s.signal(syscall.SIGHUP)
	s.wait(`msg=reloaded`, 1)
	if status, _ := fetch(t, http.DefaultClient, base+"/metrics", "Authorization", "Bearer abc"); status != 401 {
		t.Error(status)
	}
	if status, _ := fetch(t, http.DefaultClient, base+"/metrics", "Authorization", "Bearer def"); status != 200 {
		t.Error(status)
	}
	c.Close(context.Background())
	s.wait(`a session ended`, 1)
	s.signal(syscall.SIGTERM)
	s.end(0)
	events := func(name string) (all []string) {
		text, err := os.ReadFile(name)
		check(t, err)
		for line := range strings.Lines(string(text)) {
			var e struct{ Event, SQL string }
			check(t, json.Unmarshal([]byte(line), &e))
			all = append(all, strings.TrimSpace(e.Event+" "+e.SQL))
		}
		return all
	}
	if got := fmt.Sprint(events(audit + ".1")); got != "[server started session began statement wait ? login failed]" {
		t.Error(got)
	}
	if got := fmt.Sprint(events(audit)); got != "[session ended server stopped]" {
		t.Error(got)
	}
}

// Connections that send nothing, or half of something, keep nobody out. Each of them is open until the server closes it.
func TestServeFlood(t *testing.T) {
	s := startServing(t, newSealed(t))
	half := []string{"", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"}
	flood := func(addr string, n int) {
		t.Helper()
		for i := range n {
			c, err := net.Dial("tcp", addr)
			check(t, err)
			t.Cleanup(func() { c.Close() })
			fmt.Fprint(c, half[i%len(half)])
		}
	}
	flood(s.httpAddr, 2000)
	flood(s.addr, 500)
	for _, path := range []string{"/healthz", "/metrics", "/"} {
		client := &http.Client{Transport: &http.Transport{}}
		if status, text := fetch(t, client, "http://"+s.httpAddr+path); status != 200 {
			t.Errorf("%s: %d %s", path, status, text)
		}
		client.CloseIdleConnections()
	}
	s.mustConnect("sslmode=disable")
}

// A page cannot read /metrics or /healthz by having its own name resolved to this machine.
func TestServeOtherHosts(t *testing.T) {
	s := startServing(t, newSealed(t))
	_, port, _ := net.SplitHostPort(s.httpAddr)
	for _, c := range []struct {
		host   string
		status int
	}{{"localhost:" + port, 200}, {s.httpAddr, 200}, {"[::1]", 200}, {"pages.example:" + port, 421}, {"192.0.2.1", 421}} {
		for _, path := range []string{"/healthz", "/metrics"} {
			r, err := http.NewRequest("GET", "http://"+s.httpAddr+path, nil)
			check(t, err)
			r.Host = c.host
			answer, err := http.DefaultClient.Do(r)
			check(t, err)
			answer.Body.Close()
			if answer.StatusCode != c.status {
				t.Errorf("%s at %s: %d, want %d", path, c.host, answer.StatusCode, c.status)
			}
		}
	}
}

// A statement that runs is completed, an idle session is told, and nobody new comes in.
func TestServeDrains(t *testing.T) {
	s := startServing(t, newSealed(t))
	busy, idle := s.mustConnect("sslmode=disable"), s.mustConnect("sslmode=disable")
	done := make(chan error, 1)
	go func() {
		var n int
		done <- busy.QueryRow(context.Background(), "wait 1500", pgx.QueryExecModeSimpleProtocol).Scan(&n)
	}()
	time.Sleep(300 * time.Millisecond)
	if status, _ := fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != 200 {
		t.Error(status)
	}
	s.signal(syscall.SIGTERM)
	s.wait(`msg=stopping seconds_to_drain=30`, 1)
	time.Sleep(1100 * time.Millisecond) // an answer about health is given again for a second
	if _, err := idle.Exec(context.Background(), "wait 1", pgx.QueryExecModeSimpleProtocol); sqlState(err) != "57P01" {
		t.Errorf("an idle session: %v", err)
	}
	if _, err := s.connect("sslmode=disable"); err == nil {
		t.Error("somebody has connected")
	}
	if err := <-done; err != nil {
		t.Errorf("a statement that ran: %v", err)
	}
	s.end(0)
}

func TestServeDrainsWithHealth(t *testing.T) {
	s := startServing(t, newSealed(t))
	busy := s.mustConnect("sslmode=disable")
	go busy.Exec(context.Background(), "wait 20000", pgx.QueryExecModeSimpleProtocol)
	time.Sleep(300 * time.Millisecond)
	s.signal(syscall.SIGTERM)
	s.wait(`msg=stopping`, 1)
	for path, want := range map[string]string{"/healthz": "draining", "/": "the server is stopping"} {
		if status, text := fetch(t, http.DefaultClient, "http://"+s.httpAddr+path); status != 503 || text != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	s.signal(syscall.SIGHUP) // which a stopping server ignores
	s.signal(syscall.SIGINT)
	s.end(130)
}

func TestServeDrainsNotForEver(t *testing.T) {
	s := startServing(t, newSealed(t), "--drain", "0.2")
	busy := s.mustConnect("sslmode=disable")
	done := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "wait 20000", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	time.Sleep(300 * time.Millisecond)
	s.signal(syscall.SIGINT)
	s.end(0)
	s.wait("sessions were ended before they had completed", 1)
	if err := <-done; err == nil {
		t.Error("the statement has ended well")
	}
}

// A certificate that has changed is shown to the next client; one that is broken is not.
func TestServeCertificates(t *testing.T) {
	p := newSealed(t)
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, 1, cert, key, tomorrow())
	s := startServing(t, p, "--tls-cert", cert, "--tls-key", key, "--require-tls")
	s.wait(`psql "host=localhost port=\d+ dbname=out user=ROLE sslmode=verify-full"`, 1)
	s.wait(`https://localhost:\d+/`, 1)
	shown := func() string {
		t.Helper()
		c, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"postgresql"}})
		check(t, err)
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	s.mustConnect("host=localhost sslmode=verify-full channel_binding=require sslrootcert=" + cert)
	if _, err := s.connect("sslmode=disable"); sqlState(err) != "28000" {
		t.Errorf("without TLS: %v", err)
	}
	if got := shown(); got != "1" {
		t.Error(got)
	}
	check(t, os.WriteFile(cert, []byte("half a certif"), 0o600))
	time.Sleep(certificatesFor + 100*time.Millisecond)
	if got := shown(); got != "1" {
		t.Error(got)
	}
	s.wait(`not reloaded: the certificate`, 1)
	writeCertificate(t, 2, cert, key, tomorrow())
	time.Sleep(certificatesFor + 100*time.Millisecond)
	if got := shown(); got != "2" {
		t.Error(got)
	}
	writeCertificate(t, 3, cert, key, time.Now().Add(-time.Minute))
	s.signal(syscall.SIGHUP)
	s.wait(`msg=reloaded$`, 1)
	s.wait(`the certificate has expired`, 1)
	if got := shown(); got != "3" {
		t.Error(got)
	}
	pool, err := os.ReadFile(cert)
	check(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pool)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	if status, text := fetch(t, client, "https://"+s.httpAddr+"/healthz"); status != 200 || text != "ok" {
		t.Error(status, text)
	}
	if status, text := fetch(t, client, "https://"+s.httpAddr+"/metrics"); status != 200 || !strings.Contains(text, "geosql_certificate_expires_timestamp_seconds 1.") {
		t.Error(status, text)
	}
	if n := len(s.wait(`not reloaded: the certificate`, 1)); n != 1 {
		t.Errorf("said %d times that a certificate is broken", n)
	}
}

// Every line is JSON where that is asked for.
func TestServeLogsJSON(t *testing.T) {
	s := startServing(t, newSealed(t), "--log-format", "json")
	c := s.mustConnect("sslmode=disable")
	c.Close(context.Background())
	s.connect("sslmode=disable password=wrong")
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

// A server whose ledger or database is gone says so.
func TestServeHealth(t *testing.T) {
	for suffix, want := range map[string]string{"": "the database cannot be read", "-ledger": "the ledger cannot be read"} {
		p := newSealed(t)
		s := startServing(t, p)
		check(t, os.Rename(p.out+suffix, p.out+".away"))
		if status, text := fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != 503 || text != want {
			t.Errorf("%d %s, want %s", status, text, want)
		}
		s.wait(`health has changed`, 1)
		check(t, os.Rename(p.out+".away", p.out+suffix))
		time.Sleep(1100 * time.Millisecond)
		if status, text := fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != 200 {
			t.Errorf("%d %s", status, text)
		}
	}
}

// A role asks over the protocol, and the owner sees what that cost.
func TestServeAnswers(t *testing.T) {
	p := newSealed(t)
	p.append("a,1,2.5,48.5,2.5\na,2,3,48.5,2.5\nb,1,4,48.5,2.5\n")
	password, audit := p.out+".password", p.out+".audit"
	check(t, os.WriteFile(password, []byte("sesame\n"), 0o600))
	s := startReal(t, p, "--audit", audit)
	p.run("role", p.out, "add", "ana", "--password-file", password, "--columns", "meter.kwh", "--epsilon", "kWh=1")
	c := s.mustConnect("sslmode=disable") // with a role that is newer than the server
	ask := func() (sum float64) {
		t.Helper()
		check(t, c.QueryRow(context.Background(), "SELECT dx_sum(kwh, 0.75) FROM meter WHERE room < 100", pgx.QueryExecModeSimpleProtocol).Scan(&sum))
		return sum
	}
	if first := ask(); ask() != first {
		t.Error("an answer is not given again")
	}
	_, err := c.Exec(context.Background(), "SELECT dx_avg(kwh, 0.75) FROM meter", pgx.QueryExecModeSimpleProtocol)
	if sqlState(err) != "53400" {
		t.Errorf("beyond the budget: %v", err)
	}
	_, err = c.Exec(context.Background(), "DELETE FROM meter", pgx.QueryExecModeSimpleProtocol)
	if sqlState(err) != "25006" {
		t.Errorf("DELETE: %v", err)
	}
	_, text := fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/metrics")
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
