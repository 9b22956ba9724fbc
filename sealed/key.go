package sealed

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/pem"
	"errors"
)

// The suite of HPKE: an adversary who breaks X25519 or ML-KEM-768 but not both opens nothing.
// HPKE itself encrypts nothing here; the session's key is exported from it.
var (
	kem  = hpke.MLKEM768X25519()
	kdf  = hpke.HKDFSHA256()
	aead = hpke.ExportOnly()
)

// A KeyID tells keys apart: the first 8 bytes of the SHA-256 hash of a public key.
type KeyID [8]byte

// A PublicKey seals for the holder of the private key, and verifies its signatures. It is
// immutable and safe for concurrent use.
type PublicKey struct {
	key      hpke.PublicKey
	verifier ed25519.PublicKey
	id       KeyID
}

// A PrivateKey opens values sealed with its public key, and signs. It is immutable and safe for
// concurrent use.
type PrivateKey struct {
	key    hpke.PrivateKey
	signer ed25519.PrivateKey
	public PublicKey
}

// GenerateKey returns a new key of the operating system's entropy.
func GenerateKey() (*PrivateKey, error) {
	key, err := kem.GenerateKey()
	if err != nil {
		return nil, err
	}
	return newPrivateKey(key)
}

// signingKey is the context in which the seed of the signing key is derived from a private key.
const signingKey = "geosql signing key"

// newPrivateKey adds to a key the one that signs, which HKDF derives from it.
func newPrivateKey(key hpke.PrivateKey) (*PrivateKey, error) {
	b, err := key.Bytes()
	if err != nil {
		return nil, err
	}
	seed, err := hkdf.Key(sha256.New, b, nil, signingKey, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	signer := ed25519.NewKeyFromSeed(seed)
	return &PrivateKey{key, signer, newPublicKey(key.PublicKey(), signer.Public().(ed25519.PublicKey))}, nil
}

func newPublicKey(key hpke.PublicKey, verifier ed25519.PublicKey) PublicKey {
	k := PublicKey{key: key, verifier: verifier}
	hash := sha256.Sum256(k.Bytes())
	k.id = KeyID(hash[:8])
	return k
}

// NewPublicKey returns the public key that Bytes has serialised.
func NewPublicKey(b []byte) (PublicKey, error) {
	end := len(b) - ed25519.PublicKeySize
	if end < 0 {
		return PublicKey{}, errPublicKey
	}
	key, err := kem.NewPublicKey(b[:end])
	if err != nil {
		return PublicKey{}, errPublicKey
	}
	return newPublicKey(key, b[end:]), nil
}

// NewPrivateKey returns the private key that Bytes has serialised.
func NewPrivateKey(b []byte) (*PrivateKey, error) {
	key, err := kem.NewPrivateKey(b)
	if err != nil {
		return nil, errPrivateKey
	}
	return newPrivateKey(key)
}

// Bytes returns the serialised private key. Anybody who reads it can open every value.
func (k *PrivateKey) Bytes() ([]byte, error) { return k.key.Bytes() }

// Bytes returns the serialised public key: that of HPKE and that of Ed25519.
func (k PublicKey) Bytes() []byte { return append(k.key.Bytes(), k.verifier...) }

// Public returns the public half.
func (k *PrivateKey) Public() PublicKey { return k.public }

// Signer returns the key that signs sessions.
func (k *PrivateKey) Signer() ed25519.PrivateKey { return k.signer }

// Verifier returns the key that verifies signatures of the private key.
func (k PublicKey) Verifier() ed25519.PublicKey { return k.verifier }

// ID returns the identity of the key.
func (k PublicKey) ID() KeyID { return k.id }

// Labels of the files of keys.
const (
	privateLabel   = "GEOSQL PRIVATE KEY"
	encryptedLabel = "GEOSQL ENCRYPTED PRIVATE KEY"
	publicLabel    = "GEOSQL PUBLIC KEY"
)

// MarshalText returns the private key in PEM. Anybody who reads it can open every value.
func (k *PrivateKey) MarshalText() ([]byte, error) {
	b, err := k.key.Bytes()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: privateLabel, Bytes: b}), nil
}

// MarshalText returns the public key in PEM. It never fails.
func (k PublicKey) MarshalText() ([]byte, error) {
	return pem.EncodeToMemory(&pem.Block{Type: publicLabel, Bytes: k.Bytes()}), nil
}

// Errors of reading keys. They show nothing of the text.
var (
	// ErrPassphrase says that a key is encrypted, and that the passphrase is missing or wrong.
	ErrPassphrase = errors.New("is encrypted, and the passphrase is missing or wrong")

	errPrivateKey = errors.New("is not a private key of geosql")
	errPublicKey  = errors.New("is not a public key of geosql")
	errSecret     = errors.New("is a private key, for nobody but its owner: give its public half")
)

// ParsePrivateKey returns the private key that a text holds. If it is encrypted, passphrase is
// called for the passphrase; nil stands for none.
func ParsePrivateKey(text []byte, passphrase func() ([]byte, error)) (*PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || len(block.Headers) > 0 || len(rest) > 0 {
		return nil, errPrivateKey
	}
	b := block.Bytes
	switch block.Type {
	case privateLabel:
	case encryptedLabel:
		if passphrase == nil {
			return nil, ErrPassphrase
		}
		words, err := passphrase()
		if err != nil {
			return nil, err
		}
		if b, err = decrypt(b, words); err != nil {
			return nil, err
		}
	default:
		return nil, errPrivateKey
	}
	return NewPrivateKey(b)
}

// ParsePublicKey returns the public key that a text holds.
func ParsePublicKey(text []byte) (PublicKey, error) {
	block, rest := pem.Decode(text)
	switch {
	case block != nil && (block.Type == privateLabel || block.Type == encryptedLabel):
		return PublicKey{}, errSecret
	case block == nil || block.Type != publicLabel || len(block.Headers) > 0 || len(rest) > 0:
		return PublicKey{}, errPublicKey
	}
	return NewPublicKey(block.Bytes)
}
