package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
)

// A DatabaseID is a number drawn at random for a sealed database.
type DatabaseID [16]byte

// A Session is the public record of a session: how the owner finds its key, and who has begun
// it. A database has a row for each. A session has its number from the database.
type Session struct {
	Number    uint32
	Key       KeyID  // of the owner's key that opens it
	Enc       []byte // of HPKE, 1,120 bytes
	Signer    ed25519.PublicKey
	Signature []byte // by the signer, of all the above and the database
}

// signed returns the text that the signer signs.
func (s *Session) signed(database DatabaseID) []byte {
	b := append([]byte("geosql session 1\x00"), database[:]...)
	b = binary.BigEndian.AppendUint32(b, s.Number)
	b = append(b, s.Key[:]...)
	return append(b, s.Enc...)
}

// info binds the key of a session to its database.
func info(database DatabaseID) []byte { return append([]byte("geosql sealed 1\x00"), database[:]...) }

// exporter is the context of the exported key.
const exporter = "geosql session key"

// newGCM returns the cipher of a session.
func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// A Sealer seals values in one session. It is not safe for concurrent use.
//
// # Nonces
//
// The key exists in this Sealer only, and nothing of it is kept. It uses each counter once, and
// counters are not stored either. So a collector that starts again, after a crash or from a copy
// of its files, begins another session, and no nonce is used twice under a key. A process that was
// forked gets an error. (A virtual machine that is resumed twice from one snapshot of its memory
// would use counters twice: do not take snapshots of a collector that is sealing.)
type Sealer struct {
	number  uint32
	counter uint64
	process int
	gcm     cipher.AEAD
	nonce   [12]byte
	plain   [contentsSize]byte
}

// NewSession begins a session of a database under the owner's public key. The number is one
// that the database has given to no other session; the signer is a key that its owner has
// enrolled.
func NewSession(owner PublicKey, database DatabaseID, number uint32, signer ed25519.PrivateKey) (*Sealer, *Session, error) {
	enc, sender, err := hpke.NewSender(owner.key, kdf, aead, info(database))
	if err != nil {
		return nil, nil, err
	}
	key, err := sender.Export(exporter, 32)
	if err != nil {
		return nil, nil, err
	}
	gcm, err := newGCM(key)
	clear(key)
	if err != nil {
		return nil, nil, err
	}
	s := &Session{Number: number, Key: owner.id, Enc: enc, Signer: signer.Public().(ed25519.PublicKey)}
	s.Signature = ed25519.Sign(signer, s.signed(database))
	return &Sealer{number: number, process: os.Getpid(), gcm: gcm}, s, nil
}

// Errors of sealing.
var (
	errForked = errors.New("a session cannot go on in another process: begin one there")
	errFull   = errors.New("a session has no counter left: begin another one")
	errColumn = errors.New("no column has the number 0")
)

// Seal sets a value to contents, sealed for a column with a number other than 0.
func (s *Sealer) Seal(v *Value, column uint32, c Contents) error {
	if column == accountColumn {
		return errColumn
	}
	c.put(s.plain[:])
	_, err := s.seal(v[:headerSize], column, s.plain[:])
	clear(s.plain[:])
	return err
}

// seal sets to to a header with the session's next counter, and appends plain, sealed under it.
// To has the length of a header.
func (s *Sealer) seal(to []byte, column uint32, plain []byte) ([]byte, error) {
	switch {
	case os.Getpid() != s.process:
		return nil, errForked
	case s.counter == math.MaxUint64:
		return nil, errFull
	}
	Header{column, s.number, s.counter}.put(to)
	copy(s.nonce[4:], to[8:headerSize])
	s.counter++
	return s.gcm.Seal(to, s.nonce[:], plain, to), nil
}

// Verify returns an error unless the session was begun for the database by its signer.
func (s *Session) Verify(database DatabaseID) error {
	if len(s.Signer) != ed25519.PublicKeySize || !ed25519.Verify(s.Signer, s.signed(database), s.Signature) {
		return fmt.Errorf("session %d is not signed by its collector for this database", s.Number)
	}
	return nil
}
