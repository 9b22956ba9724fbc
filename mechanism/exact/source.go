package exact

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// bufferSize is large enough to hide the cost of a call into the kernel and a
// multiple of 8, so that no word straddles two buffers when only Uint64 is
// used.
const bufferSize = 4096

// A Source hands out fair bits from a buffer of entropy; nothing is derived,
// stretched or reused, and bytes are erased as they are consumed.
//
// A Source is not safe for concurrent use: keep one per goroutine or database
// connection. It must not be carried across a fork either, since parent and
// child would then share the bits already buffered.
//
// Every method that needs bits panics with an [*EntropyError] if the entropy
// fails: there is no draw to fall back on.
type Source struct {
	buf     [bufferSize]byte
	next    int    // buf[:next] is consumed and erased
	pool    uint64 // unread single bits, the next one on top
	pooled  int    // number of bits in pool
	entropy io.Reader
	reads   int // how many bytes it reads at a time

	// certify makes integer arithmetic decide every comparison, on the very bits
	// that float64 found sufficient. Only tests set it.
	certify bool
}

// NewSource returns a Source that reads from entropy, or from [crypto/rand.Reader]
// if entropy is nil, but under WebAssembly. It reads nothing before the first draw.
func NewSource(entropy io.Reader) *Source {
	if entropy == nil {
		entropy = system
	}
	return &Source{entropy: entropy, next: bufferSize, reads: bufferSize}
}

// NewSmallSource returns a Source for a draw or two at a time, after which [Source.Erase] forgets the rest: it reads 256
// bytes at a time.
func NewSmallSource(entropy io.Reader) *Source {
	s := NewSource(entropy)
	s.reads = 256
	return s
}

// Erase forgets all bits that were read and are not used.
func (s *Source) Erase() {
	clear(s.buf[:])
	s.next, s.pool, s.pooled = bufferSize, 0, 0
}

// An EntropyError is the panic value of a draw whose entropy failed.
type EntropyError struct {
	Err error // of the reader
}

func (e *EntropyError) Error() string { return fmt.Sprintf("entropy failed: %v", e.Err) }

// Unwrap returns the reader's error.
func (e *EntropyError) Unwrap() error { return e.Err }

// fill replaces a consumed buffer.
func (s *Source) fill() {
	if _, err := io.ReadFull(s.entropy, s.buf[bufferSize-s.reads:]); err != nil {
		panic(&EntropyError{Err: err})
	}
	s.next = bufferSize - s.reads
}

// Uint32 returns 32 fair bits.
func (s *Source) Uint32() uint32 {
	if s.next > bufferSize-4 {
		s.fill()
	}
	b := (*[4]byte)(s.buf[s.next:])
	w := binary.BigEndian.Uint32(b[:])
	*b = [4]byte{}
	s.next += 4
	return w
}

// Uint64 returns 64 fair bits, the same as two calls of Uint32 with the first
// one on top.
func (s *Source) Uint64() uint64 {
	if s.next > bufferSize-8 {
		return uint64(s.Uint32())<<32 | uint64(s.Uint32())
	}
	b := (*[8]byte)(s.buf[s.next:])
	w := binary.BigEndian.Uint64(b[:])
	*b = [8]byte{}
	s.next += 8
	return w
}

// lengthen returns 64 fair bits that begin with the n <= 32 bits of w. Others are read.
func (s *Source) lengthen(w uint32, n int) uint64 {
	if n == 32 {
		return uint64(w)<<32 | uint64(s.Uint32())
	}
	return uint64(w)<<(64-n) | s.Uint64()>>n
}

// Bool returns one fair bit. Bits are drawn 64 at a time and kept apart from
// the words of the other methods.
func (s *Source) Bool() bool {
	if s.pooled == 0 {
		s.pool, s.pooled = s.Uint64(), 64
	}
	bit := s.pool >> 63
	s.pool <<= 1
	s.pooled--
	return bit != 0
}

// Below returns an integer uniform on 0, .., n-1, for n >= 1.
//
// This is Lemire's multiply-shift (Fast Random Integer Generation in an
// Interval, 2019): the high word of a 128-bit product, redrawn for the 2^64
// mod n low words that would favour some results.
func (s *Source) Below(n uint64) uint64 {
	high, low := bits.Mul64(s.Uint64(), n)
	if low < n {
		excess := -n % n // 2^64 mod n
		for low < excess {
			high, low = bits.Mul64(s.Uint64(), n)
		}
	}
	return high
}
