package release

import (
	"fmt"
	"strings"
	"testing"

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
