package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

const (
	maxStartup = 10_000 // bytes of a startup packet
	maxLogin   = 4_000  // bytes of a message of the SCRAM exchange

	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSSENC = 80877104

	alpn = "postgresql"

	keySize30 = 4
	keySize32 = 32
)

// errHangUp ends a connection that deserves no answer.
var errHangUp = errors.New("hang up")

// start does all that comes before the first request: encryption, the startup packet, the password, and the session.
func (c *conn) start() error {
	deadline := time.Now().Add(c.server.options.LoginTimeout)
	c.raw.SetDeadline(deadline)
	packet, err := c.negotiate()
	if err != nil {
		return err
	}
	c.transport.until = deadline
	login, keySize, err := c.readStartup(packet)
	if err != nil {
		return err
	}
	if !c.login.TLS && (c.server.options.RequireTLS || !isLocal(c.raw)) {
		e := fatal("28000", "this server takes connections with TLS only")
		e.Hint = "Connect with sslmode=require."
		return e
	}
	if err := c.authenticate(login); err != nil {
		if c.server.isClosing() {
			return errNotNow
		}
		return err
	}
	if err := c.server.admit(c, keySize); err != nil {
		return err
	}
	c.transport.until = time.Time{}
	c.backend.SetMaxBodyLen(c.server.options.MaxMessage)
	login.ProcessID = c.processID
	if c.session, err = c.server.handler.NewSession(c.ctx, login); err != nil {
		e := *asError(c.ctx, err)
		e.Severity = "FATAL"
		return &e
	}
	c.greet()
	return nil
}

func isLocal(c net.Conn) bool {
	switch a := c.RemoteAddr().(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// negotiate agrees on TLS and returns the startup packet behind its length. It reads no byte beyond a packet: bytes
// sent in the clear before TLS must not be taken for bytes that come through it.
func (c *conn) negotiate() ([]byte, error) {
	var first [1]byte
	if _, err := io.ReadFull(c.raw, first[:]); err != nil {
		return nil, errHangUp
	}
	var below net.Conn = &replayed{Conn: c.raw, first: first[:]}
	direct := first[0] == 0x16 // a TLS record with a handshake; no startup packet is as long
	if direct {
		if c.server.options.TLS == nil {
			return nil, errHangUp
		}
		if err := c.startTLS(below); err != nil {
			return nil, err
		}
		// So that no other protocol's client can be led to this port.
		if c.tls.ConnectionState().NegotiatedProtocol != alpn {
			return nil, errHangUp
		}
		below = c.tls
	}
	for askedTLS, askedGSS := direct, false; ; {
		packet, err := readPacket(below)
		if err != nil {
			return nil, err
		}
		switch code := binary.BigEndian.Uint32(packet); {
		case code == codeTLS && !askedTLS && len(packet) == 4:
			askedTLS = true
			if c.server.options.TLS == nil {
				if _, err := below.Write([]byte("N")); err != nil {
					return nil, errHangUp
				}
				continue
			}
			if _, err := below.Write([]byte("S")); err != nil {
				return nil, errHangUp
			}
			if err := c.startTLS(below); err != nil {
				return nil, err
			}
			below = c.tls
		case code == codeGSSENC && !askedGSS && len(packet) == 4:
			askedGSS = true
			if _, err := below.Write([]byte("N")); err != nil {
				return nil, errHangUp
			}
		case code == codeCancel:
			// There is no answer, whether it is right or not.
			if len(packet) >= 8+keySize30 && len(packet) <= 8+256 {
				c.server.cancelRequest(binary.BigEndian.Uint32(packet[4:]), packet[8:])
			}
			return nil, errHangUp
		default:
			c.use(below)
			return packet, nil
		}
	}
}

// use puts messages on a connection.
func (c *conn) use(below net.Conn) {
	t := &transport{
		Conn:         below,
		bodyTimeout:  c.server.options.MessageTimeout,
		writeTimeout: c.server.options.WriteTimeout,
	}
	c.backend = pgproto3.NewBackend(t, nil)
	c.server.mu.Lock() // Shutdown reads it
	c.transport = t
	c.server.mu.Unlock()
}

func (c *conn) startTLS(below net.Conn) error {
	config := c.server.options.TLS.Clone()
	config.NextProtos = []string{alpn}
	if forClient := config.GetConfigForClient; forClient != nil {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := forClient(hello)
			if chosen != nil {
				chosen = chosen.Clone()
				chosen.NextProtos = []string{alpn}
				c.observe(chosen)
			}
			return chosen, err
		}
	}
	c.observe(config)
	c.tls = tls.Server(below, config)
	if err := c.tls.HandshakeContext(c.ctx); err != nil {
		c.log.Info("the TLS handshake failed", "error", err)
		return errHangUp
	}
	c.login.TLS = true
	return nil
}

// observe makes config note which certificate it has shown. A password exchange is bound to it.
func (c *conn) observe(config *tls.Config) {
	get, certificates := config.GetCertificate, config.Certificates
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		var chosen *tls.Certificate
		if get != nil {
			var err error
			if chosen, err = get(hello); err != nil {
				return nil, err
			}
		}
		for i := 0; chosen == nil && i < len(certificates); i++ {
			if len(certificates) == 1 || hello.SupportsCertificate(&certificates[i]) == nil {
				chosen = &certificates[i]
			}
		}
		if chosen == nil && len(certificates) > 0 {
			chosen = &certificates[0]
		}
		if chosen == nil || len(chosen.Certificate) == 0 {
			return nil, errors.New("there is no certificate")
		}
		c.certificate = chosen.Certificate[0]
		return chosen, nil
	}
	config.Certificates = nil
}

// binding returns the channel binding of a password exchange, tls-server-end-point. It is empty if
// there is none, such as for certificates that Ed25519 has signed, which RFC 5929 has no hash for.
func (c *conn) binding() scram.ChannelBinding {
	if c.certificate == nil {
		return scram.ChannelBinding{}
	}
	certificate, err := x509.ParseCertificate(c.certificate)
	if err != nil {
		return scram.ChannelBinding{}
	}
	// The function is a client's, which finds the server's certificate in its state.
	binding, err := scram.NewTLSServerEndpointBinding(
		&tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}})
	if err != nil {
		return scram.ChannelBinding{}
	}
	return binding
}

// readPacket reads a packet that has no type, and returns it behind its length.
func readPacket(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, errHangUp
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 8 || n > maxStartup {
		return nil, errHangUp // HTTP, for example
	}
	packet := make([]byte, n-4)
	if _, err := io.ReadFull(r, packet); err != nil {
		return nil, errHangUp
	}
	return packet, nil
}

// readStartup reads the startup packet and agrees on the version of the protocol. It returns the size of the key for
// cancel requests, which depends on the version.
func (c *conn) readStartup(packet []byte) (*Login, int, error) {
	version := binary.BigEndian.Uint32(packet)
	if version>>16 != 3 {
		// Nobody who speaks another protocol reads an answer, but clients of PostgreSQL 7.3 and of 4.0 would.
		if version>>16 != 2 && version>>16 != 4 {
			return nil, 0, errHangUp
		}
		return nil, 0, fatal("0A000", fmt.Sprintf("unsupported frontend protocol %d.%d: server supports 3.0 to 3.2",
			version>>16, version&0xffff))
	}
	login := &c.login
	login.Remote = c.raw.RemoteAddr()
	login.Parameters = map[string]string{}
	login.Client, login.End = c, c.end
	malformed := fatal("08P01", "invalid startup packet layout: expected terminator as last byte")
	rest := packet[4:]
	var fields []string
	for {
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return nil, 0, malformed
		}
		if end == 0 && len(fields)%2 == 0 {
			break
		}
		if !utf8.Valid(rest[:end]) {
			return nil, 0, fatal("22021", "the startup packet is not in UTF-8")
		}
		fields = append(fields, string(rest[:end]))
		rest = rest[end+1:]
	}
	if len(rest) != 1 {
		return nil, 0, malformed
	}
	var unknown []string
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := fields[i], fields[i+1]
		switch {
		case name == "user":
			login.User = value
		case name == "database":
			login.Database = value
		case name == "replication":
			if value != "false" && value != "off" && value != "no" && value != "0" {
				return nil, 0, fatal("0A000", "replication is not supported")
			}
		case strings.EqualFold(name, "client_encoding"):
			if !isUTF8(value) {
				e := fatal("22023", fmt.Sprintf("client_encoding %q is not supported", value))
				e.Hint = "Set client_encoding to UTF8."
				return nil, 0, e
			}
		case strings.HasPrefix(name, "_pq_."):
			unknown = append(unknown, name)
		default:
			login.Parameters[name] = value
		}
	}
	if login.User == "" {
		return nil, 0, fatal("28000", "no PostgreSQL user name specified in startup packet")
	}
	if login.Database == "" {
		login.Database = login.User
	}
	minor, keySize := version&0xffff, keySize30
	agreed := uint32(0)
	if minor >= 2 {
		agreed, keySize = 2, keySize32
	}
	if minor != agreed || unknown != nil {
		c.send(&pgproto3.NegotiateProtocolVersion{
			NewestMinorProtocol: 3<<16 | agreed, // servers and clients have the whole version there
			UnrecognizedOptions: unknown,
		})
	}
	return login, keySize, nil
}

// isUTF8 reports whether an encoding leaves texts as they are, in UTF-8. SQL_ASCII does, by saying nothing.
func isUTF8(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '\'' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	return name == "utf8" || name == "unicode" || name == "sqlascii"
}

// authenticate asks for the password. Users that do not exist are asked too, and fail as with a wrong password.
func (c *conn) authenticate(login *Login) error {
	options := &c.server.options
	ctx, cancel := context.WithTimeout(c.ctx, options.LoginTimeout)
	defer cancel()
	verifier, exists, err := c.server.handler.Login(ctx, login.User, login.Database)
	if err != nil {
		c.log.Error("a login failed", "error", err)
		return fatal("XX000", "the server cannot check passwords now")
	}
	// It is computed for every user, and so takes the same time.
	mock := mockVerifier(options.MockSecret, login.User, options.MockIterations)
	if !exists {
		verifier = mock
	}
	binding := c.binding()
	conversation, err := verifier.conversation(binding)
	if err != nil {
		return err
	}

	offered := []string{mechanism}
	if binding.IsSupported() {
		offered = []string{mechanismPlus, mechanism}
	}
	c.send(&pgproto3.AuthenticationSASL{AuthMechanisms: offered})
	if err := c.flush(); err != nil {
		return err
	}
	backend := c.backend
	backend.SetMaxBodyLen(maxLogin)
	backend.SetAuthType(pgproto3.AuthTypeSASL)
	message, err := backend.Receive()
	if err != nil {
		return loginEnded(err)
	}
	initial, ok := message.(*pgproto3.SASLInitialResponse)
	if !ok {
		return errMalformedLogin
	}
	first := string(initial.Data)
	bound := strings.HasPrefix(first, "p=")
	switch {
	case initial.AuthMechanism == mechanism && !bound:
	case initial.AuthMechanism == mechanismPlus && bound && binding.IsSupported():
	case initial.AuthMechanism != mechanism && initial.AuthMechanism != mechanismPlus:
		return fatal("08P01", "client selected an invalid SASL authentication mechanism")
	default:
		return errMalformedLogin
	}
	challenge, err := conversation.Step(first)
	if err != nil {
		c.log.Info("a password exchange is malformed", "error", err)
		return errMalformedLogin
	}
	c.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	if err := c.flush(); err != nil {
		return err
	}
	backend.SetAuthType(pgproto3.AuthTypeSASLContinue)
	if message, err = backend.Receive(); err != nil {
		return loginEnded(err)
	}
	response, ok := message.(*pgproto3.SASLResponse)
	if !ok {
		return errMalformedLogin
	}
	var signature string
	right, wait := options.Throttle.Try(login.Remote, login.User, func() bool {
		signature, err = conversation.Step(string(response.Data))
		return err == nil && conversation.Valid() && exists
	})
	if !right {
		return c.loginFailed(wait)
	}
	login.Verifier = verifier
	c.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(signature)})
	c.send(&pgproto3.AuthenticationOk{})
	return nil
}

// loginFailed returns the error for a wrong password, or for any before the wait is over.
func (c *conn) loginFailed(wait time.Duration) error {
	e := fatal("28P01", fmt.Sprintf("password authentication failed for user %q", c.login.User))
	if wait > 0 {
		e = fatal("28000", fmt.Sprintf("too many wrong passwords: try again in %.0f s", math.Ceil(wait.Seconds())))
	}
	if failed := c.server.options.LoginFailed; failed != nil {
		failed(&c.login, e)
		c.reported = true
	}
	return e
}

var errMalformedLogin = fatal("08P01", "malformed SCRAM message")

// loginEnded returns the error for a message of the password exchange that did not come.
func loginEnded(err error) error {
	var network net.Error
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) {
		return errHangUp // psql does before it asks its user for the password
	}
	return errMalformedLogin
}

// greet tells the client about the server, and that it may begin.
func (c *conn) greet() {
	for _, p := range [][2]string{
		{"application_name", c.login.Parameters["application_name"]}, {"client_encoding", "UTF8"}, {"DateStyle", "ISO, MDY"},
		{"default_transaction_read_only", "on"}, {"in_hot_standby", "off"}, {"integer_datetimes", "on"},
		{"IntervalStyle", "postgres"}, {"is_superuser", "off"}, {"server_encoding", "UTF8"},
		{"server_version", c.server.options.ServerVersion}, {"session_authorization", c.login.User},
		{"standard_conforming_strings", "on"}, {"TimeZone", "UTC"},
	} {
		c.send(&pgproto3.ParameterStatus{Name: p[0], Value: clean(p[1])})
	}
	c.sendNotices()
	c.send(&pgproto3.BackendKeyData{ProcessID: c.processID, SecretKey: c.key})
	c.send(&pgproto3.ReadyForQuery{TxStatus: byte(Idle)})
}
