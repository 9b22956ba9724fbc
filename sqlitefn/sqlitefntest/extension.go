//go:build geosql_test

package sqlitefntest

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/geosql/geosql/sqlitefn"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// Extension returns the option of the test build of the extension. An empty seed stands for 1. Its ledgers are where others are.
// At its first release each connection warns on standard error.
func Extension(seed string) sqlitefn.Option {
	return func(o *frame.Options) { o.Test = announced{seeded{seed: cmp.Or(seed, "1")}} }
}

// announced is the test of sessions that warn.
type announced struct{ seeded }

func (a announced) Entropy() io.Reader { return &announcement{Reader: a.seeded.Entropy()} }

// An announcement is entropy, which nobody reads before the first release.
type announcement struct {
	io.Reader
	said bool
}

func (a *announcement) Read(b []byte) (int, error) {
	if !a.said {
		a.said = true
		fmt.Fprintln(os.Stderr, "geosql: this is the build for tests: answers can be predicted and are not private")
	}
	return a.Reader.Read(b)
}
