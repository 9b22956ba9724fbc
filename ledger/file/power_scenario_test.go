//go:build unix

package file_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// steps does one thing after the other, up to the first error.
func steps(all ...func(w *witness) error) func(w *witness) error {
	return func(w *witness) error {
		for _, step := range all {
			if err := step(w); err != nil {
				return err
			}
		}
		return nil
	}
}

func openLedger(w *witness) error  { return w.open() }
func closeLedger(w *witness) error { return w.close() }
func noteHead(w *witness) error    { return w.noteHead() }

// manyAccounts are accounts with balances that take several pages.
func manyAccounts(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("account number %d, which has a name of some length", i))
	}
	return all
}

var outages = []*outage{
	{name: "create, charge", work: steps(openLedger, chargeSome, noteHead, chargeSome, closeLedger)},
	{name: "spender", work: steps(openLedger, spendAndEnd, noteHead, spendAndEnd, closeLedger)},
	{name: "reserve and pools", work: steps(openLedger, usePools, closeLedger)},
	{name: "windows", work: steps(openLedger, useWindows, closeLedger)},
	{name: "limits change", work: steps(openLedger, changeLimits, noteHead, closeLedger)},
	{name: "checkpoints", work: checkpoints},
	{name: "open and close", work: steps(openLedger, chargeSome, closeLedger, openLedger, chargeSome, noteHead, closeLedger, openLedger, chargeSome)},
	{name: "archive", work: steps(openLedger, archiveTwice, closeLedger), verify: verifyWithArchive},
	{name: "release", work: steps(openLedger, releaseAll, closeLedger), check: releaseGoesOn},
	{name: "traces", work: steps(openLedger, walk, closeLedger), check: walkGoesOn},
}

func chargeSome(w *witness) error {
	if err := w.limit("*", "m", 40*half, 0); err != nil {
		return err
	}
	if err := w.chargeMany("m", half, "ana", "bob", "ana", "cy", "ana"); err != nil {
		return err
	}
	return w.charge("m", 2*half, "ana", "dan")
}

func chargeUsable(w *witness) error {
	if err := w.limit(usable, "m", 4*half, 0); err != nil {
		return err
	}
	return w.chargeMany("m", half, usable, usable)
}

// spendAndEnd has two statements at a time. One ends first.
func spendAndEnd(w *witness) error {
	if err := w.limit("*", "m", 100*half, 0); err != nil {
		return err
	}
	first, second := w.statement(), w.statement()
	if err := w.spend(first, "m", half, 12, "ana", "bob"); err != nil {
		return err
	}
	if err := w.spend(second, "m", half, 5, "bob", "cy"); err != nil {
		return err
	}
	if err := w.end(first); err != nil {
		return err
	}
	if err := w.spend(second, "m", half, 5, "ana", "cy"); err != nil {
		return err
	}
	return w.end(second)
}

func usePools(w *witness) error {
	if err := w.limit("*", "m", 60*half, 0); err != nil {
		return err
	}
	if err := w.reserve("m", 10*half, "ana", "bob", "cy"); err != nil {
		return err
	}
	if err := w.chargeMany("m", half, "ana", "bob", "ana"); err != nil {
		return err
	}
	s := w.statement()
	if err := w.spend(s, "m", half, 12, "bob", "dan"); err != nil { // bob needs more than the pool has
		return err
	}
	if err := w.noteHead(); err != nil { // writes the notes
		return err
	}
	if err := w.charge("m", 9*half, "ana", "cy"); err != nil {
		return err
	}
	if err := w.reserve("m", 3*half, "ana"); err != nil {
		return err
	}
	return w.end(s)
}

func useWindows(w *witness) error {
	if err := w.limit("*", "m", 20*half, 60); err != nil {
		return err
	}
	s := w.statement()
	for i := range int64(4) {
		w.clock(60 * i)
		if err := w.reserve("m", 4*half, "ana", "bob"); err != nil {
			return err
		}
		if err := w.chargeMany("m", half, "ana", "cy"); err != nil {
			return err
		}
		w.clock(60*i + 59)
		if err := w.spend(s, "m", half, 6, "ana", "dan"); err != nil {
			return err
		}
	}
	w.clock(90) // a clock that was set back opens nothing
	if err := w.charge("m", half, "bob"); err != nil {
		return err
	}
	return w.end(s)
}

// changeLimits lowers and raises limits, also below the spent amount.
func changeLimits(w *witness) error {
	for _, l := range []struct {
		account string
		limit   setting
	}{
		{"*", setting{10 * half, 0}}, {"ana", setting{20 * half, 0}}, {"ana", setting{4 * half, 0}},
		{"*", setting{3 * half, 60}}, {"ana", setting{0, 0}}, {"*", setting{2 * half, 0}}, {"ana", setting{30 * half, 0}},
	} {
		if err := w.limit(l.account, "m", l.limit.eps, l.limit.seconds); err != nil {
			return err
		}
		for _, a := range []string{"ana", "bob"} {
			if err := w.charge("m", half, a); err != nil && !isRefusal(err) {
				return err
			}
		}
	}
	return nil
}

func isRefusal(err error) bool {
	var r *ledger.RefusalError
	return errors.As(err, &r)
}

// checkpoints lets the log be moved into the file all the time.
func checkpoints(w *witness) error {
	if err := w.open("PRAGMA wal_autocheckpoint = 6"); err != nil {
		return err
	}
	if err := w.limit("*", "m", 40*half, 0); err != nil {
		return err
	}
	accounts := manyAccounts(60)
	if err := w.charge("m", half, accounts...); err != nil {
		return err
	}
	if err := w.chargeMany("m", half, accounts[:8]...); err != nil {
		return err
	}
	if err := w.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := w.charge("m", half, accounts[20:50]...); err != nil {
		return err
	}
	if err := w.chargeMany("m", half, accounts[50:]...); err != nil {
		return err
	}
	if err := w.noteHead(); err != nil {
		return err
	}
	return w.close()
}

// archiveTwice gives the archive entries of two times.
func archiveTwice(w *witness) error {
	if err := w.limit("*", "m", 40*half, 0); err != nil {
		return err
	}
	accounts := manyAccounts(12)
	for i := range int64(2) {
		w.clock(60 * i)
		if err := w.charge("m", half, accounts...); err != nil {
			return err
		}
		if err := w.noteHead(); err != nil {
			return err
		}
		w.clock(60*i + 30)
		if err := w.charge("m", half, "ana"); err != nil {
			return err
		}
		if _, err := w.Archive(archiveFile(w.dir), time.UnixMicro(w.last().now)); err != nil {
			return err
		}
		if err := w.charge("m", half, "bob"); err != nil {
			return err
		}
	}
	return nil
}

// verifyWithArchive archives the entries that the interrupted work should have: that goes on only
// if entries that have left the ledger are in the archive.
func verifyWithArchive(l *file.Ledger, dir string, earlier *ledger.Head) error {
	if _, err := l.Archive(archiveFile(dir), time.UnixMicro(powerNoon+10e6)); err != nil {
		return err
	}
	_, err := l.Verify(archiveFile(dir), earlier, nil)
	return err
}

var (
	outagePlan     = ledger.ReleasePlan{Digest: "d", Settings: "s", Output: "/o"}
	outageAccounts = manyAccounts(9)
)

const (
	outageSeal   = "seal"
	releaseBatch = 3
)

// releaseAll charges the release's accounts from where it is, and seals it.
func releaseAll(w *witness) error {
	if err := w.limit("*", "m", 40*half, 0); err != nil {
		return err
	}
	return finishRelease(w.Ledger, func(batch []string, charged int64) {
		w.granted("m", half, batch...)
		w.promised(func(p *promise) { p.release.accounts = charged })
	}, func() {
		w.promised(func(p *promise) { p.release.sealed = outageSeal })
	})
}

func finishRelease(l *file.Ledger, charged func(batch []string, all int64), sealed func()) error {
	r, err := l.OpenRelease("1", outagePlan)
	if err != nil || r.Published() != nil {
		return err
	}
	for r.Charged() < int64(len(outageAccounts)) {
		batch := outageAccounts[r.Charged():][:releaseBatch]
		var items []ledger.Item
		for _, a := range batch {
			items = append(items, ledger.Item{Account: a, Epsilon: half, Evaluations: 1})
		}
		if err := r.Charge("m", items); err != nil {
			return err
		}
		charged(batch, r.Charged())
	}
	if err := r.Seal(outageSeal); err != nil {
		return err
	}
	sealed()
	return nil
}

// releaseGoesOn demands that a release goes on where it was, so that in the end every
// account is charged once.
func releaseGoesOn(l *file.Ledger, _ string, p *promise) error {
	if p.limits[key{"*", "m"}] == nil {
		return nil // the release may not be affordable
	}
	r, err := l.OpenRelease("1", outagePlan)
	if err != nil {
		return err
	}
	if r.Charged() < p.release.accounts {
		return fmt.Errorf("%d accounts are charged for the release, after %d were", r.Charged(), p.release.accounts)
	}
	if p.release.sealed != "" && (r.Published() == nil || r.Published().SHA256 != p.release.sealed) {
		return errors.New("the release was sealed and is not")
	}
	if err := finishRelease(l, func([]string, int64) {}, func() {}); err != nil {
		return err
	}
	for _, a := range outageAccounts {
		if b, err := l.Balance(a, "m"); err != nil || b.Spent != half || b.Reserved != 0 {
			return fmt.Errorf("%s is charged %v and %v for one release, %v", a, b.Spent, b.Reserved, err)
		}
	}
	return nil
}

// walk takes steps of a trace, saves them in between, and ends it.
func walk(w *witness) error {
	if err := w.limit("*", "m", 40*half, 0); err != nil {
		return err
	}
	for range 2 {
		t, _, _, err := w.OpenTrace("walk", "ana", "m", "trace")
		if err != nil {
			return err
		}
		err = w.step(t)
		if closing := t.Close([]byte("state")); err == nil {
			err = closing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *witness) step(t ledger.Trace) error {
	for i := range 7 {
		if err := t.Reserve(half, 30*half); err != nil {
			return err
		}
		t.Add(ledger.Point{Spent: half, Hard: true})
		w.granted("m", half, "ana")
		if i == 3 {
			if err := t.Save([]byte("state")); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkGoesOn demands that a trace can be restarted.
func walkGoesOn(l *file.Ledger, _ string, _ *promise) error {
	if _, err := l.RestartTrace("walk", "", ""); err != nil {
		return err
	}
	t, _, _, err := l.OpenTrace("walk", "ana", "m", "trace")
	if err != nil {
		return err
	}
	return t.Close(nil)
}
