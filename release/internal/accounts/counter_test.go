package accounts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// defaultLimits are the limits of a release.
var defaultLimits = Limits{Tally: 1 << 18, Merge: 64}

// newCounter counts in a folder of its own.
func newCounter(t testing.TB, z Limits) *Counter {
	t.Helper()
	path := filepath.Join(t.TempDir(), "accounts")
	return NewCounter(z, func() (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) })
}

func check(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// counted adds the rows in tallies, and returns how often an account is in them.
func counted(a *Counter, tallies [][]string) (map[string]int64, error) {
	want := map[string]int64{}
	for _, names := range tallies {
		var t Tally
		for _, name := range names {
			t.Add([]byte(name), 1)
			want[name]++
		}
		if err := a.Add(&t); err != nil {
			return nil, err
		}
	}
	return want, a.Sort(context.Background())
}

// verify makes sure that the accounts behind the first ones are the wanted ones, each
// once and in ascending order.
func (a *Counter) verify(want map[string]int64, first int) error {
	names := slices.Sorted(maps.Keys(want))
	if a.count != int64(len(names)) {
		return fmt.Errorf("%d accounts, want %d", a.count, len(names))
	}
	names = names[first:]
	for got, err := range a.From(context.Background(), int64(first)) {
		if err != nil {
			return err
		}
		if len(names) == 0 || string(got.Name) != names[0] || got.Locations != want[names[0]] {
			return fmt.Errorf("%q has %d locations, want %q", got.Name, got.Locations, names[:min(1, len(names))])
		}
		names = names[1:]
	}
	if len(names) > 0 {
		return fmt.Errorf("%q is missing", names[0])
	}
	return nil
}

// However few accounts fit into memory, and however few runs are merged at a time, every
// account is counted as a map counts it, comes once, and in its order.
func TestAccounts(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		z := Limits{Tally: rapid.IntRange(1, 5).Draw(t, "tally"), Merge: rapid.IntRange(2, 4).Draw(t, "merge")}
		name := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00")), 0, 3, -1), rapid.String())
		tallies := rapid.SliceOf(rapid.SliceOf(name)).Draw(t, "tallies")
		a := NewCounter(z, func() (*os.File, error) { return os.CreateTemp(dir, "") })
		defer a.Close()
		want, err := counted(a, tallies)
		check(t, err)
		for range 2 { // it can be read again
			check(t, a.verify(want, rapid.IntRange(0, len(want)).Draw(t, "first")))
		}
	})
}

// A reader may stop.
func TestAccountsStop(t *testing.T) {
	for _, z := range []Limits{{Tally: 2, Merge: 3}, {Tally: 100, Merge: 3}} {
		a := newCounter(t, z)
		_, err := counted(a, [][]string{{"a", "b", "c", "d", "e"}})
		check(t, err)
		for range a.From(context.Background(), 2) {
			break
		}
		a.Close()
	}
}

// Runs of runs of runs: with one account in memory every row is a run, and an account that
// is in many is one.
func TestAccountsOfManyRuns(t *testing.T) {
	a := newCounter(t, Limits{Tally: 1, Merge: 4})
	defer a.Close()
	var tallies [][]string
	for range 300 {
		tallies = append(tallies, []string{fmt.Sprint("u", rand.IntN(20)), strings.Repeat("x", rand.IntN(1000))})
	}
	want, err := counted(a, tallies)
	check(t, err)
	if levels := len(a.spill.levels); levels != 0 {
		t.Errorf("%d levels are left", levels)
	}
	check(t, a.verify(want, 0))
}

// A sort that takes long can be ended.
func TestSortEnds(t *testing.T) {
	a := newCounter(t, Limits{Tally: 1, Merge: 3})
	defer a.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	var x Tally
	x.Add([]byte("ana"), 1)
	x.Add([]byte("ben"), 1)
	check(t, a.Add(&x))
	if err := a.Sort(ctx); err != enough {
		t.Errorf("got %v", err)
	}
}

// Long names go to the file before they take too much memory.
func TestLongNames(t *testing.T) {
	a := newCounter(t, defaultLimits)
	defer a.Close()
	const n = MostText/1000 + 10
	var x Tally
	for i := range n {
		x.Add(fmt.Appendf(nil, "%01000d", i), 1)
	}
	check(t, a.Add(&x))
	if a.spill == nil || a.tally.text > MostText {
		t.Errorf("%d bytes of names are in memory", a.tally.text)
	}
	check(t, a.Sort(context.Background()))
	if a.count != n {
		t.Errorf("%d accounts", a.count)
	}
}

// Planted: counters that count an account in two runs twice, or lose one, are caught.
func TestAccountsAreVerified(t *testing.T) {
	a := newCounter(t, Limits{Tally: 2, Merge: 3})
	defer a.Close()
	want, err := counted(a, [][]string{{"ana", "ben"}, {"cy", "ana"}, {"ana"}})
	check(t, err)
	if want["ana"] != 3 {
		t.Fatalf("ana has %d", want["ana"])
	}
	check(t, a.verify(want, 0))
	whole := a.whole
	for name, plant := range map[string]func(){
		"unmerged": func() {
			check(t, a.spill.add(a.spill.all(whole, 0)))
			check(t, a.spill.add(a.spill.all(whole, 2)))
			a.whole, err = a.spill.write(concat(a.spill, a.spill.levels[0]))
			check(t, err)
		},
		"one less":  func() { a.whole.accounts-- },
		"more":      func() { a.count++ },
		"one twice": func() { want["ana"]-- },
	} {
		a.whole, a.count, want["ana"] = whole, 3, 3
		plant()
		if a.verify(want, 0) == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// concat is a merge that does not merge.
func concat(s *spill, of []stretch) func(func(Account, error) bool) {
	return func(yield func(Account, error) bool) {
		for _, x := range of {
			for a, err := range s.all(x, 0) {
				if !yield(a, err) {
					return
				}
			}
		}
	}
}

// Errors of the disk name the file, on one line.
func TestSpillErrors(t *testing.T) {
	expect := func(name string, err error, want ...string) {
		t.Helper()
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v, want %s", name, err, text)
			}
		}
	}
	z := Limits{Tally: 2, Merge: 2}
	rows := [][]string{{"a", "b", "c", "d", "e"}}

	none := errors.New("no file")
	a := NewCounter(z, func() (*os.File, error) { return nil, none })
	if _, err := counted(a, rows); err != none {
		t.Errorf("got %v", err)
	}

	a = newCounter(t, z)
	defer a.Close()
	want, err := counted(a, rows)
	check(t, err)
	check(t, a.spill.file.Truncate(a.whole.start+a.whole.size-1))
	expect("truncated", a.verify(want, 0), a.spill.file.Name(), "unexpected EOF")
	check(t, a.spill.file.Truncate(a.whole.start))
	expect("empty", a.verify(want, 0), a.spill.file.Name(), "unexpected EOF")
	check(t, a.spill.file.Close())
	expect("closed", a.verify(want, 0), a.spill.file.Name(), "file already closed")
	if err := a.verify(want, 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v", err)
	}

	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no disk that is full: %v", err)
	}
	_, noSpace := full.Write([]byte{0}) // in the words of the system
	a = newCounter(t, z)
	a.spill = &spill{file: full, order: 2}
	defer a.Close()
	_, err = counted(a, rows)
	expect("full", err, "/dev/full", errors.Unwrap(noSpace).Error())
}

// BenchmarkAccounts counts a million accounts, in their order and scattered, in a file.
func BenchmarkAccounts(b *testing.B) {
	const n = 1 << 20
	for _, step := range []int{1, 7919} {
		b.Run(fmt.Sprint("step=", step), func(b *testing.B) {
			var tallies []*Tally
			for i := range n {
				if i%(1<<15) == 0 {
					tallies = append(tallies, new(Tally))
				}
				tallies[len(tallies)-1].Add(fmt.Appendf(nil, "user-%09d", i*step%n), 1)
			}
			for b.Loop() {
				a := newCounter(b, defaultLimits)
				for _, t := range tallies {
					check(b, a.Add(t))
				}
				check(b, a.Sort(context.Background()))
				for _, err := range a.From(context.Background(), 0) {
					if err != nil {
						b.Fatal(err)
					}
				}
				a.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/account")
		})
	}
}
