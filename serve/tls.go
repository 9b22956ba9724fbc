package serve

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// certificatesFor is the time that a certificate is shown before the server looks whether its files have changed.
const certificatesFor = time.Second

// A certificates holds the certificate of a server, which it reads again when its files change. One that cannot be read
// leaves the old one in place.
type certificates struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	seen    string    // sizes and times of the files when they were read
	looked  time.Time // at the files
}

// loadCertificates reads a certificate and its key.
func loadCertificates(certFile, keyFile string, logger *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, logger: logger}
	return c, c.reload()
}

// reload reads the files now.
func (c *certificates) reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// read reads the files.
func (c *certificates) read() error {
	c.looked, c.seen = time.Now(), c.looks()
	cert, err := readCertificate(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current = &cert
	if time.Now().After(cert.Leaf.NotAfter) {
		c.logger.Warn("the certificate has expired: clients that check it do not connect", "file", c.certFile, "expired", cert.Leaf.NotAfter)
	}
	return nil
}

// looks returns a text that changes with the files.
func (c *certificates) looks() (text string) {
	for _, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			text += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), "\n")
		}
	}
	return text
}

// readCertificate reads a certificate and its key. Its errors name the wrong file.
func readCertificate(certFile, keyFile string) (cert tls.Certificate, err error) {
	certText, err := os.ReadFile(certFile)
	if err != nil {
		return cert, err
	}
	keyText, err := os.ReadFile(keyFile)
	if err != nil {
		return cert, err
	}
	cert, err = tls.X509KeyPair(certText, keyText)
	switch {
	case err == nil:
		return cert, nil
	case !bytes.Contains(certText, []byte("-----BEGIN CERTIFICATE-----")):
		return cert, fmt.Errorf("%s holds no certificate in PEM", certFile)
	case bytes.Contains(keyText, []byte("ENCRYPTED")):
		return cert, fmt.Errorf("the key in %s is encrypted: give one that is not", keyFile)
	case !bytes.Contains(keyText, []byte("PRIVATE KEY-----")):
		return cert, fmt.Errorf("%s holds no private key in PEM", keyFile)
	case strings.Contains(err.Error(), "does not match"):
		return cert, fmt.Errorf("the key in %s is not that of the certificate in %s", keyFile, certFile)
	}
	return cert, fmt.Errorf("%s and %s: %s", certFile, keyFile, strings.TrimPrefix(err.Error(), "tls: "))
}

// get returns the certificate for a connection.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := time.Since(c.looked); since < 0 || since > certificatesFor {
		c.looked = time.Now()
		if c.looks() != c.seen {
			if err := c.read(); err != nil {
				c.logger.Error("not reloaded: the certificate", "error", err)
			} else {
				c.logger.Info("reloaded: the certificate has changed", "expires", c.current.Leaf.NotAfter)
			}
		}
	}
	return c.current, nil
}

// config returns the settings of TLS.
func (c *certificates) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

// leaf returns the certificate itself.
func (c *certificates) leaf() *x509.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current.Leaf
}

// expires returns when the certificate does, in Unix seconds.
func (c *certificates) expires() float64 { return float64(c.leaf().NotAfter.Unix()) }

// host returns a host that the certificate is for: an address that the server listens on, or its first name.
func (c *certificates) host(listened string) string {
	leaf := c.leaf()
	if ip := net.ParseIP(listened); ip != nil && !ip.IsUnspecified() && leaf.VerifyHostname(listened) == nil {
		return listened
	}
	if len(leaf.DNSNames) > 0 {
		return leaf.DNSNames[0]
	}
	if len(leaf.IPAddresses) > 0 {
		return leaf.IPAddresses[0].String()
	}
	return listened
}
