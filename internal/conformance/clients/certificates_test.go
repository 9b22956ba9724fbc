package clients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"time"
)

// makeCertificates makes ca.pem, a certificate for localhost that it has signed, server.pem with server.key, and
// other.pem, which has signed nothing.
func makeCertificates() error {
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
		}
	}
	authority := func(file string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		ca := template(file)
		ca.IsCA, ca.KeyUsage = true, x509.KeyUsageCertSign
		der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
		if err != nil {
			return nil, nil, err
		}
		return ca, key, writePEM(file, "CERTIFICATE", der)
	}
	ca, caKey, err := authority("ca.pem")
	if err != nil {
		return err
	}
	if _, _, err := authority("other.pem"); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leaf := template("localhost")
	leaf.DNSNames, leaf.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(writePEM("server.pem", "CERTIFICATE", der), writePEM("server.key", "PRIVATE KEY", secret))
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(shared(file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
