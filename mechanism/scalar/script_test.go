package scalar

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
)

// pseudorandom is an endless and repeatable reader.
func pseudorandom(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}
