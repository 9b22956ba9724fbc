package ledger

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
)

// BenchmarkRelease charges a data set of a million rows, each of an account of its own,
// in batches: accounts in the order of the rows, or in none.
func BenchmarkRelease(b *testing.B) {
	const rows, batch = 1 << 20, 1 << 17
	for _, order := range []string{"ordered", "random"} {
		b.Run(order, func(b *testing.B) {
			var took time.Duration
			for range b.N {
				l := newFile(b)
				check(b, l.SetLimit("*", "m", budget.Max, 0))
				r, err := l.OpenRelease("1", ReleasePlan{})
				check(b, err)
				items := make([]Item, rows)
				for i := range items {
					n := uint64(i)
					if order == "random" {
						n = rand.Uint64() >> 20
					}
					items[i] = Item{fmt.Sprintf("account %014d", n), 1000, 1}
				}
				for i := 0; i < rows; i += batch {
					slices.SortFunc(items[i:i+batch], func(a, b Item) int { return cmp.Compare(a.Account, b.Account) })
				}
				begin := time.Now()
				for i := 0; i < rows; i += batch {
					check(b, r.Charge(int64(i+batch), "m", items[i:i+batch]))
				}
				took += time.Since(begin)
				check(b, l.Close())
			}
			b.ReportMetric(float64(rows)*float64(b.N)/took.Seconds(), "accounts/s")
		})
	}
}
