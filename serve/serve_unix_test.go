//go:build unix

package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/servetest"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/serve/internal/wire"
)

// TestMain makes the program of the tests the worker, too, if its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(Worker())
	}
	os.Exit(m.Run())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A site is a sealed database of a test, with a reading of ana and one of bo, who have 1/kWh, and a server once it is open.
type site struct {
	servetest.Client
	path    string
	options Options
	said    lines // the log
	sealed  *sealedtest.Database

	*Server
	httpAddr string
	served   chan error // the results of Serve
	began    chan bool  // gets an element when a fake's statement has begun
}

// lines are the lines of a log.
type lines struct {
	mu   sync.Mutex
	text string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(b)
	return len(b), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// newSite seals a database.
func newSite(t *testing.T) *site { return newSiteIn(t, t.TempDir()) }

// newSiteIn seals a database in a folder.
func newSiteIn(t *testing.T, folder string) *site {
	t.Helper()
	key := sealedtest.NewKey(t)
	s := &site{Client: servetest.Client{T: t}, path: filepath.Join(folder, "out.db")}
	program, err := os.Executable()
	check(t, err)
	s.options = Options{
		Keys: []*sealed.PrivateKey{key}, Worker: func() *exec.Cmd { return exec.Command(program, "worker") },
		Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(&s.said, nil)),
	}
	conn, err := sqlite.Open(s.path, sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	defer conn.Close()
	ledger, err := file.Open(s.path+"-ledger", true)
	check(t, err)
	defer ledger.Close()
	check(t, ledger.SetLimit("*", "kWh", budget.One, 0))
	check(t, conn.Exec(declaration.Schema+`; INSERT INTO geosql_universe VALUES ('load', 0, 10, 0.5, 'kWh');
		INSERT INTO geosql_ledger VALUES ('`+ledger.ID()+`'); CREATE TABLE meter(who TEXT, kwh BLOB)`))
	s.sealed = sealedtest.Seal(t, conn, ledger, key.Public(), catalog.Column{Table: "meter", Name: "kwh", Account: "who",
		Universe: &catalog.Universe{Name: "load", Lo: 0, Hi: 10, Step: 0.5, Unit: "kWh"}})
	for _, who := range []string{"ana", "bo"} {
		check(t, conn.Exec(fmt.Sprintf("INSERT INTO meter VALUES ('%s', %s)", s.sealed.Account(who).Pseudonym, s.sealed.Reading(1, who, 5))))
	}
	return s
}

// fake serves by a backend of few words.
func (s *site) fake() *site {
	s.Helper()
	s.began = make(chan bool, 1)
	return s.serve(func(o backendOptions) (backend, error) {
		v, err := wire.NewVerifier("sesame", wire.DefaultIterations)
		return &fakeBackend{o, v, s.began}, err
	})
}

// serve serves until the test ends.
func (s *site) serve(openBackend func(backendOptions) (backend, error)) *site {
	s.Helper()
	var err error
	s.Server, err = open(s.path, s.options, openBackend)
	check(s.T, err)
	s.Address, s.httpAddr, s.served = s.Addr().String(), s.HTTPAddr().String(), make(chan error, 1)
	go func() { s.served <- s.Serve() }()
	s.Cleanup(func() {
		if err := errors.Join(s.Close(), <-s.served); err != nil {
			s.Error(err)
		}
		if s.Failed() {
			s.Logf("the log:\n%s", &s.said)
		}
	})
	return s
}

// wait waits until so many lines of the log match a pattern, and returns them.
func (s *site) wait(pattern string, n int) (found []string) {
	s.Helper()
	p := regexp.MustCompile("(?m)" + pattern)
	for deadline := time.Now().Add(time.Minute); len(found) < n; time.Sleep(5 * time.Millisecond) {
		found = p.FindAllString(s.said.String(), -1)
		if time.Now().After(deadline) {
			s.Fatalf("%d lines match %s, want %d:\n%s", len(found), pattern, n, s.said.String())
		}
	}
	return found
}

// A program serves a database by the package alone: it adds a role, which asks, and drops it.
func TestProgram(t *testing.T) {
	s := newSite(t)
	r := Role{Name: "ana", Columns: []catalog.ColumnName{{Table: "meter", Column: "kwh"}}, Epsilon: map[budget.Unit]budget.Amount{"kWh": budget.One}}
	check(t, AddRole(s.path, "", r, "sesame"))
	if err := AddRole(s.path, "", r, "sesame"); err == nil || !strings.Contains(err.Error(), "there is a role ana") {
		t.Error(err)
	}
	all, err := Roles(s.path, "")
	if err != nil || len(all) != 1 || all[0].Added.IsZero() || all[0].MaxRepeat != DefaultMaxRepeat || all[0].Timeout != DefaultTimeout {
		t.Error(all, err)
	}
	s.serve(openBackend)
	if got := s.Columns(); len(got) != 1 || got[0].Name != "kwh" {
		t.Error(got)
	}
	c, err := pgx.Connect(t.Context(), s.Connection("ana")+" password=sesame")
	check(t, err)
	defer c.Close(t.Context())
	var sum, again float64
	check(t, c.QueryRow(t.Context(), "SELECT dx_sum(kwh, 0.5) FROM meter").Scan(&sum))
	check(t, c.QueryRow(t.Context(), "SELECT dx_sum(kwh, 0.5) FROM meter").Scan(&again))
	if again != sum {
		t.Errorf("%v and then %v", sum, again)
	}
	check(t, DropRole(s.path, "", "ana"))
	s.wait("a session ended", 1)
	if err := DropRole(s.path, "", "ana"); err == nil || err.Error() != "there is no role ana" {
		t.Error(err)
	}
}

// Open returns an error for each wrong setting.
func TestOpenRefuses(t *testing.T) {
	s := newSite(t)
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	cert, key, key2 := file("cert.pem"), file("key.pem"), file("key2.pem")
	writeCertificate(t, 2, file("cert2.pem"), key2, tomorrow())
	writeCertificate(t, 1, cert, key, tomorrow())
	check(t, os.WriteFile(file("locked.pem"), []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), 0o600))
	tls := func(cert, key string) func(*Options) { return func(o *Options) { o.CertFile, o.KeyFile = cert, key } }
	for _, c := range []struct {
		want   string
		change func(*Options)
	}{
		{"no private key is given", func(o *Options) { o.Keys = nil }},
		{"private key 2 is not a key that " + s.path, func(o *Options) { o.Keys = append(o.Keys[:1:1], sealedtest.NewKey(t)) }},
		{"ledger nosuch-ledger is missing: " + s.path + " was charged to", func(o *Options) { o.Ledger = "nosuch-ledger" }},
		{"the key in " + key2 + " is not that of the certificate in " + cert, tls(cert, key2)},
		{key + " holds no certificate in PEM", tls(key, cert)},
		{cert + " holds no private key in PEM", tls(cert, cert)},
		{"is encrypted: give one that is not", tls(cert, file("locked.pem"))},
		{"no token", func(o *Options) { o.MetricsToken = func() (string, error) { return "", errors.New("no token") } }},
	} {
		o := s.options
		c.change(&o)
		if _, err := Open(s.path, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// writeCertificate writes a certificate for localhost with a number, and its key.
func writeCertificate(t *testing.T, number int64, certFile, keyFile string, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	check(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
}

func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }

// All addresses of IPv4 are not those of IPv6 too, as a firewall may know.
func TestListensWhereItIsTold(t *testing.T) {
	l, err := listen("listen", "0.0.0.0:0", true, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Addr().String(); !strings.HasPrefix(got, "0.0.0.0:") {
		t.Errorf("it listens at %s", got)
	}
}

func TestDatabaseName(t *testing.T) {
	for path, want := range map[string]string{"energy.db": "energy", "/a/b.c.db": "b.c", "energy": "energy", ".db": ".db"} {
		if got := databaseName(path); got != want {
			t.Errorf("%s is called %s, want %s", path, got, want)
		}
	}
	for value, want := range map[string]string{"a": "a", "a b": "'a b'", `it's\`: `'it\'s\\'`, "": "''"} {
		if got := connectionValue(value); got != want {
			t.Errorf("%s is written %s, want %s", value, got, want)
		}
	}
}

func TestServe(t *testing.T) {
	s := newSite(t)
	audit, token := s.path+".audit", "abc"
	s.options.AuditFile, s.options.MetricsToken = audit, func() (string, error) { return token, nil }
	s.fake()
	_, port, _ := net.SplitHostPort(s.Address)
	if got, want := s.Connection("it's"), "host=127.0.0.1 port="+port+` dbname=out user='it\'s'`; got != want {
		t.Errorf("connection string %s, want %s", got, want)
	}
	if got, want := s.URL(), "http://"+s.httpAddr+"/"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
	c := s.MustConnect("sslmode=disable")
	var n int
	if err := c.QueryRow(context.Background(), "wait 1", pgx.QueryExecModeSimpleProtocol).Scan(&n); err != nil || n != 1 {
		t.Error(n, err)
	}
	if _, err := s.Connect("sslmode=disable password=wrong"); servetest.SQLState(err) != "28P01" {
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
		{"/metrics", "Bearer abc", 200, `geosql_sessions{state="idle"} 1`},
		{"/", "", 200, "the console of out"},
	} {
		if status, text := servetest.Fetch(t, http.DefaultClient, base+c.path, "Authorization", c.token); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", c.path, status, text)
		}
	}
	if r, err := http.Post(base+"/healthz", "", nil); err != nil || r.StatusCode != 405 {
		t.Error(r, err)
	}
	// A new token and a new audit log, when they are reloaded.
	token = "def"
	check(t, os.Rename(audit, audit+".1"))
	s.Reload()
	s.wait(`msg=reloaded`, 1)
	if status, _ := servetest.Fetch(t, http.DefaultClient, base+"/metrics", "Authorization", "Bearer abc"); status != 401 {
		t.Error(status)
	}
	if status, _ := servetest.Fetch(t, http.DefaultClient, base+"/metrics", "Authorization", "Bearer def"); status != 200 {
		t.Error(status)
	}
	c.Close(context.Background())
	s.wait(`a session ended`, 1)
	check(t, s.Shutdown(t.Context()))
	check(t, s.Close())
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
	s := newSite(t).fake()
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
	flood(s.Address, 500)
	for _, path := range []string{"/healthz", "/metrics", "/"} {
		client := &http.Client{Transport: &http.Transport{}}
		if status, text := servetest.Fetch(t, client, "http://"+s.httpAddr+path); status != 200 {
			t.Errorf("%s: %d %s", path, status, text)
		}
		client.CloseIdleConnections()
	}
	s.MustConnect("sslmode=disable")
}

// A page cannot read /metrics or /healthz by having its own name resolved to this machine.
func TestServeOtherHosts(t *testing.T) {
	s := newSite(t).fake()
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
	s := newSite(t).fake()
	busy, idle := s.MustConnect("sslmode=disable"), s.MustConnect("sslmode=disable")
	done := make(chan error, 1)
	go func() {
		var n int
		done <- busy.QueryRow(context.Background(), "wait 1500", pgx.QueryExecModeSimpleProtocol).Scan(&n)
	}()
	<-s.began
	if status, _ := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != 200 {
		t.Error(status)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	time.Sleep(1100 * time.Millisecond) // an answer about health is given again for a second
	if _, err := idle.Exec(context.Background(), "wait 1", pgx.QueryExecModeSimpleProtocol); servetest.SQLState(err) != "57P01" {
		t.Errorf("an idle session: %v", err)
	}
	if _, err := s.Connect("sslmode=disable"); err == nil {
		t.Error("somebody has connected")
	}
	if err := <-done; err != nil {
		t.Errorf("a statement that ran: %v", err)
	}
	check(t, <-stopped)
}

func TestServeDrainsNotForEver(t *testing.T) {
	s := newSite(t).fake()
	busy := s.MustConnect("sslmode=disable")
	done := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "wait 600000", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	<-s.began
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(ctx) }()
	for begun, status := time.Now(), 200; status == 200 && time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
		status, _ = servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz")
	}
	for path, want := range map[string]string{"/healthz": "draining", "/": "the server is stopping"} {
		if status, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+path); status != 503 || text != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown returns %v", err)
	}
	if err := <-done; err == nil {
		t.Error("the statement has ended well")
	}
}

// A certificate that has changed is shown to the next client; one that is broken is not.
func TestServeCertificates(t *testing.T) {
	s := newSite(t)
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, 1, cert, key, tomorrow())
	s.options.CertFile, s.options.KeyFile, s.options.RequireTLS = cert, key, true
	s.fake()
	if got := s.Connection("ana"); !regexp.MustCompile(`^host=localhost port=\d+ dbname=out user=ana sslmode=verify-full$`).MatchString(got) {
		t.Errorf("connection string %s", got)
	}
	if got := s.URL(); !regexp.MustCompile(`^https://localhost:\d+/$`).MatchString(got) {
		t.Errorf("URL %s", got)
	}
	shown := func() string {
		t.Helper()
		c, err := tls.Dial("tcp", s.Address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"postgresql"}})
		check(t, err)
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	s.MustConnect("host=localhost sslmode=verify-full channel_binding=require sslrootcert=" + cert)
	if _, err := s.Connect("sslmode=disable"); servetest.SQLState(err) != "28000" {
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
	s.Reload()
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
	if status, text := servetest.Fetch(t, client, "https://"+s.httpAddr+"/healthz"); status != 200 || text != "ok" {
		t.Error(status, text)
	}
	if status, text := servetest.Fetch(t, client, "https://"+s.httpAddr+"/metrics"); status != 200 || !strings.Contains(text, "geosql_certificate_expires_timestamp_seconds 1.") {
		t.Error(status, text)
	}
	if n := len(s.wait(`not reloaded: the certificate`, 1)); n != 1 {
		t.Errorf("said %d times that a certificate is broken", n)
	}
}

// A server without its ledger or database says so.
func TestServeHealth(t *testing.T) {
	for suffix, want := range map[string]string{"": "the database cannot be read", "-ledger": "the ledger cannot be read"} {
		s := newSite(t).fake()
		check(t, os.Rename(s.path+suffix, s.path+".away"))
		if status, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != 503 || text != want {
			t.Errorf("%d %s, want %s", status, text, want)
		}
		s.wait(`health has changed`, 1)
		check(t, os.Rename(s.path+".away", s.path+suffix))
		time.Sleep(1100 * time.Millisecond)
		if status, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != 200 {
			t.Errorf("%d %s", status, text)
		}
	}
}
