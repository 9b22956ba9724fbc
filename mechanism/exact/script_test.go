package exact_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"

	"github.com/geosql/geosql/mechanism/exact"
)

// fixed is an endless reader of one byte.
type fixed byte

func (f fixed) Read(p []byte) (int, error) {
	p[0] = byte(f)
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
	return len(p), nil
}

const zeros, ones = fixed(0), fixed(0xff)

// script is a Source which reads head and then rest.
func script(head []byte, rest io.Reader) *exact.Source {
	return exact.NewSource(io.MultiReader(bytes.NewReader(head), rest))
}

// pseudorandom is an endless and repeatable reader.
func pseudorandom(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

// must unwraps a result which cannot fail in the test at hand.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
