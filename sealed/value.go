package sealed

import (
	"encoding/binary"
	"errors"
)

// Sizes of a sealed value and of its parts, in bytes.
const (
	ValueSize = headerSize + contentsSize + tagSize

	headerSize   = 16 // column, session, counter
	contentsSize = 24 // account, data, 8 zeros
	tagSize      = 16
)

// A Value is a sealed value. The form, with big-endian numbers:
//
//	column   4 bytes
//	session  4 bytes
//	counter  8 bytes
//	sealed   AES-256-GCM of account (8 bytes), data (8 bytes) and 8 zeros, with the tag
//
// The nonce is 4 zeros and the counter. The first 16 bytes are the associated data.
type Value [ValueSize]byte

// A Header is the public part of a value. Session and Counter are the identity of its row.
type Header struct {
	Column, Session uint32
	Counter         uint64
}

// Contents are the secret part of a value.
type Contents struct {
	Account uint64 // number of the account that pays
	Data    Data
}

// Data are a reading or a location; the column says which.
type Data uint64

// OfReading returns a reading as data: a whole number of steps of its universe.
func OfReading(steps int64) Data { return Data(steps) }

// Reading returns the reading that the data are.
func (d Data) Reading() (steps int64) { return int64(d) }

// OfLocation returns a location as data, in units of 1e-7 degrees.
func OfLocation(lat, lon int32) Data { return Data(uint64(uint32(lat))<<32 | uint64(uint32(lon))) }

// Location returns the location that the data are, in units of 1e-7 degrees.
func (d Data) Location() (lat, lon int32) { return int32(d >> 32), int32(uint32(d)) }

// Errors of opening. Which of them a value gives depends on public facts only: its bytes and
// the owner's revocations and erasures.
var (
	// ErrValue says that bytes are no value of this database, whatever the reason is.
	ErrValue = errors.New("is not a value that was sealed for this database")

	// ErrRevoked says that the owner has revoked the value's session.
	ErrRevoked = errors.New("was sealed in a session that is revoked")

	// ErrErased says that the owner has erased the value's account.
	ErrErased = errors.New("belongs to an account that is erased")
)

// ParseHeader returns the header of a value. The error is ErrValue for bytes of another length.
func ParseHeader(value []byte) (Header, error) {
	if len(value) != ValueSize {
		return Header{}, ErrValue
	}
	return parseHeader(value), nil
}

// parseHeader returns the header at the beginning of b.
func parseHeader(b []byte) Header {
	return Header{
		Column: binary.BigEndian.Uint32(b), Session: binary.BigEndian.Uint32(b[4:]),
		Counter: binary.BigEndian.Uint64(b[8:]),
	}
}

// put writes a header to the beginning of b.
func (h Header) put(b []byte) {
	binary.BigEndian.PutUint32(b, h.Column)
	binary.BigEndian.PutUint32(b[4:], h.Session)
	binary.BigEndian.PutUint64(b[8:], h.Counter)
}

// put writes contents to the beginning of b.
func (c Contents) put(b []byte) {
	binary.BigEndian.PutUint64(b, c.Account)
	binary.BigEndian.PutUint64(b[8:], uint64(c.Data))
	clear(b[16:contentsSize])
}

// parseContents is the inverse of put. It reports false unless the spare bytes are 0.
func parseContents(b []byte) (Contents, bool) {
	spare := binary.BigEndian.Uint64(b[16:])
	return Contents{binary.BigEndian.Uint64(b), Data(binary.BigEndian.Uint64(b[8:]))}, spare == 0
}
