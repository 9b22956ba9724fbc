package file

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// BenchmarkRelease asks a million accounts whether they can pay for a data set, and charges
// them for it: when the ledger knows none of them, and when it knows all.
func BenchmarkRelease(b *testing.B) {
	const accounts, most = 1 << 20, 1 << 17
	items := make([]ledger.Item, accounts)
	for i := range items {
		items[i] = ledger.Item{Account: fmt.Sprintf("account %014d", i), Epsilon: 1000, Evaluations: 1}
	}
	var took [2]struct{ asking, charging time.Duration }
	for range b.N {
		l := newFile(b)
		check(b, l.SetLimit("*", "m", budget.Max, 0))
		for again := range took {
			r, err := l.OpenRelease(fmt.Sprint(again), ledger.ReleasePlan{})
			check(b, err)
			begin := time.Now()
			check(b, l.CannotPay("m", withoutError(items), nil, func(item ledger.Item, _ ledger.Standing) {
				b.Errorf("%s cannot pay", item.Account)
			}))
			middle := time.Now()
			for i := 0; i < accounts; i += most {
				check(b, r.Charge("m", items[i:i+most]))
			}
			took[again].asking += middle.Sub(begin)
			took[again].charging += time.Since(middle)
		}
		check(b, l.Close())
	}
	for again, name := range []string{"first", "again"} {
		each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N) / accounts }
		b.ReportMetric(each(took[again].asking), "ns/ask-"+name)
		b.ReportMetric(each(took[again].charging), "ns/charge-"+name)
	}
}

// withoutError returns a sequence of items.
func withoutError(items []ledger.Item) iter.Seq2[ledger.Item, error] {
	return func(yield func(ledger.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}
