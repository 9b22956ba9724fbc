//go:build unix

package file_test

import (
	"testing"

	"github.com/geosql/geosql/internal/sqlite/powerloss"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// chargeWith charges through a connection with another setting than the ledger's.
func chargeWith(setting string) func(w *witness) error {
	return steps(func(w *witness) error { return w.open(setting) }, chargeSome, chargeSome, closeLedger)
}

// TestCrashPowerJudgeNotices plants faults that lose something in a power cut, and
// demands that the same judge finds them that finds nothing in the ledger. A setting
// counts from its connection's opening on, so the table of accounts is there.
func TestCrashPowerJudgeNotices(t *testing.T) {
	for _, planted := range []struct {
		name   string
		work   func(w *witness) error
		verify func(l *file.Ledger, dir string, earlier *ledger.Head) error
		on     func(*powerloss.Trace) *powerloss.Trace // the disk; nil for a correct one
		want   string
	}{
		{name: "synchronous is OFF", work: chargeWith("PRAGMA synchronous = OFF"), want: "lost: "},
		{name: "synchronous is NORMAL", work: chargeWith("PRAGMA synchronous = NORMAL"), want: "lost: "},
		{name: "grants before it charges", work: steps(openLedger, chargeSome, func(w *witness) error {
			w.granted("m", half, "ana")
			return w.charge("m", half, "bob")
		}), want: "lost: {ana m}"},
		{name: "refunds what was granted", work: steps(openLedger, chargeSome, func(w *witness) error {
			return w.Refund("ana", "m", half)
		}), want: "lost: {ana m}"},
		{name: "says that a limit is set and does not", work: steps(openLedger, chargeSome, func(w *witness) error {
			w.promised(func(p *promise) { p.limits[key{"*", "m"}] = []setting{{half, 0}} })
			return nil
		}), want: "lost: the limit"},
		{name: "a disk that syncs nothing", work: steps(openLedger, chargeSome),
			on: (*powerloss.Trace).WithoutSyncs, want: "no such file"},
		{name: "folders are not synced", work: steps(openLedger, chargeSome),
			on: (*powerloss.Trace).WithoutFolderSyncs, want: "no such file"},
		{name: "the removal of the archive's journal is not synced", work: steps(openLedger, archiveTwice), verify: verifyWithArchive,
			on: (*powerloss.Trace).WithoutSyncedDeletions, want: "the archive ends with entry"},
	} {
		t.Run(planted.name, func(t *testing.T) {
			o := &outage{name: planted.name, work: planted.work, verify: planted.verify}
			trace, promises := o.play(t, nothingYet)
			if planted.on != nil {
				trace = planted.on(trace)
			}
			c := newCuts(t, o, fewImages, 0)
			c.until = planted.want
			check(t, c.everywhere(trace, promises))
			if !c.shows(planted.want) {
				t.Errorf("%d of %d images failed, not with %q: %v", c.failed, c.judged, planted.want, c.faults)
			}
			t.Logf("%d of %d images failed, such as %v", c.failed, c.judged, c.faults)
		})
	}
}
