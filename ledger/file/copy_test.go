package file

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

func goOn(float64) error { return nil }

// copyOf copies a ledger and opens the copy.
func copyOf(t *testing.T, l *Ledger) *Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	check(t, l.Copy(path, goOn))
	if have := modes(t, path); len(have) != 1 || have[""] != privateMode {
		t.Errorf("files of the copy: %v", have)
	}
	c, err := Open(path, false)
	check(t, err)
	t.Cleanup(func() { check(t, c.Close()) })
	return c
}

// A copy shows the contents of the ledger, and nothing can be done with it before it is adopted.
func TestCopyIsRefusedUntilItIsAdopted(t *testing.T) {
	l := newFilled(t)
	begun := time.Now()
	l.clock = func() int64 { return time.Now().UnixMicro() }
	c := copyOf(t, l)
	c.clock = l.clock
	noted := head(t, l)
	if head(t, c) != noted || c.ID() != l.ID() || !slices.Equal(standings(t, c), standings(t, l)) {
		t.Errorf("the copy differs: %v, %+v, not %v, %+v", head(t, c), standings(t, c), noted, standings(t, l))
	}
	check(t, verify(c, "", &noted))
	if o, err := l.Origin(); o != nil || err != nil {
		t.Errorf("the ledger itself has the origin %+v, %v", o, err)
	}
	o, err := c.Origin()
	check(t, err)
	if o == nil || o.Path != l.Path() || o.Time.Before(begun.Truncate(time.Microsecond)) || o.Time.After(time.Now()) {
		t.Fatalf("origin %+v", o)
	}

	const want = "which lacks all later charges: run 'geosql restore "
	archive := filepath.Join(t.TempDir(), "archive")
	used := func() map[string]error {
		s := c.NewStatement()
		_, opening := c.OpenRelease("1", plan)
		_, restarting := c.RestartTrace("t", "", "")
		_, archiving := c.Archive(archive, time.Now())
		return map[string]error{
			"charge":    charge(c, "ana", 1),
			"once":      c.ChargeOnce("f", "m", ledger.Item{Account: "new", Epsilon: 1}),
			"limit":     c.SetLimit("ana", "m", 5000, 0),
			"first":     c.SetFirstLimit("new", "m", 5000),
			"reserve":   c.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 1}}),
			"statement": s.Spender("f", "m").Charge([]byte("ana"), 1),
			"end":       s.End(),
			"release":   opening,
			"trace":     restarting,
			"archive":   archiving,
		}
	}
	for what, err := range used() {
		if what != "end" {
			saying(t, what, err, want+c.Path()+"'")
		}
	}
	if _, err := os.Stat(archive); err == nil {
		t.Error("the copy was archived")
	}
	if head(t, c) != noted {
		t.Error("the copy was changed")
	}

	check(t, charge(l, "ana", 100)) // which the copy does not know of
	before := standings(t, c)
	check(t, c.Adopt(false))
	for what, err := range used() {
		if err != nil {
			t.Errorf("%s after the adoption: %v", what, err)
		}
	}
	for _, s := range before {
		if now := balance(t, c, s.Account); s.Unit == "m" && s.Account != "ana" && now.Spent != s.Spent {
			t.Errorf("%s had spent %v, has spent %v", s.Account, s.Spent, now.Spent)
		}
	}
	if err := c.Adopt(false); err == nil {
		t.Error("adopted twice")
	}
	if o, err := c.Origin(); o != nil || err != nil {
		t.Errorf("the mark is still there: %+v, %v", o, err)
	}
	check(t, verify(c, archive, &noted))
}

// events returns the events of a ledger among its charges.
func events(t *testing.T, l *Ledger) (all []string) {
	t.Helper()
	for _, c := range charges(t, l) {
		if c.Unit == engine.EventUnit {
			all = append(all, fmt.Sprintf("%s %s %v %v", c.Function, c.Account, c.Epsilon, c.Time.Format(time.TimeOnly)))
		}
	}
	return all
}

// That a ledger was restored stays in it, through the archive and another copy.
func TestAdoptionIsRecorded(t *testing.T) {
	l := newFilled(t)
	c := copyOf(t, l)
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC).UnixMicro()
	c.clock = func() int64 { return at }
	check(t, c.Adopt(false))
	was := standings(t, c)
	o := time.UnixMicro(at)
	want := events(t, c)
	if len(want) != 2 || want[1] != "ledger_restore * 0 "+o.UTC().Format(time.TimeOnly) {
		t.Fatalf("events %q", want)
	}
	check(t, verify(c, "", nil))
	early := head(t, c)

	archive := filepath.Join(t.TempDir(), "archive")
	moved, err := c.Archive(archive, o.Add(time.Hour))
	check(t, err)
	if moved != early.ID {
		t.Errorf("moved %d entries of %d", moved, early.ID)
	}
	if got := events(t, c); !slices.Equal(got, want) {
		t.Errorf("after archiving the events are %q, were %q", got, want)
	}
	if now := standings(t, c); !slices.Equal(now, was) {
		t.Errorf("balances were %+v, are %+v", was, now)
	}
	check(t, verify(c, "", nil))
	check(t, verify(c, archive, &early))
	if got := events(t, copyOf(t, c)); !slices.Equal(got, want) {
		t.Errorf("in a copy the events are %q", got)
	}
}

// A copy that is adopted with every limit at 0 grants nothing until its owner sets limits.
func TestAdoptBlocked(t *testing.T) {
	c := copyOf(t, newFilled(t))
	check(t, c.Adopt(true))
	for _, account := range []string{"ana", "eve", "bob", "somebody new"} {
		refused(t, charge(c, account, 1))
	}
	check(t, verify(c, "", nil))
	check(t, c.SetLimit("bob", "m", 2000, 0))
	check(t, charge(c, "bob", 1))
	refused(t, charge(c, "ana", 1))
}

// A release that was not finished may have been drawn and published since by the original: an
// adopted copy charges for it again.
func TestAdoptForgetsUnfinishedReleases(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	unfinished, finished := releaseOf(t, l, "1", 0), releaseOf(t, l, "2", 0)
	check(t, unfinished.Charge("m", items(tenth, "ana")))
	check(t, finished.Charge("m", items(tenth, "ana")))
	check(t, finished.Seal("hash"))
	c := copyOf(t, l)
	check(t, c.Adopt(false))
	check(t, releaseOf(t, c, "1", 0).Charge("m", items(tenth, "ana")))
	if releaseOf(t, c, "2", 1).Published() == nil {
		t.Error("the finished release was forgotten")
	}
	if b := balance(t, c, "ana"); b.Spent != 3*tenth {
		t.Errorf("spent %v", b.Spent)
	}
}

// A copy of a copy is as old as the first.
func TestCopyOfACopy(t *testing.T) {
	l := newFilled(t)
	first := copyOf(t, l)
	second := copyOf(t, first)
	a, err := first.Origin()
	check(t, err)
	b, err := second.Origin()
	check(t, err)
	if *a != *b {
		t.Errorf("origins %+v and %+v", a, b)
	}
}

// A copy that is written over a ledger in use is noticed in the next transaction.
func TestCopyOverTheLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l := open(t, path)
	check(t, l.SetLimit("*", "m", 1000, 0))
	copied := filepath.Join(t.TempDir(), "copy")
	check(t, l.Copy(copied, goOn))
	check(t, charge(l, "ana", 900))
	from, err := sqlite.Open(copied, sqlite.ReadOnly)
	check(t, err)
	defer from.Close()
	over, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer over.Close()
	check(t, over.CopyFrom(from, goOn))
	saying(t, "a refunded charge", charge(l, "ana", 900), "is a backup")
}

func TestCopyFails(t *testing.T) {
	l := newFilled(t)
	path := filepath.Join(t.TempDir(), "copy")
	check(t, os.WriteFile(path, []byte("kept"), 0o600))
	if err := l.Copy(path, goOn); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "kept" {
		t.Error("the file was overwritten")
	}
	saying(t, "into no folder", l.Copy(filepath.Join(path, "x"), goOn), "open "+filepath.Join(path, "x"))
	memory, err := OpenMemory("")
	check(t, err)
	defer memory.Close()
	saying(t, "in memory", memory.Copy(path+"2", goOn), "cannot be copied")
	check(t, l.Close())
	if err := l.Copy(path+"3", goOn); err != engine.ErrClosed {
		t.Errorf("closed: %v", err)
	}
}

// A ledger follows its own earlier states.
func TestFollows(t *testing.T) {
	l := newFilled(t)
	early := head(t, l)
	c := copyOf(t, l)
	check(t, charge(l, "ana", 1))
	late := head(t, l)
	check(t, l.Follows(early))
	check(t, l.Follows(late))
	saying(t, "a copy", c.Follows(late), fmt.Sprintf("ends with entry %d, before entry %d", early.ID, late.ID))
	check(t, c.Adopt(false)) // two entries, at the place of the charge
	saying(t, "gone apart", c.Follows(late), fmt.Sprintf("another entry %d", late.ID))
	_, err := l.Archive(filepath.Join(t.TempDir(), "archive"), time.Now())
	check(t, err)
	check(t, l.Follows(early))
}

// answer charges one evaluation after the other, in statements and at once, and prints a line
// after each.
func answer(l *Ledger) error {
	for n := 1; ; n = n%40 + 1 {
		s := l.NewStatement()
		for i := range n {
			charge := func() error { return charge(l, "ana", 1) }
			if i > 0 {
				charge = func() error { return s.Spender("f", "m").Charge([]byte("ana"), 1) }
			}
			if err := charge(); err != nil {
				return err
			}
			fmt.Println()
		}
		if err := s.End(); err != nil {
			return err
		}
	}
}

// A copy that is made while other processes charge has every answer that was seen before.
func TestCopyWhileProcessesCharge(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	var answers atomic.Int64
	for range 2 {
		p := start(t, "answer", l.Path())
		t.Cleanup(func() {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		})
		go func() {
			for lines := bufio.NewScanner(p.out); lines.Scan(); {
				answers.Add(1)
			}
		}()
	}
	for copies, last := 0, int64(0); copies < 20; {
		seen := answers.Load()
		if seen < last+50 {
			time.Sleep(time.Millisecond)
			continue
		}
		last = seen
		c := copyOf(t, l)
		if r := onDisk(t, c.Path())[key{"ana", "m"}]; r.total() < budget.Amount(seen) {
			t.Errorf("%d answers were seen, the copy has %v", seen, r)
		}
		check(t, verify(c, "", nil))
		copies++
	}
	check(t, charge(l, "ana", 1))
}
