package file

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
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

// BenchmarkReleaseMany charges accounts in one transaction, as a release does, again and again.
func BenchmarkReleaseMany(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint("accounts=", n), func(b *testing.B) {
			l := newFile(b)
			check(b, l.SetLimit("*", "m", budget.Max, 0))
			_, items := manyAccounts(n, 1000)
			slices.SortFunc(items, func(x, y ledger.Item) int { return cmp.Compare(x.Account, y.Account) })
			batch := bareBatch(b, items)
			releases := 0
			var v versus
			for b.Loop() {
				releases++
				r, err := l.OpenRelease(fmt.Sprint(releases), ledger.ReleasePlan{})
				check(b, err)
				v.turn(func() { check(b, r.Charge("m", items)) }, batch)
			}
			v.reportTime(b)
		})
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
