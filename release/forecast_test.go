package release

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/ledger"
)

func dryRun(s Spec, l ledger.Ledger) (*Forecast, error) {
	return (&run{spec: &s, sizes: small, ledger: l, dry: true}).forecast(context.Background())
}

func withCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

// sealWithoutName leaves a release that is sealed and could not get its name.
func sealWithoutName(t *testing.T, s Spec, l ledger.Ledger) {
	t.Helper()
	s.Progress = func(p Progress) {
		if p.Stage == Publishing {
			check(t, os.MkdirAll(filepath.Join(reportPath(s.Out), "in the way"), 0o700))
		}
	}
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "complete and sealed") {
		t.Fatalf("got %v", err)
	}
	check(t, os.RemoveAll(reportPath(s.Out)))
}

// state is all that a dry run must leave as it is: the files beside the ledger with their
// modes, times and content, and the ledger's head and balances.
func state(t *testing.T, dir string, l ledger.Ledger) string {
	t.Helper()
	var b strings.Builder
	for _, name := range inFolder(t, dir) {
		info, err := os.Lstat(filepath.Join(dir, name))
		check(t, err)
		text, err := os.ReadFile(filepath.Join(dir, name))
		check(t, err)
		fmt.Fprintf(&b, "%s %v %v %x\n", name, info.Mode(), info.ModTime(), sha256.Sum256(text))
	}
	head, err := l.Head()
	check(t, err)
	fmt.Fprintln(&b, head)
	for balance, err := range ledger.AllBalances(l) {
		check(t, err)
		fmt.Fprintln(&b, balance)
	}
	return b.String()
}

// untouched demands that a dry run changes nothing.
func untouched(t *testing.T, dir string, s Spec, l ledger.Ledger) *Forecast {
	t.Helper()
	before := state(t, dir, l)
	f, err := dryRun(s, l)
	check(t, err)
	if after := state(t, dir, l); after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
	return f
}

// The forecast of a dry run comes true.
func TestForecast(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(995, 9)+"x,u9,48.95,2.35\nx,u9,48.85,2.10\nx,u9,48.85,2.11\nx,u9,,\n")
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Outside = 0.01
	f := untouched(t, dir, s, l)
	check(t, f.Refused)
	sum, err := attempt(s, small, l)
	check(t, err)
	if f.Rows != sum.Rows || f.Locations != sum.Locations || f.Accounts != sum.Accounts || f.Already != 0 || f.Outside != sum.Outside ||
		f.Epsilon != sum.Epsilon || f.Mean != sum.Mean || f.Within95 != sum.Within95 {
		t.Errorf("forecast %+v, summary %+v", f, sum)
	}
	most := budget.Amount(0)
	for _, e := range spent(t, l) {
		most = max(most, e)
	}
	if f.Most != most || f.Shortage.Accounts != 0 {
		t.Errorf("forecast %v, spent %v", f.Most, most)
	}
	w := f.Pairs[0]
	if w.Lat != "lat" || w.Locations != 998 || w.Sides != [9]int64{3: 2, 4: 995, 7: 1} || math.Abs(w.Middle[0]-48.853) > 0.001 || w.Away > 500 {
		t.Errorf("whereabouts %+v", w)
	}
	drawn := 0
	for _, line := range w.Map {
		drawn += len(strings.ReplaceAll(line, " ", ""))
	}
	if drawn == 0 || !strings.HasPrefix(w.Key, ". 1  ") {
		t.Errorf("map %q, key %q", w.Map, w.Key)
	}
	if f.Median >= f.Mean || f.Mean >= f.Within95 {
		t.Errorf("%v, %v, %v", f.Median, f.Mean, f.Within95)
	}
}

// An account said to be unable to pay is, a limit said to suffice does, and a little less
// does not.
func TestShortage(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 7)+"x,big,48.85,2.35\n"+strings.Repeat("x,big,48.85,2.35\n", 199))
	l := openLedger(t, dir)
	check(t, l.SetLimit("*", budget.Metre, 50*cost, 0))
	check(t, l.Charge("f", budget.Metre, []ledger.Item{{Account: "u3", Epsilon: 30 * cost, Evaluations: 1}}))
	s := newSpec(dir)
	f := untouched(t, dir, s, l)
	var short *ShortageError
	if !errors.As(f.Refused, &short) || short.Accounts != 2 || short.Of != 8 || short.Limit != 200*cost || f.Most != 200*cost {
		t.Fatalf("%v, %+v", f.Refused, f.Shortage)
	}
	if first := short.First; len(first) != 2 || first[0].Account != "big" || first[1].Account != "u3" || first[1].Left != 20*cost {
		t.Errorf("%+v", first)
	}
	const want = "account 'big' has 0.5/m left of 0.5/m, 2.0/m asked, 1.5/m short; 2 of 8 accounts cannot pay, and a limit of 2/m would suffice (--limit sets one where the ledger has none, budget_limit replaces one); nothing was charged"
	before := state(t, dir, l)
	for _, z := range []sizes{small, defaultSizes} {
		_, err := attempt(s, z, l)
		var refusal *ledger.RefusalError
		if err == nil || err.Error() != want || !errors.As(err, &refusal) {
			t.Errorf("got %v", err)
		}
	}
	if after := state(t, dir, l); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	cheaper := s // 20 units are left of u3's, for 43 locations, and 50 of the other's, for 200
	cheaper.Epsilon = f.Shortage.Epsilon.Rat()
	check(t, untouched(t, dir, cheaper, l).Refused)
	cheaper.Epsilon = (f.Shortage.Epsilon + 1).Rat()
	if f := untouched(t, dir, cheaper, l); f.Shortage.Accounts != 1 {
		t.Errorf("%+v", f)
	}
	check(t, l.SetLimit("*", budget.Metre, short.Limit-1, 0))
	if f := untouched(t, dir, s, l); f.Shortage.Accounts != 1 {
		t.Errorf("%+v", f)
	}
	check(t, l.SetLimit("*", budget.Metre, short.Limit, 0))
	check(t, untouched(t, dir, s, l).Refused)
	_, err := attempt(s, small, l)
	check(t, err)
}

// A limit that would be set counts, is not set by a dry run, and a refused release does not
// set it either, so that a larger one can be given.
func TestLimitIsSetWithTheCharge(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Limit = nil
	if f := untouched(t, dir, s, l); f.Refused == nil || f.Shortage.Accounts != 3 || f.Shortage.Epsilon != 0 ||
		!strings.Contains(f.Refused.Error(), "--limit EPSILON gives one to every account without a budget; 3 of 3 accounts cannot pay, and a limit of 0.1/m would suffice") {
		t.Errorf("%+v", f)
	}
	low, high := 9*cost, 10*cost
	s.Limit = &low
	if f := untouched(t, dir, s, l); f.Refused == nil {
		t.Error("not refused")
	}
	if _, err := attempt(s, small, l); err == nil {
		t.Error("not refused")
	}
	s.Limit = &high
	check(t, untouched(t, dir, s, l).Refused)
	_, err := attempt(s, small, l)
	check(t, err)
}

// Whatever would stop a release is the answer of its dry run.
func TestForecastRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string, s *Spec, l ledger.Ledger)
		want   string
	}{
		{"output", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { write(t, s.Out, "") }, "out.csv already exists"},
		{"report", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { write(t, reportPath(s.Out), "") }, "report.html already exists"},
		{"metadata", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { write(t, metadataPath(s.Out), "") }, "metadata.json already exists"},
		{"folder", func(t *testing.T, dir string, s *Spec, _ ledger.Ledger) {
			s.Out = filepath.Join(dir, "none", "out.csv")
		}, "none: "},
		{"no folder", func(t *testing.T, dir string, s *Spec, _ ledger.Ledger) {
			s.Out = filepath.Join(dir, "in.csv", "out.csv")
		}, "in.csv"},
		{"layer", func(t *testing.T, dir string, s *Spec, _ ledger.Ledger) { s.Out = filepath.Join(dir, "gpkg_x.gpkg") }, "a layer of a GeoPackage"},
		{"report of a level", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { s.Level = 1 }, "level 1 and radius 0"},
		{"invalid", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { write(t, s.In, people(3, 1)+"9,u1,x,2\n") }, `column lat: "x" is not a number`},
		{"too much", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { s.Epsilon.SetFrac64(int64(budget.Max/2), 1e12) }, "cost more than any budget can hold"},
		{"links", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) { filestest.Symlink(t, "x", s.Out+unfinished) }, "not a regular file"},
		{"busy", func(t *testing.T, _ string, s *Spec, _ ledger.Ledger) {
			f, err := openFile(s.Out)
			check(t, err)
			t.Cleanup(f.close)
		}, "another process is writing it"},
		{"other settings", func(t *testing.T, _ string, s *Spec, l ledger.Ledger) {
			s.ID = "x"
			_, err := attempt(*s, small, l)
			check(t, err)
			check(t, os.Remove(s.Out))
			s.Step = 7
		}, "has other settings"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), people(30, 3))
			l := openLedger(t, dir)
			s := newSpec(dir)
			c.change(t, dir, &s, l)
			before := inFolder(t, dir)
			f, err := dryRun(s, l)
			if err == nil {
				err = f.Refused
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if after := inFolder(t, dir); !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
		})
	}
}

// A dry run of a release that goes on tells earlier charges, and leaves the files of an
// earlier attempt has left.
func TestForecastOfTheRest(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
	l := openLedger(t, dir)
	s := newSpec(dir)
	ctx, cancel := withCause(t)
	s.Progress = func(p Progress) {
		if p.Stage == Charging && p.Done == 20 {
			cancel(nil)
		}
	}
	if _, err := (&run{spec: &s, sizes: small, ledger: l}).run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.Progress = nil
	write(t, s.Out+unfinished, "left")
	f := untouched(t, dir, s, l)
	check(t, f.Refused)
	if f.Already != 20 || f.Accounts != 40 || f.Most != 75*cost {
		t.Errorf("%+v", f)
	}
	sum, err := attempt(s, small, l)
	check(t, err)
	if sum.Already != 20 {
		t.Errorf("%+v", sum)
	}
}

// A dry run that is interrupted leaves nothing, in whatever stage it is.
func TestForecastInterrupted(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
	l := openLedger(t, dir)
	before := state(t, dir, l)
	enough := errors.New("enough")
	for _, done := range []int64{0, 500, 3000} {
		ctx, cancel := withCause(t)
		s := newSpec(dir)
		s.Progress = func(p Progress) {
			if p.Stage != Checking {
				t.Errorf("stage %v", p.Stage)
			}
			if p.Done >= done {
				cancel(enough)
			}
		}
		if f, err := (&run{spec: &s, sizes: small, ledger: l, dry: true}).forecast(ctx); err != enough || f != nil {
			t.Errorf("%d: got %v, %v", done, f, err)
		}
	}
	if after := state(t, dir, l); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// The number of locations outside is not in the published files, wherever they are.
func TestOutsideIsNotPublished(t *testing.T) {
	for _, publishable := range []bool{true, false} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), people(5000, 40)+strings.Repeat("x,u1,48.95,2.35\n", 4321))
		s := newSpec(dir)
		s.Outside, s.Publishable, s.Limit = 1, publishable, nil
		l := openLedger(t, dir)
		check(t, l.SetLimit("*", budget.Metre, budget.Max, 0))
		sum, err := attempt(s, small, l)
		check(t, err)
		page, err := os.ReadFile(reportPath(s.Out))
		check(t, err)
		if told := strings.Contains(string(page), "4,321") || strings.Contains(string(page), "4321"); sum.Outside != 4321 || told == publishable {
			t.Errorf("publishable %v: %d outside, told %v", publishable, sum.Outside, told)
		}
	}
}

// A dry run of a release that is complete says so, whether its output is in its place or not.
func TestForecastRepeated(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l, s := openLedger(t, dir), newSpec(dir)
	_, err := attempt(s, small, l)
	check(t, err)
	for range 2 {
		f, err := dryRun(s, l)
		if err != nil || f.Refused != nil || !f.Repeated || f.Complete {
			t.Errorf("got %+v, %v", f, err)
		}
		_ = os.Remove(s.Out)
	}
}
