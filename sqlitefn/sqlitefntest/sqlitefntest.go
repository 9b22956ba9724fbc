// Package sqlitefntest lets the tests of a program get the same answers in each run. Its answers can be predicted, and
// protect nobody: only ledgers of tests are charged for them, and geosql_version() says so.
package sqlitefntest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sqlitefn"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// WithSeed returns an option for [sqlitefn.Connector], [sqlitefn.Register] and others: the connections draw from a seed, and
// charge one ledger in memory, wherever theirs would be. It lasts as long as the test. Every connection draws the same from its
// beginning, so a test of a pool that wants the same answers calls SetMaxOpenConns(1). A database that was charged
// to another ledger is refused, and so is this one afterwards.
func WithSeed(t testing.TB, seed uint64) sqlitefn.Option {
	t.Helper()
	l, err := file.OpenMemory("", file.ForTests())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(o *frame.Options) { o.Test = seeded{fmt.Sprint(seed), l.ID()} }
}

// seeded is the test of sessions that draw from a seed.
type seeded struct{ seed, ledger string }

func (s seeded) Entropy() io.Reader { return rand.NewChaCha8(sha256.Sum256([]byte(s.seed))) }

func (s seeded) Ledger() string { return s.ledger }
