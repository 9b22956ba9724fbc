package engines_test

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/ledger"
)

// BenchmarkMove moves a ledger of 100,000 entries of as many accounts to a server and back.
func BenchmarkMove(b *testing.B) {
	path, url := ends(b)
	l := open(b, path, true)
	check(b, l.SetLimit("*", "m", one, 0))
	items := make([]ledger.Item, 100_000)
	for i := range items {
		items[i] = ledger.Item{Account: fmt.Sprintf("a%06d", i), Epsilon: 1, Evaluations: 1}
	}
	check(b, l.Charge("dx_sum", "m", items))
	check(b, l.Close())
	for b.Loop() {
		_, err := move(path, url)
		check(b, err)
		_, err = move(url, path)
		check(b, err)
	}
}
