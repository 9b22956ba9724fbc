package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

func (s *site) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// reply returns all that the server sends until it closes the connection.
func reply(t testing.TB, c net.Conn) string {
	t.Helper()
	var all bytes.Buffer
	_, err := io.Copy(&all, c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the server keeps the connection, and said %q", all.String())
	}
	return all.String() // or it was reset, which closes it too
}

func packet(code uint32, rest string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(rest)))
	return string(binary.BigEndian.AppendUint32(b, code)) + rest
}

func TestGarbageBeforeLogin(t *testing.T) {
	s := serve(t, Options{})
	for _, x := range []struct{ send, reply string }{
		{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ""},
		{strings.Repeat("\x00", 100), ""},
		{strings.Repeat("\xff", 100), ""},
		{packet(3<<16, strings.Repeat("x", maxStartup)), ""},
		{packet(99<<16, "user\x00ana\x00\x00"), ""},
		{packet(2<<16, "ana"), "0A000"},
		{packet(3<<16, "user\x00ana"), "08P01"},
		{packet(3<<16, "user\x00ana\x00\x00more"), "08P01"},
		{packet(3<<16, "database\x00db\x00\x00"), "28000"},
		{packet(3<<16, "user\x00\xff\x00\x00"), "22021"},
		{packet(codeGSSENC, "") + packet(codeGSSENC, ""), "N"},
		{packet(codeTLS, "") + packet(3<<16, "user\x00ana\x00\x00"), "S"}, // no TLS follows, and no startup
		{packet(codeCancel, ""), ""},
		{packet(codeCancel, "\x00\x00\x00\x01abcd"), ""},
		{packet(3<<16, "user\x00ana\x00\x00") + "p\x7f\xff\xff\xff", "08P01"},
		{packet(3<<16, "user\x00ana\x00\x00") + "Q\x00\x00\x00\x0crows 1;\x00", "08P01"},
		{packet(3<<16, "user\x00ana\x00\x00") + "p\x00\x00\x00\x0bsecret\x00", "08P01"},
		{packet(3<<16, "user\x00ana\x00\x00") + "p\x00\x00\x00\x12UNHEARD-OF\x00\x00\x00\x00", "08P01"},
	} {
		c := s.dial(t)
		if _, err := c.Write([]byte(x.send)); err != nil {
			t.Fatal(err)
		}
		c.(*net.TCPConn).CloseWrite()
		got := reply(t, c)
		if x.reply == "" && got != "" || !strings.Contains(got, x.reply) || strings.Contains(got, "DataRow") {
			t.Errorf("%.40q: the reply is %q", x.send, got)
		}
	}
	if n := s.queries.Load(); n != 0 {
		t.Errorf("%d statements were executed without a login", n)
	}
	s.connect(t, "")
}

// TestNothingInTheClearBeforeTLS sends a startup packet in the segment of the request for TLS: it must not be taken
// for one that came through TLS.
func TestNothingInTheClearBeforeTLS(t *testing.T) {
	s := serve(t, Options{})
	c := s.dial(t)
	c.Write([]byte(packet(codeTLS, "") + packet(3<<16, "user\x00ana\x00\x00")))
	answer := make([]byte, 1)
	if _, err := io.ReadFull(c, answer); err != nil || answer[0] != 'S' {
		t.Fatalf("%q %v", answer, err)
	}
	if err := tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("the handshake succeeds behind a packet in the clear")
	}
}

func TestDirectTLSNeedsALPN(t *testing.T) {
	s := serve(t, Options{})
	c := tls.Client(s.dial(t), &tls.Config{InsecureSkipVerify: true})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	c.Write([]byte(packet(3<<16, "user\x00ana\x00\x00")))
	if got := reply(t, c); got != "" {
		t.Errorf("without ALPN the reply is %q", got)
	}
}

func TestNegotiation(t *testing.T) {
	s := serve(t, Options{})
	for _, x := range []struct {
		version uint32
		more    string
		want    *pgproto3.NegotiateProtocolVersion
	}{
		{3 << 16, "", nil},
		{3<<16 | 2, "", nil},
		{3<<16 | 1, "", &pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3 << 16}},
		{3<<16 | 9999, "_pq_.test\x00x\x00", &pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3<<16 | 2, UnrecognizedOptions: []string{"_pq_.test"}}},
	} {
		c := s.dial(t)
		c.Write([]byte(packet(x.version, "user\x00ana\x00"+x.more+"\x00")))
		m, err := pgproto3.NewFrontend(c, c).Receive()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := m.(*pgproto3.NegotiateProtocolVersion)
		if ok != (x.want != nil) || ok && (got.NewestMinorProtocol != x.want.NewestMinorProtocol || len(got.UnrecognizedOptions) != len(x.want.UnrecognizedOptions)) {
			t.Errorf("%x: %+v", x.version, m)
		}
	}
}

// TestMechanismAndBindingAgree chooses a mechanism and claims another one's channel binding. The last claim is a
// client's that a man in the middle has told that the server has no channel binding.
func TestMechanismAndBindingAgree(t *testing.T) {
	s := serve(t, Options{})
	for _, x := range []struct{ mechanism, header string }{
		{mechanism, "p=tls-server-end-point"},
		{mechanismPlus, "n"},
		{mechanismPlus, "p=tls-exporter"},
		{mechanism, "y"},
	} {
		c := tls.Client(s.dial(t), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{alpn}})
		f := pgproto3.NewFrontend(c, c)
		if _, err := c.Write([]byte(packet(3<<16, "user\x00ana\x00\x00"))); err != nil {
			t.Fatal(err)
		}
		f.Receive()
		f.Send(&pgproto3.SASLInitialResponse{AuthMechanism: x.mechanism, Data: []byte(x.header + ",,n=,r=abcdefghijklmnop")})
		f.Flush()
		if m, err := f.Receive(); err != nil || name(m) != "08P01" {
			t.Errorf("%s with %s: %v %v", x.mechanism, x.header, name(m), err)
		}
	}
}

// TestUnknownUsersLookReal compares the challenges that real and unknown users get.
func TestUnknownUsersLookReal(t *testing.T) {
	s := serve(t, Options{MockSecret: []byte("a secret of the server")})
	challenge := func(user string) (salt, iterations string, size int) {
		c := s.dial(t)
		f := pgproto3.NewFrontend(c, c)
		c.Write([]byte(packet(3<<16, "user\x00"+user+"\x00\x00")))
		f.Receive()
		f.Send(&pgproto3.SASLInitialResponse{AuthMechanism: mechanism, Data: []byte("n,,n=,r=abcdefghijklmnop")})
		f.Flush()
		m, err := f.Receive()
		if err != nil {
			t.Fatal(err)
		}
		data := string(m.(*pgproto3.AuthenticationSASLContinue).Data)
		fields := strings.SplitN(data, ",", 3)
		return fields[1], fields[2], len(data)
	}
	salt, iterations, size := challenge("ana")
	for range 2 {
		if s2, i2, n2 := challenge("ana"); s2 != salt || i2 != iterations || n2 != size {
			t.Error("a real user's challenge changes")
		}
	}
	mock, i, n := challenge("nobody")
	if i != iterations || n != size || mock == salt {
		t.Errorf("an unknown user gets %s,%s, a real one %s,%s", mock, i, salt, iterations)
	}
	if again, _, _ := challenge("nobody"); again != mock {
		t.Error("an unknown user's salt changes")
	}
	if other, _, _ := challenge("somebody"); other == mock {
		t.Error("two unknown users have the same salt")
	}
}

func TestIsLocal(t *testing.T) {
	for _, x := range []struct {
		remote net.Addr
		local  bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}, true},
		{&net.TCPAddr{IP: net.IPv6loopback}, true},
		{&net.UnixAddr{}, true},
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, false},
		{&net.IPAddr{IP: net.IPv4(127, 0, 0, 1)}, false},
	} {
		if got := isLocal(remoteConn{remote: x.remote}); got != x.local {
			t.Errorf("%v: %v", x.remote, got)
		}
	}
}

// A remoteListener's connections come from elsewhere.
type remoteListener struct{ net.Listener }

func (l remoteListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return remoteConn{c, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}}, nil
}

func TestTLSIsRequiredBeyondLoopback(t *testing.T) {
	s := serve(t, Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.server.Serve(remoteListener{listener})
	s.addr = listener.Addr().String()
	s.connect(t, "sslmode=require")
	c := s.dial(t)
	c.Write([]byte(packet(3<<16, "user\x00ana\x00\x00")))
	if got := reply(t, c); !strings.Contains(got, "28000") || !strings.Contains(got, "sslmode=require") {
		t.Errorf("without TLS the reply is %q", got)
	}
}

type remoteConn struct {
	net.Conn
	remote net.Addr
}

func (r remoteConn) RemoteAddr() net.Addr { return r.remote }

func TestHalfOpenConnections(t *testing.T) {
	s := serve(t, Options{MaxPending: 50})
	var idle []net.Conn
	for i := range 400 {
		c := s.dial(t)
		switch i % 4 { // each stops at another place
		case 1:
			c.Write([]byte{0, 0})
		case 2:
			c.Write([]byte(packet(codeTLS, "")))
		case 3:
			c.Write([]byte(packet(3<<16, "user\x00ana\x00\x00")))
		}
		idle = append(idle, c)
	}
	s.connect(t, "")
	s.connect(t, "sslmode=require")
	for _, c := range idle[:350] {
		reply(t, c) // they were closed, the oldest first
	}
}

// A floodedListener says of all connections but the first that they come from another address.
type floodedListener struct {
	net.Listener
	accepted int
}

func (l *floodedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if l.accepted++; l.accepted == 1 || err != nil {
		return c, err
	}
	return remoteConn{c, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9), Port: 1}}, nil
}

// A flood from another address does not end a slow login.
func TestFloodFromElsewhere(t *testing.T) {
	s := serve(t, Options{MaxPending: 10})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = plain.Addr().String()
	go s.server.Serve(&floodedListener{Listener: plain})
	slow := s.dial(t)
	var flood []net.Conn
	for range 100 {
		flood = append(flood, s.dial(t))
	}
	for _, c := range flood[:90] {
		reply(t, c)
	}
	if _, err := slow.Write([]byte(packet(3<<16, "user\x00ana\x00\x00"))); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(slow, make([]byte, 1)); err != nil {
		t.Errorf("the first connection: %v", err)
	}
}

func TestLoginTimeout(t *testing.T) {
	s := serve(t, Options{LoginTimeout: 50 * time.Millisecond})
	for _, send := range []string{"", "\x00", "\x16\x03", packet(codeTLS, ""), packet(3<<16, "user\x00ana\x00\x00"),
		packet(3<<16, "user\x00ana\x00\x00") + "p\x00\x00"} {
		c := s.dial(t)
		c.Write([]byte(send))
		reply(t, c)
	}
}

func TestIdleSessionsOutliveTheLoginTimeout(t *testing.T) {
	s := serve(t, Options{LoginTimeout: 3 * time.Second, MessageTimeout: time.Second})
	c := s.connect(t, "")
	time.Sleep(3 * time.Second)
	if _, err := c.Exec(background(t), "rows 1"); err != nil {
		t.Error(err)
	}
}

// TestHalfAMessage stops within a message: the session, and its locks, must not wait for the rest for ever.
func TestHalfAMessage(t *testing.T) {
	s := serve(t, Options{MessageTimeout: 50 * time.Millisecond})
	for _, send := range []string{"Q", "Q\x00\x00\x00\x20rows", "S\x00\x00\x00\x04Q\x00\x0f\x00\x00rows"} {
		if got := lastWordsTo(t, s.connect(t, "").PgConn(), send); !strings.Contains(got, "08006") {
			t.Errorf("%q: the reply is %q", send, got)
		}
	}
}

func TestMessageLimits(t *testing.T) {
	s := serve(t, Options{MaxMessage: 1000, MaxPrepared: 10})
	c := s.connect(t, "").PgConn()
	for i := range 10 {
		post(c, parse(fmt.Sprint("s", i), "rows 1"))
	}
	post(c, parse("more", "rows 1"), sync_)
	if got := talk(t, c); got != strings.Repeat("ParseComplete ", 10)+"53000 ReadyForQuery" {
		t.Error(got)
	}
	c = s.connect(t, "").PgConn()
	long := "echo text" + strings.Repeat(" ", 900)
	post(c, parse("a", long), parse("b", long), parse("c", long), sync_)
	if got := talk(t, c); got != "ParseComplete ParseComplete 53200 ReadyForQuery" {
		t.Error(got)
	}
	post(c, closeStatement("a"), parse("c", long), sync_)
	if got := talk(t, c); got != "CloseComplete ParseComplete ReadyForQuery" {
		t.Error(got)
	}
	for _, send := range []string{"Q\x00\x00\x10\x00", "Q\x7f\xff\xff\xff", "Q\xff\xff\xff\xff", "Q\x00\x00\x00\x00", "?\x00\x00\x00\x04",
		"Q\x00\x00\x00\x06ab", "B\x00\x00\x00\x06\x00\x00"} {
		if got := lastWordsTo(t, s.connect(t, "").PgConn(), send); !strings.Contains(got, "08P01") {
			t.Errorf("%q: the reply is %q", send, got)
		}
	}
}

// TestSlowReader has a client that asks for many rows and does not read them. Its session ends, and with it all that it
// holds, which serve checks.
func TestSlowReader(t *testing.T) {
	s := serve(t, Options{WriteTimeout: 100 * time.Millisecond})
	for _, statement := range []string{"rows 100000000", "copy 100000000", "big 30000000"} {
		c := s.connect(t, "").PgConn()
		post(c, query(statement))
		if err := c.Frontend().Flush(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); s.sessions() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s goes on without a reader", statement)
			}
		}
	}
}

func (s *site) sessions() int {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return len(s.server.sessions)
}

// TestAnswersWithoutSync asks for more than a buffer holds, and neither reads nor sends Sync.
func TestAnswersWithoutSync(t *testing.T) {
	s := serve(t, Options{WriteTimeout: 100 * time.Millisecond})
	c := s.connect(t, "").PgConn().Conn()
	c.SetDeadline(time.Now().Add(patience))
	message, err := describePortal("").Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	begin, _ := parse("", "rows 1").Encode(nil)
	begin, _ = bind("", "").Encode(begin)
	c.Write(begin)
	for chunk := bytes.Repeat(message, 1000); s.sessions() != 0; {
		if _, err := c.Write(chunk); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the session goes on")
		}
	}
}

func TestVanishedClient(t *testing.T) {
	s := serve(t, Options{})
	c := s.connect(t, "")
	c.PgConn().Conn().Close()
	for deadline := time.Now().Add(patience); s.sessions() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the session of a client that is gone goes on")
		}
	}
}

// TestVanishedClientOfAStatement has a client disappear while its statement runs, which must end too.
func TestVanishedClientOfAStatement(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells that a client is gone")
	}
	for _, more := range []string{"", "sslmode=require"} {
		s := serve(t, Options{})
		c := s.connect(t, more).PgConn()
		post(c, query("wait"))
		if err := c.Frontend().Flush(); err != nil {
			t.Fatal(err)
		}
		<-s.waiting
		c.Conn().Close()
		for deadline := time.Now().Add(patience); s.sessions() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the statement goes on without its client")
			}
		}
	}
}

func FuzzStartup(f *testing.F) {
	for _, seed := range []string{"GET / HTTP/1.1\r\n\r\n", packet(codeTLS, ""), packet(codeTLS, "") + "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03",
		packet(codeGSSENC, "") + packet(3<<16, "user\x00ana\x00\x00"), packet(codeCancel, "12345678"), packet(3<<16|2, "user\x00a\x00_pq_.x\x00y\x00\x00"),
		packet(3<<16, "user\x00ana\x00\x00") + "p\x00\x00\x00\x2eSCRAM-SHA-256\x00\x00\x00\x00\x18n,,n=,r=abcdefghijklmnop"} {
		f.Add([]byte(seed))
	}
	c, _ := certificate(f)
	toy := newToy()
	server := NewServer(toy, Options{TLS: &tls.Config{Certificates: []tls.Certificate{c}}})
	f.Fuzz(func(t *testing.T, data []byte) {
		converse(t, server, data, nil)
		if toy.open.Load() != 0 || toy.queries.Load() != 0 {
			t.Error("a session began without a password")
		}
	})
}

func FuzzMessages(f *testing.F) {
	encode := func(messages ...pgproto3.FrontendMessage) []byte {
		var data []byte
		for _, m := range messages {
			data, _ = m.Encode(data)
		}
		return data
	}
	f.Add(encode(query("rows 2; notice; fail"), query("copy 3 csv"), query("panic")))
	f.Add(encode(parse("", "begin"), bind("", ""), executePortal("", 0), parse("a", "rows 5"), bind("p", "a"), describePortal("p"), executePortal("p", 2), sync_, executePortal("p", 9), closeStatement("a"), sync_))
	f.Add(encode(&pgproto3.Parse{Query: "echo int8 bytea numeric any", ParameterOIDs: []uint32{0, 0, 0, 1184}},
		&pgproto3.Bind{ParameterFormatCodes: []int16{1}, Parameters: [][]byte{make([]byte, 8), {1}, {0, 1, 0, 0, 0, 0, 0, 2, 0, 7}, nil}}, executePortal("", 0), sync_))
	f.Add(encode(&pgproto3.FunctionCall{}, &pgproto3.CopyData{}, &pgproto3.CopyDone{}, &pgproto3.Flush{}, &pgproto3.Terminate{}))
	toy := newToy()
	server := NewServer(toy, Options{MaxMessage: 1 << 16})
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("wait")) || bytes.Contains(data, []byte("big")) || bytes.Contains(data, []byte("panic")) {
			return // these commands of the toy are no test of the protocol
		}
		converse(t, server, data, toy)
		if toy.open.Load() != 0 {
			t.Error("a session, statement or rows were not closed")
		}
	})
}

// converse has a server read data, in a session of the toy if there is one, until the end or an error. A panic fails.
func converse(t *testing.T, server *Server, data []byte, toy *toy) {
	near, far := net.Pipe()
	defer near.Close()
	go io.Copy(io.Discard, near)
	go func() {
		near.SetWriteDeadline(time.Now().Add(patience))
		near.Write(data)
		near.Close()
	}()
	c := &conn{server: server, raw: far, log: server.options.Logger}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	defer far.Close()
	defer c.cancel(nil)
	if toy == nil {
		c.start()
		return
	}
	c.use(far)
	c.backend.SetMaxBodyLen(server.options.MaxMessage)
	c.session, _ = toy.NewSession(c.ctx, &Login{Client: c})
	defer c.closeSession()
	c.loop()
}

// A message of 16 MB is read once, and not again for each of its statements.
func TestManyStatements(t *testing.T) {
	fuzztest.Limit(t, time.Minute)
	s := serve(t, Options{})
	c := s.connect(t, "")
	const statement = "begin                         ; "
	results := c.PgConn().Exec(context.Background(), strings.Repeat(statement, (16<<20-100)/len(statement)))
	for results.NextResult() {
		if _, err := results.ResultReader().Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := results.Close(); err != nil {
		t.Fatal(err)
	}
}
