//go:build unix

package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite/powerloss"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// A disk that fails. Outages are played with every one of their changes failing in
// turn: writes, truncations, syncs and removals, once or from then on. Nothing is
// granted that is not charged, the error is one line, and once the disk is well the
// process and another one go on. So does one after a power cut at the end, where data
// written before a sync that failed is lost, even if later data was synced.
//
// Without GEOSQL_POWER some of the changes fail.

// diskFailure is how a disk fails.
type diskFailure struct {
	code    int
	lasting bool
}

var diskFailures = []diskFailure{
	{powerloss.Full, true}, {powerloss.IOError, true}, {powerloss.Full, false}, {powerloss.IOError, false},
}

// rareFailures is which share of the changes fail, in each way, without GEOSQL_POWER: others in each run.
const rareFailures = 240

func TestCrashDiskFails(t *testing.T) {
	images, points := powerEffort(t)
	step := 1
	if points > 0 {
		step = rareFailures
	}
	failures := 0
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			first := trials.Rand(t).IntN(step)
			for i, how := range diskFailures {
				for n := (first + i*step/len(diskFailures)) % step; ; n += step {
					failed, faults := o.failing(t, n, how, images)
					for _, err := range faults {
						t.Error(err)
					}
					if !failed {
						break
					}
					failures++
				}
			}
		})
	}
	t.Logf("%d failures", failures)
}

// A disk that fails while the ledger is made must not leave one that is less durable
// than it should be, such as one without a log.
func TestCrashDiskFailsAtFirst(t *testing.T) {
	o := &outage{work: steps(openLedger, chargeUsable)}
	for n := 0; ; n++ {
		failed, faults := o.failing(t, n, diskFailure{powerloss.Full, false}, fewImages)
		for _, err := range faults {
			t.Error(err)
		}
		if !failed {
			break
		}
	}
}

// failing plays the outage on a disk with a change that fails, n counted from 0, and
// returns the faults found afterwards. It reports whether there was such a change.
func (o *outage) failing(t *testing.T, n int, how diskFailure, images int) (failed bool, faults []error) {
	t.Helper()
	w := o.begin(t, nothingYet)
	w.recording.Fail(n, how.code, how.lasting)
	failure := o.work(w)
	failed, end, p := w.recording.Heal(), w.recording.Len(), *w.last()
	c := newCuts(t, o, images, 0)
	if err := o.judgeFailure(w, failure, &p); err != nil {
		c.faults = append(c.faults, err)
	}
	for at, disk := range w.recording.Stop().Points() {
		if at == end {
			check(t, c.at(at, disk, &p))
		}
	}
	check(t, os.RemoveAll(w.dir))
	for i, err := range c.faults {
		c.faults[i] = fmt.Errorf("change %d, %+v, which led to %v: %w", n, how, failure, err)
	}
	if !failed && failure != nil {
		c.faults = append(c.faults, failure)
	}
	return failed, c.faults
}

// judgeFailure judges the error that work has ended with, and the remaining files.
func (o *outage) judgeFailure(w *witness, failure error, p *promise) error {
	if err := oneLine(failure); err != nil {
		return err
	}
	if err := o.goOn(w, p); err != nil {
		return fmt.Errorf("the process does not go on: %w", err)
	}
	again := &outage{verify: o.verify} // o's check has been used
	if err := again.judge(w.dir, p); err != nil {
		return fmt.Errorf("another process does not go on: %w", err)
	}
	return nil
}

// goOn lets the process go on that has seen the failure.
func (o *outage) goOn(w *witness, p *promise) error {
	for len(w.statements) > 0 {
		if err := w.end(w.statements[0]); err != nil {
			return err
		}
	}
	if w.Ledger == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if err := o.judgeOpen(w.Ledger, w.dir, p, (*promise).exhaustWithPools); err != nil {
		return errors.Join(err, w.close())
	}
	return w.close()
}

// oneLine demands that an error, if there is one, is one line that names its package.
func oneLine(err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "ledger: ") && !strings.Contains(err.Error(), "\n") && !isRefusal(err) {
		return nil
	}
	return fmt.Errorf("unclear error %q", err)
}

// TestCrashDiskJudgeNotices demands that the judge finds a ledger that grants more than the
// disk has not taken.
func TestCrashDiskJudgeNotices(t *testing.T) {
	o := &outage{name: "grants in spite of an error", work: steps(openLedger, chargeSome, func(w *witness) error {
		err := w.charge("m", half, "ana")
		if err != nil {
			w.granted("m", half, "ana")
		}
		return err
	})}
	noticed := 0
	for n := 0; ; n++ {
		failed, faults := o.failing(t, n, diskFailure{powerloss.Full, true}, fewImages)
		if !failed {
			break
		}
		if slices.ContainsFunc(faults, func(err error) bool { return strings.Contains(err.Error(), "lost: ") }) {
			noticed++
		}
	}
	if noticed == 0 {
		t.Error("not noticed")
	}
	t.Logf("noticed after %d failures", noticed)
}

// If a disk fails COMMIT or any change before it, nothing of the transaction is stored: an amount that
// its caller keeps in memory and writes again is written once. Another statement holds something of
// the same account, which stays reserved.
func TestDiskFailsInCommit(t *testing.T) {
	for _, ends := range []bool{false, true} {
		for _, how := range diskFailures {
			failures := 0
			for n := 0; ; n++ {
				if !failsInCommit(t, n, how, ends) {
					break
				}
				failures++
			}
			if failures < 2 { // a write and a sync
				t.Errorf("%+v: %d failures", how, failures)
			}
		}
	}
}

// failsInCommit has a change of a charge fail, n counted from 0, or of the end of the statement. It
// reports whether there was such a change.
func failsInCommit(t *testing.T, n int, how diskFailure, ends bool) (failed bool) {
	dir := t.TempDir()
	r, err := powerloss.Record(dir)
	check(t, err)
	defer r.Stop()
	l, err := file.Open(filepath.Join(dir, "x-ledger"), true)
	check(t, err)
	check(t, l.SetLimit("ana", "m", 100, 0))
	granted := budget.Amount(0)
	charge := func(s ledger.Statement, times int) (err error) {
		for range times {
			if err = s.Spender("f", "m").Charge([]byte("ana"), 1); err == nil {
				granted++
			}
		}
		return err
	}
	held, s := l.NewStatement(), l.NewStatement()
	check(t, charge(held, 6)) // one is not recorded, and two are left
	check(t, charge(s, 6))
	if ends {
		r.Fail(n, how.code, how.lasting)
		err = s.End()
	} else {
		check(t, charge(s, 2)) // nothing is left
		r.Fail(n, how.code, how.lasting)
		err = charge(s, 1)
	}
	if failed = r.Heal(); failed != (err != nil) {
		t.Errorf("change %d, %+v: %v", n, how, err)
	}
	if !ends {
		check(t, charge(s, 1))
	}
	check(t, s.End())
	b, err := l.Balance("ana", "m")
	check(t, err)
	if b.Spent != granted-1 || b.Reserved != 3 {
		t.Errorf("change %d, %+v: spent %d and reserved %d of %d", n, how, b.Spent, b.Reserved, granted)
	}
	check(t, held.End())
	check(t, l.Close())
	return failed
}
