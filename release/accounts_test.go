package release

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

// newAccounts counts in a folder of its own.
func newAccounts(t testing.TB, z sizes) *accounts {
	t.Helper()
	return &accounts{path: filepath.Join(t.TempDir(), "accounts"), sizes: z}
}

// counted adds the rows in tallies, and returns how often an account is in them.
func counted(a *accounts, tallies [][]string) (map[string]int64, error) {
	want := map[string]int64{}
	for _, names := range tallies {
		var t tally
		for _, name := range names {
			t.add([]byte(name), 1)
			want[name]++
		}
		if err := a.add(&t); err != nil {
			return nil, err
		}
	}
	return want, a.sort(context.Background())
}

// verify makes sure that the accounts behind the first ones are those that are wanted, each
// once and in ascending order.
func (a *accounts) verify(want map[string]int64, first int) error {
	names := slices.Sorted(maps.Keys(want))
	if a.count != int64(len(names)) {
		return fmt.Errorf("%d accounts, want %d", a.count, len(names))
	}
	names = names[first:]
	for got, err := range a.behind(int64(first)) {
		if err != nil {
			return err
		}
		if len(names) == 0 || string(got.name) != names[0] || got.locations != want[names[0]] {
			return fmt.Errorf("%q has %d locations, want %q", got.name, got.locations, names[:min(1, len(names))])
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
		z := sizes{tally: rapid.IntRange(1, 5).Draw(t, "tally"), merge: rapid.IntRange(2, 4).Draw(t, "merge")}
		name := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00")), 0, 3, -1), rapid.String())
		tallies := rapid.SliceOf(rapid.SliceOf(name)).Draw(t, "tallies")
		a := &accounts{path: filepath.Join(dir, "accounts"), sizes: z}
		defer a.close()
		want, err := counted(a, tallies)
		check(t, err)
		for range 2 { // it can be read again
			check(t, a.verify(want, rapid.IntRange(0, len(want)).Draw(t, "first")))
		}
	})
}

// Whoever reads may stop.
func TestAccountsStop(t *testing.T) {
	for _, z := range []sizes{{tally: 2, merge: 3}, {tally: 100, merge: 3}} {
		a := newAccounts(t, z)
		_, err := counted(a, [][]string{{"a", "b", "c", "d", "e"}})
		check(t, err)
		for range a.behind(2) {
			break
		}
		a.close()
	}
}

// Runs of runs of runs: with one account in memory every row is a run, and an account that
// is in many is one.
func TestAccountsOfManyRuns(t *testing.T) {
	a := newAccounts(t, sizes{tally: 1, merge: 4})
	defer a.close()
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
	a := newAccounts(t, sizes{tally: 1, merge: 3})
	defer a.close()
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	var x tally
	x.add([]byte("ana"), 1)
	x.add([]byte("ben"), 1)
	check(t, a.add(&x))
	if err := a.sort(ctx); err != enough {
		t.Errorf("got %v", err)
	}
}

// Long names go to the file before they take too much memory.
func TestLongNames(t *testing.T) {
	a := newAccounts(t, usual)
	defer a.close()
	const n = mostText/1000 + 10
	var x tally
	for i := range n {
		x.add(fmt.Appendf(nil, "%01000d", i), 1)
	}
	check(t, a.add(&x))
	if a.spill == nil || a.tally.text > mostText {
		t.Errorf("%d bytes of names are in memory", a.tally.text)
	}
	check(t, a.sort(context.Background()))
	if a.count != n {
		t.Errorf("%d accounts", a.count)
	}
}

// Nor are they all in memory when they are charged.
func TestLongNamesAreCharged(t *testing.T) {
	dir := t.TempDir()
	s := newSpec(dir)
	const n = mostText/longestAccount + 10
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
	_, err := attempt(s, usual, openLedger(t, dir))
	check(t, err)
	if len(charged) != 3 || charged[1] > mostText/longestAccount+1 || charged[2] != n {
		t.Errorf("charged %v of %d", charged, n)
	}
}

// Planted: who counts an account that is in two runs twice, or loses one, is caught.
func TestAccountsAreVerified(t *testing.T) {
	a := newAccounts(t, sizes{tally: 2, merge: 3})
	defer a.close()
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
func concat(s *spill, of []stretch) func(func(account, error) bool) {
	return func(yield func(account, error) bool) {
		for _, x := range of {
			for a, err := range s.all(x, 0) {
				if !yield(a, err) {
					return
				}
			}
		}
	}
}

// The file has no name while it is used, nobody else may read it, and what a killed
// process may have left of it goes.
func TestSpillHasNoName(t *testing.T) {
	a := newAccounts(t, sizes{tally: 1, merge: 2})
	write(t, a.path, "left by a process that was killed")
	_, err := counted(a, [][]string{{"a", "b", "c"}})
	check(t, err)
	if exists(a.path) {
		t.Error("the file has a name")
	}
	if info, err := a.spill.file.Stat(); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	a.close()
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
	z := sizes{tally: 2, merge: 2}
	rows := [][]string{{"a", "b", "c", "d", "e"}}

	a := newAccounts(t, z)
	check(t, os.MkdirAll(filepath.Join(a.path, "in the way"), 0o700))
	_, err := counted(a, rows)
	expect("folder", err, a.path+": not a regular file")
	a.close()

	a = newAccounts(t, z)
	a.path = filepath.Join(a.path, "none", "accounts")
	_, err = counted(a, rows)
	expect("no folder", err, a.path, "no such file or directory")

	a = newAccounts(t, z)
	defer a.close()
	want, err := counted(a, rows)
	check(t, err)
	check(t, a.spill.file.Truncate(a.whole.start+a.whole.size-1))
	expect("truncated", a.verify(want, 0), a.path, "unexpected EOF")
	check(t, a.spill.file.Truncate(a.whole.start))
	expect("empty", a.verify(want, 0), a.path, "unexpected EOF")
	check(t, a.spill.file.Close())
	expect("closed", a.verify(want, 0), a.path, "file already closed")
	if err := a.verify(want, 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v", err)
	}

	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no disk that is full: %v", err)
	}
	a = newAccounts(t, z)
	a.spill = &spill{file: full, order: 2}
	defer a.close()
	_, err = counted(a, rows)
	expect("full", err, "/dev/full", "no space left on device")
}

// BenchmarkAccounts counts a million accounts, in their order and scattered, in a file.
func BenchmarkAccounts(b *testing.B) {
	const n = 1 << 20
	for _, step := range []int{1, 7919} {
		b.Run(fmt.Sprint("step=", step), func(b *testing.B) {
			var tallies []*tally
			for i := range n {
				if i%usual.batch == 0 {
					tallies = append(tallies, new(tally))
				}
				tallies[len(tallies)-1].add(fmt.Appendf(nil, "user-%09d", i*step%n), 1)
			}
			for b.Loop() {
				a := newAccounts(b, usual)
				for _, t := range tallies {
					check(b, a.add(t))
				}
				check(b, a.sort(context.Background()))
				for _, err := range a.behind(0) {
					if err != nil {
						b.Fatal(err)
					}
				}
				a.close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/account")
		})
	}
}
