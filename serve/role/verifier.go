package role

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Verifier is what SCRAM-SHA-256 (RFC 5802, RFC 7677) keeps of a password, in the form that
// PostgreSQL stores: SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey. Whoever has it can try
// passwords, and can pass for the server, and cannot log in.
type Verifier string

const (
	scheme     = "SCRAM-SHA-256"
	iterations = 4096 // clients compute them at each login, and PostgreSQL's default
	saltSize   = 16
)

// Secret are the parts of a Verifier.
type Secret struct {
	Iterations           int
	Salt                 []byte
	StoredKey, ServerKey []byte
}

// NewVerifier returns the verifier of a password with a salt drawn at random. The password is
// printable ASCII: others would have to be prepared in the same way by every client (SASLprep).
func NewVerifier(password string) (Verifier, error) {
	if password == "" {
		return "", errors.New("the password is empty")
	}
	for _, c := range []byte(password) {
		if c < ' ' || c > '~' {
			return "", errors.New("a password may have printable ASCII characters only")
		}
	}
	salt := make([]byte, saltSize)
	rand.Read(salt)
	return newVerifier(password, salt)
}

func newVerifier(password string, salt []byte) (Verifier, error) {
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	text := base64.StdEncoding.EncodeToString
	return Verifier(fmt.Sprintf("%s$%d:%s$%s:%s", scheme, iterations, text(salt), text(stored[:]), text(mac(salted, "Server Key")))), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

var errVerifier = errors.New("is not a verifier of SCRAM-SHA-256")

// Parse returns the parts of a verifier.
func (v Verifier) Parse() (s Secret, err error) {
	parts := strings.Split(string(v), "$")
	if len(parts) != 3 || parts[0] != scheme {
		return s, errVerifier
	}
	count, salt, ok := strings.Cut(parts[1], ":")
	stored, server, ok2 := strings.Cut(parts[2], ":")
	if !ok || !ok2 {
		return s, errVerifier
	}
	if s.Iterations, err = strconv.Atoi(count); err != nil || s.Iterations < 1 {
		return s, errVerifier
	}
	for _, part := range []struct {
		text string
		to   *[]byte
		size int // 0 stands for any
	}{{salt, &s.Salt, 0}, {stored, &s.StoredKey, sha256.Size}, {server, &s.ServerKey, sha256.Size}} {
		if *part.to, err = base64.StdEncoding.DecodeString(part.text); err != nil || part.size > 0 && len(*part.to) != part.size {
			return s, errVerifier
		}
	}
	return s, nil
}
