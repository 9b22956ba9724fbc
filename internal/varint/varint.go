// Package varint reads binary forms that are made of varints of encoding/binary, bytes and numbers of fixed size. Start at Reader.
package varint

import (
	"encoding/binary"
	"math"
)

// A Reader reads a binary form from its beginning. After a failure nothing is left, and it reads zeros.
type Reader struct {
	rest   []byte
	failed bool
}

// New returns a reader of a binary form.
func New(data []byte) *Reader { return &Reader{rest: data} }

// Failed reports whether a number or bytes were missing, or a requirement was not met.
func (r *Reader) Failed() bool { return r.failed }

// Require makes the reader fail unless the data are as they must be.
func (r *Reader) Require(ok bool) {
	if !ok {
		r.rest, r.failed = nil, true
	}
}

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.rest) }

// Uvarint reads the form of [binary.AppendUvarint].
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	return passed(r, v, n)
}

// Varint reads the form of [binary.AppendVarint].
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.rest)
	return passed(r, v, n)
}

// passed passes over n bytes, which held v unless n is 0 or less.
func passed[T int64 | uint64](r *Reader, v T, n int) T {
	if n <= 0 {
		r.Require(false)
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Below reads a number as Uvarint does. It must be below a limit.
func (r *Reader) Below(limit uint64) uint64 {
	v := r.Uvarint()
	if v >= limit {
		r.Require(false)
		return 0
	}
	return v
}

// Bytes reads n bytes, which are part of the data.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.Require(false)
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Float64 reads 8 bytes, IEEE 754 big-endian.
func (r *Reader) Float64() float64 {
	if b := r.Bytes(8); b != nil {
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}
