// Package ledgertest tests that an engine is a ledger, as [ledger.Ledger] defines it,
// wherever it keeps the ledger. How an engine stores a ledger, and whether it notices changes by
// others to the stored ledger, is for its own tests, which can use [Ask] and the rest that is
// exported here. It imports ledger and no engine. Start at Run.
//
// The tests of an engine call [Run]. Some tests need several processes: there the test binary runs
// itself again, and [Main] plays the other process of the test.
//
//	func TestMain(m *testing.M) {
//		ledgertest.Main(open)
//		os.Exit(m.Run())
//	}
//
//	func TestEngine(t *testing.T) {
//		ledgertest.Run(t, ledgertest.Engine{New: create, Open: open})
//	}
//
// Tests of windows that only wait show little. An engine with a clock that can be set shows more.
package ledgertest

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
)

// An Engine holds the functions of an engine that the tests need.
type Engine struct {
	// New makes a ledger and returns where it is. The end of the test removes it.
	New func(t testing.TB) (where string)

	// Open opens a ledger that New has made. It may return the same object again while that is
	// open.
	Open func(where string) (ledger.Ledger, error)

	// SetClock stops the clock of a ledger that this process has opened at a time. It is nil if
	// nobody can set the clock by which the windows of the ledger go. Then tests of windows wait.
	SetClock func(l ledger.Ledger, at time.Time)

	// Storable reports whether the engine can store a text of such characters, be it the name of an
	// account or a fact. The engine must refuse all others before it stores anything. Nil stands for
	// an engine that can store every text.
	Storable func(text string) bool

	// LongestName is how many bytes the name of an account, a unit or a role may have, or 0 if it
	// may have any length. The engine must refuse longer ones.
	LongestName int

	// Alone says that only the process that has made a ledger can open it, and that the ledger
	// ends with it.
	Alone bool
}

// tests are the tests of one subject, by their names.
type tests map[string]func(t *testing.T, e Engine)

// Run runs all tests on an engine.
func Run(t *testing.T, e Engine) {
	for _, subject := range []struct {
		name  string
		tests tests
	}{
		{"Limit", limitTests},
		{"Statement", statementTests},
		{"Contention", contentionTests},
		{"Recall", recallTests},
		{"Trace", traceTests},
		{"Lease", leaseTests},
		{"Window", windowTests},
		{"Release", releaseTests},
		{"Question", questionTests},
		{"Fact", factTests},
		{"History", historyTests},
		{"Many", manyTests},
		{"Closing", closingTests},
		{"Name", nameTests},
	} {
		t.Run(subject.name, func(t *testing.T) {
			for _, name := range slices.SortedFunc(maps.Keys(subject.tests), cmp.Compare) {
				t.Run(name, func(t *testing.T) {
					t.Parallel() // many wait
					subject.tests[name](t, e)
				})
			}
		})
	}
	t.Run("ChargeAllocatesNothing", func(t *testing.T) { chargeAllocatesNothing(t, e) }) // alone: those of all goroutines are counted
}

// testLedger is a ledger that a test has opened.
type testLedger struct {
	ledger.Ledger
	engine Engine
	where  string
	closed bool
}

// fresh returns a new ledger.
func (e Engine) fresh(t testing.TB) *testLedger {
	t.Helper()
	return e.open(t, e.New(t))
}

// open opens a ledger that the end of the test verifies and closes.
func (e Engine) open(t testing.TB, where string) *testLedger {
	t.Helper()
	opened, err := e.Open(where)
	check(t, err)
	l := &testLedger{Ledger: opened, engine: e, where: where}
	t.Cleanup(func() {
		if !l.closed {
			check(t, verify(l, "", nil))
			check(t, l.Close())
		}
	})
	return l
}

// Close implements [ledger.Ledger].
func (l *testLedger) Close() error {
	l.closed = true
	return l.Ledger.Close()
}

// noon is when the clocks of these tests start.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// timed returns a new ledger with a clock that the test sets, from noon on. It skips tests on engines that
// have none.
func (e Engine) timed(t testing.TB) (l *testLedger, setClock func(time.Duration)) {
	t.Helper()
	if e.SetClock == nil {
		t.Skip("the engine's clock cannot be set")
	}
	l = e.fresh(t)
	setClock = func(d time.Duration) { e.SetClock(l.Ledger, noon.Add(d)) }
	setClock(0)
	return l, setClock
}

// shared skips a test on engines that other processes cannot see.
func (e Engine) shared(t testing.TB) {
	t.Helper()
	if e.Alone {
		t.Skip("only one process can open a ledger of this engine")
	}
}

// storable reports whether the engine can store a text.
func (e Engine) storable(text string) bool { return e.Storable == nil || e.Storable(text) }

// nameable reports whether an account, a unit and a role can have a name.
func (e Engine) nameable(name string) bool {
	return e.storable(name) && (e.LongestName == 0 || len(name) <= e.LongestName)
}
