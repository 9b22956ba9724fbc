package sealed

import (
	"crypto/rand"
	mrand "math/rand/v2"
)

// Shuffle puts n things in an order drawn uniformly at random, by a generator that is
// cryptographically strong and that nobody knows the seed of. Swap exchanges things i and j. Sealers put rows in such an order,
// so that neither counters nor places tell where they stood.
func Shuffle(n int, swap func(i, j int)) {
	var seed [32]byte
	rand.Read(seed[:])
	mrand.New(mrand.NewChaCha8(seed)).Shuffle(n, swap)
}
