package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A site is a server of a toy that runs for a test.
type site struct {
	*toy
	server *Server
	addr   string
	ca     string // file of the certificate
}

// certificate makes a certificate for localhost.
func certificate(t testing.TB) (tls.Certificate, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func serve(t testing.TB, options Options) *site {
	s := &site{toy: newToy()}
	if options.TLS == nil {
		var c tls.Certificate
		c, s.ca = certificate(t)
		options.TLS = &tls.Config{Certificates: []tls.Certificate{c}}
	}
	s.server = NewServer(s.toy, options)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("the server does not stop: %v", err)
		}
		if err := <-served; err != ErrServerClosed {
			t.Errorf("Serve returned %v", err)
		}
		if n := s.open.Load(); n != 0 {
			t.Errorf("%d sessions, statements or rows were not closed", n)
		}
		if n := s.held.Load(); n != 0 {
			t.Errorf("%d bytes are still held", n)
		}
	})
	return s
}

// dsn returns a connection string; more is added to it.
func (s *site) dsn(more string) string {
	host, port, _ := net.SplitHostPort(s.addr)
	return fmt.Sprintf("host=%s port=%s user=ana password=secret dbname=db sslmode=disable %s", host, port, more)
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func (s *site) connect(t testing.TB, more string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(background(t), s.dsn(more))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestLogin(t *testing.T) {
	s := serve(t, Options{ServerVersion: "15.0 (toy)"})
	for _, more := range []string{
		"",
		"sslmode=require channel_binding=require",
		"sslmode=require channel_binding=disable",
		"sslmode=verify-full sslrootcert=" + s.ca,
		"sslmode=verify-full sslnegotiation=direct channel_binding=require sslrootcert=" + s.ca,
		"max_protocol_version=3.2 application_name=test client_encoding=utf-8",
		"user=björn password='pässwörd\u00a0x'",
	} {
		c := s.connect(t, more)
		var n int64
		var text string
		if err := c.QueryRow(background(t), "rows 1").Scan(&n, &text); err != nil || n != 0 || text != "row" {
			t.Errorf("%s: %d %q %v", more, n, text, err)
		}
		login := <-s.logins
		if login.TLS != strings.Contains(more, "ssl") || login.Database != "db" || login.ProcessID != c.PgConn().PID() {
			t.Errorf("%s: the login is %+v", more, login)
		}
		if strings.Contains(more, "application_name") {
			if got := c.PgConn().ParameterStatus("application_name"); got != "test" || login.Parameters["application_name"] != "test" {
				t.Errorf("application_name is %q, and %v", got, login.Parameters)
			}
			if n := len(c.PgConn().SecretKey()); n != keySize32 {
				t.Errorf("protocol 3.2 has a key of %d bytes", n)
			}
		}
		if got := c.PgConn().ParameterStatus("server_version"); got != "15.0 (toy)" {
			t.Errorf("server_version is %q", got)
		}
	}
	for _, x := range []struct{ more, code string }{
		{"password=wrong", "28P01"},
		{"user=nobody", "28P01"},
		{"user=nobody sslmode=require channel_binding=require", "28P01"},
		{"password=wrong sslmode=require", "28P01"},
		{"user=broken", "XX000"},
		{"dbname=nowhere", "3D000"},
		{"client_encoding=LATIN1", "22023"},
		{"replication=database", "0A000"},
	} {
		_, err := pgx.Connect(background(t), s.dsn(x.more))
		if code(err) != x.code {
			t.Errorf("%s: %v", x.more, err)
		}
		if err != nil && strings.Contains(err.Error(), "the list of roles") {
			t.Errorf("the error of Login is shown: %v", err)
		}
	}
}

// TestChannelBinding has a proxy with another certificate between client and server: a password exchange with
// channel binding must not work through it.
func TestChannelBinding(t *testing.T) {
	s := serve(t, Options{})
	other, _ := certificate(t)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{other}, NextProtos: []string{alpn}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			down, err := listener.Accept()
			if err != nil {
				return
			}
			up, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{alpn}})
			if err != nil {
				down.Close()
				return
			}
			go pipe(down, up)
			go pipe(up, down)
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	through := s.dsn("sslmode=require sslnegotiation=direct port=" + port)
	if _, err := pgx.Connect(background(t), through+" channel_binding=require"); code(err) != "28P01" {
		t.Errorf("with channel binding: %v", err)
	}
	c, err := pgx.Connect(background(t), through+" channel_binding=disable")
	if err != nil {
		t.Fatalf("without channel binding the proxy works: %v", err)
	}
	c.Close(context.Background())
}

func pipe(to, from net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		to.Write(buf[:n])
		if err != nil {
			to.Close()
			return
		}
	}
}

func TestReloadedCertificate(t *testing.T) {
	first, _ := certificate(t)
	second, _ := certificate(t)
	var mu sync.Mutex
	current := &first
	s := serve(t, Options{RequireTLS: true, TLS: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		return current, nil
	}}})
	s.connect(t, "sslmode=require channel_binding=require")
	mu.Lock()
	current = &second
	mu.Unlock()
	s.connect(t, "sslmode=require channel_binding=require")
	if _, err := pgx.Connect(background(t), s.dsn("")); code(err) != "28000" {
		t.Errorf("without TLS: %v", err)
	}
}

func TestDescribeDoesNotQuery(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "").PgConn()
	ctx := background(t)
	if _, err := c.Prepare(ctx, "p", "rows 3", nil); err != nil {
		t.Fatal(err)
	}
	f := c.Frontend()
	f.SendBind(bind("a", "p"))
	f.SendDescribe(describePortal("a"))
	f.SendSync(sync_)
	if got := talk(t, c); got != "BindComplete RowDescription ReadyForQuery" {
		t.Error(got)
	}
	if n := s.queries.Load(); n != 0 {
		t.Errorf("describing has called Query %d times", n)
	}
	f.SendBind(bind("a", "p"))
	f.SendExecute(executePortal("a", 0))
	f.SendSync(sync_)
	if got := talk(t, c); got != "BindComplete DataRow DataRow DataRow CommandComplete:SELECT 3 ReadyForQuery" {
		t.Error(got)
	}
	if n := s.queries.Load(); n != 1 {
		t.Errorf("executing has called Query %d times", n)
	}
}

func TestPortals(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "").PgConn()
	for _, x := range []struct {
		send []any
		want string
	}{
		{[]any{parse("", "begin"), bind("", ""), executePortal("", 0), sync_},
			"ParseComplete BindComplete CommandComplete:BEGIN ReadyForQuery"},
		{[]any{parse("", "rows 5"), bind("a", ""), executePortal("a", 2), sync_},
			"ParseComplete BindComplete DataRow DataRow PortalSuspended ReadyForQuery"},
		// Another statement takes the place of the portal's, and the portal goes on.
		{[]any{parse("", "rows 1"), bind("", ""), executePortal("", 0), executePortal("a", 2), sync_},
			"ParseComplete BindComplete DataRow CommandComplete:SELECT 1 DataRow DataRow PortalSuspended ReadyForQuery"},
		{[]any{executePortal("a", 2), executePortal("a", 2), sync_},
			"DataRow CommandComplete:SELECT 1 CommandComplete:SELECT 0 ReadyForQuery"},
		{[]any{bind("a", ""), sync_}, "42P03 ReadyForQuery"},
		{[]any{parse("", "rollback"), bind("", ""), executePortal("", 0), executePortal("", 0), sync_},
			"ParseComplete BindComplete CommandComplete:ROLLBACK 55000 ReadyForQuery"},
		// The portal ended with the transaction.
		{[]any{executePortal("a", 2), sync_}, "34000 ReadyForQuery"},
		{[]any{parse("", "rows 2"), bind("", ""), executePortal("", 1), sync_},
			"ParseComplete BindComplete DataRow PortalSuspended ReadyForQuery"},
		{[]any{executePortal("", 1), sync_}, "34000 ReadyForQuery"},
		{[]any{parse("x", "rows 2"), parse("x", "rows 2"), sync_}, "ParseComplete 42P05 ReadyForQuery"},
		{[]any{closeStatement("x"), closeStatement("x"), parse("x", "rows 2"), sync_}, "CloseComplete CloseComplete ParseComplete ReadyForQuery"},
		{[]any{bind("", "unheard"), sync_}, "26000 ReadyForQuery"},
		{[]any{parse("", ""), bind("", ""), describePortal(""), executePortal("", 0), sync_},
			"ParseComplete BindComplete NoData EmptyQueryResponse ReadyForQuery"},
		// A cursor of the session is described as a portal is.
		{[]any{describePortal(`held "one"`), sync_}, "RowDescription ReadyForQuery"},
		{[]any{describePortal("nothing"), sync_}, "34000 ReadyForQuery"},
		{[]any{parse("", "rows 1; rows 2"), sync_}, "42601 ReadyForQuery"},
		{[]any{parse("", "rows 1"), bindFormats("", "", 1, 0, 1), sync_}, "ParseComplete 08P01 ReadyForQuery"},
		{[]any{parse("", "rows 1"), bindFormats("", "", 2), sync_}, "ParseComplete 22023 ReadyForQuery"},
		{[]any{parse("", "types"), bindFormats("", "", 1), sync_}, "ParseComplete 0A000 ReadyForQuery"},
		{[]any{parse("", "echo int8"), bind("", ""), sync_}, "ParseComplete 08P01 ReadyForQuery"},
	} {
		post(c, x.send...)
		if got := talk(t, c); got != x.want {
			t.Errorf("%s, not %s", got, x.want)
		}
	}
}

func TestErrors(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "").PgConn()
	for _, x := range []struct {
		send []any
		want string
	}{
		// Everything up to Sync is skipped, also if it is wrong.
		{[]any{parse("", "fail"), bind("", ""), executePortal("", 0), parse("x", "rows 1"), bind("", "never"), sync_, parse("", "rows 1"), sync_},
			"ParseComplete BindComplete 53400 ReadyForQuery"},
		{nil, "ParseComplete ReadyForQuery"},
		{[]any{bind("", "x"), sync_}, "26000 ReadyForQuery"},
		{[]any{query("rows 1; plain; rows 1")}, "RowDescription DataRow CommandComplete:SELECT 1 XX000 ReadyForQuery"},
		{[]any{query("rows 4 2")}, "RowDescription DataRow DataRow 22012 ReadyForQuery"},
		{[]any{query(" ;; ")}, "EmptyQueryResponse ReadyForQuery"},
		{[]any{query("echo int8")}, "42P02 ReadyForQuery"},
		{[]any{query("rows \xff")}, "22021 ReadyForQuery"},
		{[]any{query("notice; rows 1;")}, "NoticeResponse ParameterStatus CommandComplete:NOTICE RowDescription DataRow CommandComplete:SELECT 1 ReadyForQuery"},
		{[]any{query("rows 2 noisy")}, "RowDescription NoticeResponse DataRow NoticeResponse DataRow CommandComplete:SELECT 2 ReadyForQuery"},
		{[]any{query("short")}, "RowDescription XX000 ReadyForQuery"},
		{[]any{query("short 1")}, "RowDescription 42804 ReadyForQuery"},
		{[]any{query("begin"), query("plain"), query("rows 1"), query("rollback"), query("rows 0")}, "CommandComplete:BEGIN ReadyForQuery"},
		{nil, "XX000 ReadyForQuery"},
		{nil, "25P02 ReadyForQuery"},
		{nil, "CommandComplete:ROLLBACK ReadyForQuery"},
		{nil, "RowDescription CommandComplete:SELECT 0 ReadyForQuery"},
		// An error that the session does not know of ends its transaction too.
		{[]any{query("begin"), bind("", "never"), sync_, query("rows 1"), query("rollback")}, "CommandComplete:BEGIN ReadyForQuery"},
		{nil, "26000 ReadyForQuery"},
		{nil, "25P02 ReadyForQuery"},
		{nil, "CommandComplete:ROLLBACK ReadyForQuery"},
	} {
		post(c, x.send...)
		if got := talk(t, c); got != x.want {
			t.Errorf("%s, not %s", got, x.want)
		}
	}
	_, failure := c.Exec(background(t), "rows 1; begim").ReadAll()
	var e *pgconn.PgError
	if !errors.As(failure, &e) || e.Position != 9 {
		t.Errorf("the error is at %+v", e)
	}
	_, failure = c.Exec(background(t), "fail").ReadAll()
	if !errors.As(failure, &e) || e.Detail == "" || e.Hint == "" || e.Severity != "ERROR" || e.Position != 0 {
		t.Errorf("the error is %+v", e)
	}
}

func TestValues(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "")
	var text [][]string
	results, err := c.PgConn().Exec(background(t), "types").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range results[0].Rows {
		line := []string{}
		for _, v := range row {
			if v == nil {
				line = append(line, "NULL")
			} else {
				line = append(line, string(v))
			}
		}
		text = append(text, line)
	}
	want := [][]string{{"-2", "1073741824", "4611686018427387904", "0.5", "3", "t", `\x00ff`, "é", "12.50"},
		{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}}
	if !reflect.DeepEqual(text, want) {
		t.Errorf("the values are %q", text)
	}
	rows, err := c.Query(background(t), "types binary", pgx.QueryResultFormats{1})
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	got, err := rows.Values()
	if wanted := []any{int16(-2), int32(1 << 30), int64(1 << 62), float32(0.5), 3.0, true, []byte{0, 255}, "é"}; err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("in binary the values are %v %v", got, err)
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

func TestParameters(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "")
	var a, b, d, e, f, g, h string
	when := time.Date(1999, 12, 31, 23, 59, 59, 250000000, time.UTC)
	err := c.QueryRow(background(t), "echo int8 float8 bool bytea text numeric timestamptz", 7, 0.25, true, []byte("ab"), "é", "-12345.60", when).
		Scan(&a, &b, &d, &e, &f, &g, &h)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join([]string{a, b, d, e, f, g, h}, "|")
	if got != "int64 7|float64 0.25|bool true|[]uint8 [97 98]|string é|string -12345.60|string 1999-12-31 23:59:59.25Z" {
		t.Error(got)
	}
	for _, x := range []struct{ statement, value, code string }{
		{"echo int8", "seven", "22P02"},
		{"echo int2", "70000", "22003"},
		{"echo bool", "maybe", "22P02"},
		{"echo bytea", `\xzz`, "22P02"},
		{"echo text", "a\xffb", "22021"},
	} {
		r := c.PgConn().ExecParams(background(t), x.statement, [][]byte{[]byte(x.value)}, nil, nil, nil).Read()
		if code(r.Err) != x.code {
			t.Errorf("%s %q: %v", x.statement, x.value, r.Err)
		}
	}
	if r := c.PgConn().ExecParams(background(t), "echo int8", [][]byte{{1, 2}}, nil, []int16{1}, nil).Read(); code(r.Err) != "22P03" {
		t.Errorf("two bytes for eight: %v", r.Err)
	}
	if r := c.PgConn().ExecParams(background(t), "echo any", [][]byte{{1}}, []uint32{600}, []int16{1}, nil).Read(); code(r.Err) != "0A000" {
		t.Errorf("a point in binary: %v", r.Err)
	}
}

func TestPipeline(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "")
	batch := &pgx.Batch{}
	for i := range 300 {
		batch.Queue(fmt.Sprintf("rows %d", i%7))
	}
	results := c.SendBatch(background(t), batch)
	for i := range 300 {
		tag, err := results.Exec()
		if err != nil || tag.RowsAffected() != int64(i%7) {
			t.Fatalf("statement %d: %v %v", i, tag, err)
		}
	}
	if err := results.Close(); err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	s := serve(t, Options{})
	for _, more := range []string{"", "max_protocol_version=3.2", "sslmode=require"} {
		c := s.connect(t, more).PgConn()
		done := make(chan error)
		go func() {
			_, err := c.Exec(background(t), "wait").ReadAll()
			done <- err
		}()
		statement := <-s.waiting
		// A wrong key cancels nothing.
		other := append([]byte{}, c.SecretKey()...)
		other[0] ^= 1
		s.server.cancelRequest(c.PID(), other)
		s.server.cancelRequest(c.PID(), nil)
		if statement.Err() != nil {
			t.Error("a wrong key has canceled")
		}
		if err := c.CancelRequest(background(t)); err != nil {
			t.Fatal(err)
		}
		if err := <-done; code(err) != "57014" {
			t.Errorf("%s: %v", more, err)
		}
		// A cancel request for an idle session does nothing to the next statement.
		if err := c.CancelRequest(background(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(background(t), "rows 3").ReadAll(); err != nil {
			t.Error(err)
		}
	}
	// A cancel request between two executions of a portal does nothing to the second.
	c := s.connect(t, "").PgConn()
	post(c, parse("", "begin"), bind("", ""), executePortal("", 0), parse("", "rows 2"), bind("a", ""), executePortal("a", 1), sync_)
	talk(t, c)
	if err := c.CancelRequest(background(t)); err != nil {
		t.Fatal(err)
	}
	post(c, executePortal("a", 0), parse("", "rollback"), bind("", ""), executePortal("", 0), sync_)
	if got := talk(t, c); got != "DataRow CommandComplete:SELECT 1 ParseComplete BindComplete CommandComplete:ROLLBACK ReadyForQuery" {
		t.Error(got)
	}
	// A portal can be canceled when it is continued.
	post(c, parse("", "wait"), bind("", ""), executePortal("", 1), executePortal("", 1), sync_)
	if err := c.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	<-s.waiting
	if err := c.CancelRequest(background(t)); err != nil {
		t.Fatal(err)
	}
	if got := talk(t, c); got != "ParseComplete BindComplete DataRow PortalSuspended 57014 ReadyForQuery" {
		t.Error(got)
	}
}

func TestCopy(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "").PgConn()
	for _, x := range []struct{ statement, want string }{
		{"copy 5", "0\tplain\n1\t\\N\n2\ta\\tb\\\\c\\n\"d,\n3\t\n4\tplain\n"},
		{"copy 5 csv", "n,\"t,u\"\n0,plain\n1,\n2,\"a\tb\\c\n\"\"d,\"\n3,\"\"\n4,plain\n"},
	} {
		var out strings.Builder
		tag, err := c.CopyTo(background(t), &out, x.statement)
		if err != nil || tag.String() != "COPY 5" || out.String() != x.want {
			t.Errorf("%s: %q %v %v", x.statement, out.String(), tag, err)
		}
	}
	post(c, parse("", "copy 2"), bind("", ""), describePortal(""), executePortal("", 1), sync_)
	if got := talk(t, c); got != "ParseComplete BindComplete NoData CopyOutResponse CopyData CopyData CopyDone CommandComplete:COPY 2 ReadyForQuery" {
		t.Error(got)
	}
}

func TestPanicEndsOneSession(t *testing.T) {
	s := serve(t, Options{})
	other := s.connect(t, "")
	for _, statement := range []string{"panic", "panicprepare"} {
		c := s.connect(t, "").PgConn()
		if _, err := c.Exec(background(t), statement).ReadAll(); code(err) != "XX000" || strings.Contains(err.Error(), "in ") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := other.Exec(background(t), "rows 1"); err != nil {
		t.Error(err)
	}
}

func TestTooManySessions(t *testing.T) {
	s := serve(t, Options{MaxSessions: 2})
	first := s.connect(t, "")
	s.connect(t, "")
	if _, err := pgx.Connect(background(t), s.dsn("")); code(err) != "53300" {
		t.Errorf("the third session: %v", err)
	}
	if err := first.Close(background(t)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; {
		c, err := pgx.Connect(background(t), s.dsn(""))
		if err == nil {
			c.Close(background(t))
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a session that has ended still counts: %v", err)
		}
	}
}

func TestShutdown(t *testing.T) {
	s := serve(t, Options{})
	idle, inTransaction, running := s.connect(t, ""), s.connect(t, ""), s.connect(t, "")
	if _, err := inTransaction.Exec(background(t), "begin"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		_, err := running.PgConn().Exec(background(t), "wait").ReadAll()
		answered <- err
	}()
	<-s.waiting
	stopped := make(chan error)
	go func() { stopped <- s.server.Shutdown(background(t)) }()
	for _, c := range []*pgx.Conn{idle, inTransaction} {
		message, err := c.PgConn().ReceiveMessage(background(t))
		if name(message) != "57P01" && code(err) != "57P01" {
			t.Errorf("an idle session gets %v %v", name(message), err)
		}
	}
	// The server takes no connection any more, so the test cancels by itself.
	s.server.cancelRequest(running.PgConn().PID(), running.PgConn().SecretKey())
	if err := <-answered; code(err) != "57014" {
		t.Errorf("the statement that ran: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := pgx.Connect(background(t), s.dsn("")); err == nil {
		t.Error("a connection was accepted after Shutdown")
	}
}

// A client that gives its password is told to come back, and one that has said nothing is left.
func TestShutdownOfStrangers(t *testing.T) {
	s := serve(t, Options{})
	silent, asked := s.dial(t), s.dial(t)
	if _, err := io.WriteString(asked, packet(3<<16, "user\x00ana\x00\x00")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(asked, make([]byte, 1)); err != nil { // of the request for a password
		t.Fatal(err)
	}
	if err := s.server.Shutdown(background(t)); err != nil {
		t.Error(err)
	}
	if got := reply(t, asked); !strings.Contains(got, "57P03") {
		t.Errorf("the reply to a login is %q", got)
	}
	if got := reply(t, silent); got != "" {
		t.Errorf("the reply to nothing is %q", got)
	}
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "")
	answered := make(chan error, 1)
	go func() {
		_, err := c.PgConn().Exec(context.Background(), "wait").ReadAll()
		answered <- err
	}()
	<-s.waiting
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown returned %v", err)
	}
	if err := <-answered; code(err) != "57P01" {
		t.Errorf("the statement that ran: %v", err)
	}
	for deadline := time.Now().Add(patience); s.open.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the statement goes on")
		}
	}
}
