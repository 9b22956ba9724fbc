package sealed

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"unicode/utf8"
)

// An Account is a database's record of an account that pays. The number is inside of values,
// and the pseudonym stands beside them. Neither tells the name to anybody but its maker
// and the owner, to whom [Sealer.SealAccount] tells it.
type Account struct {
	Number    uint64
	Pseudonym string // 16 hexadecimal digits
}

// NewAccount draws a number and a pseudonym at random.
func NewAccount() Account {
	var b [16]byte
	rand.Read(b[:])
	return newAccount(b[:])
}

// AccountOf returns the number and the pseudonym that a collector gives to a name which the
// owner has not given it. They are the same whenever the collector starts again, and differ from
// those of other collectors and databases. Only its signing key tells which name they belong to.
func AccountOf(signer ed25519.PrivateKey, database DatabaseID, name string) (Account, error) {
	key, err := hkdf.Key(sha256.New, signer.Seed(), database[:], "geosql accounts", sha256.Size)
	if err != nil {
		return Account{}, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(name))
	return newAccount(mac.Sum(nil)), nil
}

// newAccount makes an account of 16 bytes.
func newAccount(b []byte) Account {
	return Account{binary.BigEndian.Uint64(b), hex.EncodeToString(b[8:16])}
}

// The account's number and name are sealed as one. The plaintext has the number, the length
// of the name in 2 bytes, the name, and zeros up to a multiple of accountBlock, so that its
// length tells little about the name's. Column 0 stands for accounts.
const (
	accountColumn = 0
	accountHead   = 8 + 2
	accountBlock  = 64
)

// MaxAccountName is the most bytes that the name of an account can have.
const MaxAccountName = math.MaxUint16

var errLongName = errors.New("the name of an account has more than 65535 bytes")

// CheckAccountName refuses texts that cannot be the name of an account.
func CheckAccountName(name string) error {
	switch {
	case name == "*":
		return errors.New("'*' stands for every account and is none")
	case !utf8.ValidString(name):
		return errors.New("the name of an account is not UTF-8 text")
	case len(name) > MaxAccountName:
		return errLongName
	}
	return nil
}

// SealAccount tells the owner the name that belongs to a number.
func (s *Sealer) SealAccount(number uint64, name string) ([]byte, error) {
	if len(name) > MaxAccountName {
		return nil, errLongName
	}
	size := (accountHead + len(name) + accountBlock - 1) / accountBlock * accountBlock
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, size), number)
	plain = binary.BigEndian.AppendUint16(plain, uint16(len(name)))
	plain = append(plain, name...)
	return s.seal(make([]byte, headerSize, headerSize+size+tagSize), accountColumn, plain[:size])
}

// OpenAccount opens the result of SealAccount. The error is ErrValue or ErrRevoked.
func (r *Reader) OpenAccount(sealed []byte) (number uint64, name string, err error) {
	if len(sealed) < headerSize+accountBlock+tagSize {
		return 0, "", ErrValue
	}
	h := parseHeader(sealed)
	if h.Column != accountColumn {
		return 0, "", ErrValue
	}
	plain, err := r.open(nil, h, sealed)
	if err != nil {
		return 0, "", err
	}
	length := int(binary.BigEndian.Uint16(plain[8:]))
	if length > len(plain)-accountHead {
		return 0, "", ErrValue
	}
	return binary.BigEndian.Uint64(plain), string(plain[accountHead : accountHead+length]), nil
}
