package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

// The names of the mechanisms that a client may choose from.
const (
	mechanism     = "SCRAM-SHA-256"
	mechanismPlus = "SCRAM-SHA-256-PLUS"
)

// DefaultIterations is how often a password is hashed unless the caller says otherwise; PostgreSQL's number.
const DefaultIterations = 4096

// saltSize is the size of all salts. A different size for unknown users would tell them apart.
const saltSize = 16

// A Verifier verifies a password without knowing it (RFC 5803).
type Verifier struct {
	Iterations int
	Salt       []byte
	StoredKey  []byte
	ServerKey  []byte
}

// NewVerifier returns the verifier of a password, with a fresh salt.
func NewVerifier(password string, iterations int) (Verifier, error) {
	if password == "" {
		return Verifier{}, errors.New("the password is empty")
	}
	if iterations < DefaultIterations {
		return Verifier{}, fmt.Errorf("%d iterations are fewer than %d", iterations, DefaultIterations)
	}
	salt := make([]byte, saltSize)
	rand.Read(salt)
	stored, err := credentials(password, scram.KeyFactors{Salt: string(salt), Iters: iterations})
	if err != nil {
		return Verifier{}, err
	}
	return Verifier{Iterations: iterations, Salt: salt, StoredKey: stored.StoredKey, ServerKey: stored.ServerKey}, nil
}

// credentials returns the server's credentials for a password.
func credentials(password string, factors scram.KeyFactors) (scram.StoredCredentials, error) {
	// Clients take a password as it is if it has characters that SASLprep prohibits.
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		if client, err = scram.SHA256.NewClientUnprepped("", password, ""); err != nil {
			return scram.StoredCredentials{}, err
		}
	}
	return client.GetStoredCredentialsWithError(factors)
}

// Fits reports whether the verifier is that of a password. It is for servers that are given the password itself, as by a
// web page. Its time depends on the password and the number of iterations only.
func (v Verifier) Fits(password string) bool {
	stored, err := credentials(password, scram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations})
	return err == nil && hmac.Equal(stored.StoredKey, v.StoredKey)
}

// Equal reports whether two verifiers are the same. Two made from one password are not: each has its own salt.
func (v Verifier) Equal(other Verifier) bool { return v.String() == other.String() }

// String returns the verifier in the form that PostgreSQL stores: SCRAM-SHA-256$iterations:salt$stored:server.
func (v Verifier) String() string {
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d:%s$%s:%s", mechanism, v.Iterations, text(v.Salt), text(v.StoredKey), text(v.ServerKey))
}

// ParseVerifier reads the form of String.
func ParseVerifier(s string) (Verifier, error) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '$' || r == ':' })
	if len(parts) != 5 || parts[0] != mechanism {
		return Verifier{}, errors.New("this is not a verifier of " + mechanism)
	}
	iterations, err := strconv.Atoi(parts[1])
	if err != nil || iterations < 1 {
		return Verifier{}, errors.New("the verifier has a wrong number of iterations")
	}
	v := Verifier{Iterations: iterations}
	for i, field := range []*[]byte{&v.Salt, &v.StoredKey, &v.ServerKey} {
		if *field, err = base64.StdEncoding.DecodeString(parts[2+i]); err != nil {
			return Verifier{}, errors.New("the verifier is not in base64")
		}
	}
	if len(v.StoredKey) != sha256.Size || len(v.ServerKey) != sha256.Size {
		return Verifier{}, errors.New("the verifier has keys of a wrong size")
	}
	return v, nil
}

// MarshalText returns the form of String. It never fails.
func (v Verifier) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the form of String.
func (v *Verifier) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVerifier(string(text))
	return err
}

// mockVerifier returns the verifier for a user who does not exist. Its salt is the same every time,
// as that of a real user is, and no password fits it.
func mockVerifier(secret []byte, user string, iterations int) Verifier {
	derive := func(what string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte("geosql mock " + what + "\x00" + user))
		return mac.Sum(nil)
	}
	return Verifier{
		Iterations: iterations,
		Salt:       derive("salt")[:saltSize],
		StoredKey:  derive("stored"),
		ServerKey:  derive("server"),
	}
}

// conversation begins a SCRAM exchange about the verifier. The binding is empty if the connection has none.
func (v Verifier) conversation(binding scram.ChannelBinding) (*scram.ServerConversation, error) {
	// The name in the exchange is ignored: clients leave it empty, since the startup packet has one.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return scram.StoredCredentials{
			KeyFactors: scram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations},
			StoredKey:  v.StoredKey,
			ServerKey:  v.ServerKey,
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return server.NewConversationWithChannelBinding(binding), nil
}
