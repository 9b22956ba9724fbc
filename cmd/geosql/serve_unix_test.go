//go:build unix

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/serve/monitor"
	"github.com/geosql/geosql/serve/wire"
)

// fakeAnswers in the environment makes the server answer with a backend of few words: "wait MILLISECONDS" takes that
// long.
const fakeAnswers = "GEOSQL_TEST_FAKE_BACKEND"

func init() {
	if os.Getenv(fakeAnswers) == "" {
		return
	}
	openBackend = func(o backendOptions) (backend, error) {
		v, err := wire.NewVerifier("sesame", wire.DefaultIterations)
		return &fakeBackend{o, v}, err
	}
}

type fakeBackend struct {
	options  backendOptions
	verifier wire.Verifier
}

func (b *fakeBackend) Login(_ context.Context, user, _ string) (wire.Verifier, bool, error) {
	return b.verifier, user == "ana", nil
}

func (b *fakeBackend) NewSession(_ context.Context, login *wire.Login) (wire.Session, error) {
	if login.Database != b.options.Database {
		return nil, &wire.Error{Code: "3D000", Message: "there is no such database"}
	}
	s := &fakeSession{b, monitor.Session{Number: login.ProcessID, Role: login.User, Remote: login.Remote, TLS: login.TLS, Began: time.Now()}}
	b.options.Observer.SessionBegan(s.is)
	return s, nil
}

func (b *fakeBackend) Console() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "the console of", b.options.Database) })
}

func (b *fakeBackend) Close() error { return nil }

type fakeSession struct {
	backend *fakeBackend
	is      monitor.Session
}

func (s *fakeSession) Prepare(_ context.Context, sql string, _ []uint32) (wire.Statement, string, error) {
	st := &fakeStatement{session: s, sql: sql}
	if _, err := fmt.Sscanf(sql, "wait %d", &st.wait); err != nil && sql != "" {
		return nil, "", &wire.Error{Code: "42601", Message: "this is not the language of the test"}
	}
	return st, "", nil
}

func (s *fakeSession) Ready(bool) wire.TxStatus { return wire.Idle }

func (s *fakeSession) IdleTimeout(bool) (time.Duration, *wire.Error) { return 0, nil }

func (s *fakeSession) Hold(int64) error { return nil }

func (s *fakeSession) Close() { s.backend.options.Observer.SessionEnded(s.is, monitor.ClientLeft) }

type fakeStatement struct {
	session *fakeSession
	sql     string
	wait    int
}

func (s *fakeStatement) Parameters() []uint32   { return nil }
func (s *fakeStatement) Columns() []wire.Column { return []wire.Column{{Name: "n", OID: wire.OIDInt8}} }
func (s *fakeStatement) Close()                 {}

func (s *fakeStatement) Query(ctx context.Context, _ []any) (wire.Rows, error) {
	return &fakeRows{ctx: ctx, statement: s, began: time.Now()}, nil
}

type fakeRows struct {
	ctx       context.Context
	statement *fakeStatement
	began     time.Time
	done      bool
}

func (r *fakeRows) Next(row *wire.Row) (bool, error) {
	if r.done {
		return false, nil
	}
	r.done = true
	select {
	case <-time.After(time.Duration(r.statement.wait) * time.Millisecond):
	case <-r.ctx.Done():
		return false, context.Cause(r.ctx)
	}
	row.Int(int64(r.statement.wait))
	return true, nil
}

func (r *fakeRows) Copy() *wire.Copy   { return nil }
func (r *fakeRows) Tag(n int64) string { return fmt.Sprint("SELECT ", n) }

func (r *fakeRows) Close() {
	r.statement.session.backend.options.Observer.StatementEnded(monitor.Statement{
		Session: r.statement.session.is, Began: r.began, Took: time.Since(r.began), SQL: r.statement.sql, Rows: 1,
	})
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

// Everything that is wrong is said at the start, in a line that names the cure.
func TestServeRefuses(t *testing.T) {
	p := newSealed(t)
	other, _ := p.keygen(p.out + ".other")
	plain := clitest.TempFile(t, "plain.db")
	clitest.Query(t, plain, "CREATE TABLE t(a)")
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	cert, key, key2 := file("cert.pem"), file("key.pem"), file("key2.pem")
	writeCertificate(t, 2, file("cert2.pem"), key2, tomorrow())
	writeCertificate(t, 1, cert, key, tomorrow())
	check(t, os.WriteFile(file("empty"), []byte("\n"), 0o600))
	check(t, os.WriteFile(file("locked.pem"), []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), 0o600))
	moved := copyFiles(t, p.out)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer busy.Close()
	tls := func(cert, key string) []string {
		return []string{p.out, "--key", p.key, "--tls-cert", cert, "--tls-key", key}
	}
	for _, c := range []struct {
		want   string
		status int
		args   []string
	}{
		{"too few arguments", 2, nil},
		{"give the private key with --key KEY", 2, []string{p.out}},
		{"belong together: give both", 2, []string{p.out, "--key", p.key, "--tls-cert", cert}},
		{"--require-tls needs a certificate", 2, []string{p.out, "--key", p.key, "--require-tls"}},
		{"give --http ADDR too", 2, []string{p.out, "--key", p.key, "--owner-password-file", key}},
		{"give --http ADDR too", 2, []string{p.out, "--key", p.key, "--metrics-token-file", key}},
		{"it must be text or json", 2, []string{p.out, "--key", p.key, "--log-format", "xml"}},
		{"it must be a whole number above 0", 2, []string{p.out, "--key", p.key, "--max-sessions", "0"}},
		{"it must be from 0 to 1000000", 2, []string{p.out, "--key", p.key, "--drain", "-1"}},
		{"nosuch.db: no such database", 1, []string{file("nosuch.db"), "--key", p.key}},
		{"plain.db is not a sealed database (geosql seal makes one)", 1, []string{plain, "--key", p.key}},
		{"is not a key that", 1, []string{p.out, "--key", other}},
		{"is the public half of a key: give the private one", 1, []string{p.out, "--key", p.pub}},
		{"ledger " + moved + "-ledger is missing", 1, []string{moved, "--key", p.key}},
		{"write an address and a port", 1, []string{p.out, "--key", p.key, "--listen", "5432"}},
		{"other machines could connect, and may do so with TLS only: give --tls-cert and --tls-key, or take 127.0.0.1:0", 1,
			[]string{p.out, "--key", p.key, "--listen", ":0"}},
		{"--http 0.0.0.0:0: other machines could connect", 1,
			[]string{p.out, "--key", p.key, "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"}},
		{"another program listens there", 1, []string{p.out, "--key", p.key, "--listen", busy.Addr().String()}},
		{"the key in " + key2 + " is not that of the certificate in " + cert, 1, tls(cert, key2)},
		{key + " holds no certificate in PEM", 1, tls(key, cert)},
		{cert + " holds no private key in PEM", 1, tls(cert, cert)},
		{"is encrypted: give one that is not", 1, tls(cert, file("locked.pem"))},
		{clitest.NoSuchFile, 1, tls(file("nosuch.pem"), key)},
		{"the first line of " + file("empty") + " is empty", 1,
			[]string{p.out, "--key", p.key, "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--metrics-token-file", file("empty")}},
		{folder + " is not a file", 1, []string{p.out, "--key", p.key, "--listen", "127.0.0.1:0", "--audit", folder}},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"serve"}, c.args...)...), c.status, c.want)
	}
	clitest.Help(t, "help", "serve")
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

// fetch gets a page.
func fetch(t *testing.T, client *http.Client, url string, header ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	check(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(t, err)
	return answer.StatusCode, strings.TrimSpace(string(body))
}
