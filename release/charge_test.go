package release

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/accounts"
)

// Accounts with long names are not all in memory when they are charged.
func TestLongNamesAreCharged(t *testing.T) {
	dir := t.TempDir()
	s := newSpec(dir)
	const n = accounts.MostText/longestAccount + 10
	var b strings.Builder
	b.WriteString("user,lat,lon\n")
	for i := range n {
		fmt.Fprintf(&b, "%0*d,48.85,2.35\n", longestAccount, i)
	}
	write(t, s.In, b.String())
	var charged []int64
	s.Progress = func(p Progress) {
		if p.Stage == Charging {
			charged = append(charged, p.Done)
		}
	}
	_, err := attempt(s, defaultSizes, openLedger(t, dir))
	check(t, err)
	if len(charged) != 3 || charged[1] > accounts.MostText/longestAccount+1 || charged[2] != n {
		t.Errorf("charged %v of %d", charged, n)
	}
}

// A file of that name that is written is not taken away.
func TestSpillTakesNothing(t *testing.T) {
	dir := t.TempDir()
	s := newSpec(dir)
	write(t, s.In, people(300, 40))
	s.Rejects = s.Out + ".accounts"
	l := openLedger(t, dir)
	if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "is writing it") {
		t.Errorf("got %v", err)
	}
	if all := spent(t, l); len(all) > 0 {
		t.Errorf("charged %v", all)
	}
	wantFolder(t, dir, "in.csv")
}

// Items that are read ahead are the same, up to an error. A reader that stops has them read no further.
func TestAhead(t *testing.T) {
	failure := errors.New("disk")
	for _, n := range []int{0, 1, inStretch - 1, inStretch, 3*inStretch + 5, (stretches + 3) * inStretch} {
		for _, end := range []error{nil, failure} {
			reading := false
			items := ahead(t.Context(), func(yield func(ledger.Item, error) bool) {
				reading = true
				defer func() { reading = false }()
				for i := range n {
					if !yield(ledger.Item{Account: fmt.Sprint(i), Evaluations: int64(i)}, nil) {
						return
					}
				}
				if end != nil {
					yield(ledger.Item{}, end)
				}
			})
			for _, most := range []int{0, 1, n / 2, n + 1} {
				got, err := taken(t, items, most)
				if reading {
					t.Errorf("%d of %d items: they are still being read", most, n)
				}
				if got != min(most, n) || most > n && err != end {
					t.Errorf("%d of %d items: got %d and %v, want %v", most, n, got, err, end)
				}
			}
		}
	}
}

// taken takes so many items at most, and returns how many there were.
func taken(t *testing.T, items iter.Seq2[ledger.Item, error], most int) (n int, err error) {
	t.Helper()
	for item, err := range items {
		if n == most || err != nil {
			return n, err
		}
		if item.Account != fmt.Sprint(n) || item.Evaluations != int64(n) {
			t.Fatalf("item %d is %v", n, item)
		}
		n++
	}
	return n, nil
}
