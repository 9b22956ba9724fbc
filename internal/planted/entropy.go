//go:build planted

package planted

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"io"
	mathrand "math/rand/v2"
	"sync"
)

// Entropy returns random numbers that follow from a seed.
func Entropy(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return mathrand.NewChaCha8(key)
}

// Pool is random numbers that all connections of a process buffer together.
var Pool io.Reader = &pool{}

type pool struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// poolSize is enough for all draws of an audit in a forked process.
const poolSize = 1 << 22

// Read reads from the buffer, which is filled at the first read and when it is empty.
func (p *pool) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buf.Len() == 0 {
		if _, err := io.CopyN(&p.buf, rand.Reader, poolSize); err != nil {
			return 0, err
		}
	}
	return p.buf.Read(b)
}
