//go:build unix

package file_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite/powerloss"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// outage is a kind of work. At each of its points the power may fail, or the disk.
type outage struct {
	name    string
	prepare func(t *testing.T, dir string)                               // makes the files before; may be nil
	work    func(w *witness) error                                       // up to its first error
	check   func(l *file.Ledger, dir string, p *promise) error           // another condition; may be nil
	verify  func(l *file.Ledger, dir string, earlier *ledger.Head) error // nil: without an archive
}

// promise is the state that must hold after a power cut.
type promise struct {
	at      int               // for cuts after so many operations, up to the next promise
	now     int64             // on the ledger's clock
	id      string            // the ledger's; "" before it was opened
	head    *ledger.Head      // that it has grown out of
	granted map[key][]answer  // must be charged
	limits  map[key][]setting // one, or two where the limit is being changed
	release struct {
		accounts int64  // charged
		sealed   string // hash
	}
}

// witness does an outage's work and notes the promises to it.
type witness struct {
	*file.Ledger
	dir        string
	recording  *powerloss.Recording
	statements []ledger.Statement // that are open
	promises   []promise
}

// powerNoon is when the clocks of outages start.
var powerNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()

// nothingYet is the promise at the beginning.
var nothingYet = promise{now: powerNoon}

// play does the work on a disk that records its operations, after the earlier
// promise.
func (o *outage) play(t *testing.T, before promise) (*powerloss.Trace, []promise) {
	t.Helper()
	w := o.begin(t, before)
	check(t, o.work(w))
	check(t, w.leave())
	return w.recording.Stop(), w.promises
}

func (o *outage) begin(t *testing.T, before promise) *witness {
	t.Helper()
	dir := t.TempDir()
	if o.prepare != nil {
		o.prepare(t, dir)
	}
	r, err := powerloss.Record(dir)
	check(t, err)
	t.Cleanup(func() { r.Stop() })
	return &witness{dir: dir, recording: r, promises: []promise{before}}
}

// promised adds to the promise.
func (w *witness) promised(add func(*promise)) {
	p := w.promises[len(w.promises)-1]
	p.granted, p.limits = maps.Clone(p.granted), maps.Clone(p.limits)
	if p.granted == nil {
		p.granted, p.limits = map[key][]answer{}, map[key][]setting{}
	}
	add(&p)
	p.at = w.recording.Len()
	w.promises = append(w.promises, p)
}

func (w *witness) last() *promise { return &w.promises[len(w.promises)-1] }

// promiseAt is the promise made by the first n operations.
func promiseAt(promises []promise, n int) *promise {
	i := len(promises) - 1
	for promises[i].at > n {
		i--
	}
	return &promises[i]
}

func (w *witness) granted(unit budget.Unit, eps budget.Amount, accounts ...string) {
	w.promised(func(p *promise) {
		for _, a := range accounts {
			k := key{a, unit}
			p.granted[k] = append(slices.Clip(p.granted[k]), answer{p.now, eps})
		}
	})
}

// open opens the ledger, with settings of its connection.
func (w *witness) open(settings ...string) (err error) {
	if w.Ledger, err = file.Open(ledgerFile(w.dir), true); err != nil {
		return err
	}
	w.SetClock(w.last().now)
	w.promised(func(p *promise) { p.id = w.ID() })
	for _, sql := range settings {
		if err := w.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// close closes the ledger, which is closed also after an error.
func (w *witness) close() error {
	l := w.Ledger
	w.Ledger = nil
	return l.Close()
}

// leave ends and closes all that is open.
func (w *witness) leave() error {
	for len(w.statements) > 0 {
		if err := w.end(w.statements[0]); err != nil {
			return err
		}
	}
	if w.Ledger == nil {
		return nil
	}
	return w.close()
}

// clock sets the ledger's clock to seconds after noon.
func (w *witness) clock(seconds int64) {
	w.promised(func(p *promise) { p.now = powerNoon + seconds*1e6 })
	w.SetClock(w.last().now)
}

func (w *witness) limit(account string, unit budget.Unit, eps budget.Amount, seconds int64) error {
	k, to := key{account, unit}, setting{eps, seconds}
	w.promised(func(p *promise) {
		if p.limits[k] != nil {
			p.limits[k] = append(slices.Clip(p.limits[k]), to)
		}
	})
	if err := w.SetLimit(account, unit, eps, seconds); err != nil {
		return err
	}
	w.promised(func(p *promise) { p.limits[k] = []setting{to} })
	return nil
}

// charge charges accounts together.
func (w *witness) charge(unit budget.Unit, eps budget.Amount, accounts ...string) error {
	var items []ledger.Item
	for _, a := range accounts {
		items = append(items, ledger.Item{Account: a, Epsilon: eps, Evaluations: 1})
	}
	if err := w.Charge("f", unit, items); err != nil {
		return err
	}
	w.granted(unit, eps, accounts...)
	return nil
}

// chargeMany charges accounts one after the other.
func (w *witness) chargeMany(unit budget.Unit, eps budget.Amount, accounts ...string) error {
	for _, a := range accounts {
		if err := w.charge(unit, eps, a); err != nil {
			return err
		}
	}
	return nil
}

func (w *witness) reserve(unit budget.Unit, eps budget.Amount, accounts ...string) error {
	var items []ledger.Item
	for _, a := range accounts {
		items = append(items, ledger.Item{Account: a, Epsilon: eps})
	}
	return w.Reserve(unit, items)
}

func (w *witness) statement() ledger.Statement {
	s := w.NewStatement()
	w.statements = append(w.statements, s)
	return s
}

// spend charges accounts in turns, n times each.
func (w *witness) spend(s ledger.Statement, unit budget.Unit, eps budget.Amount, n int, accounts ...string) error {
	p := s.Spender("g", unit)
	for range n {
		for _, a := range accounts {
			if err := p.Charge([]byte(a), eps); err != nil {
				return err
			}
			w.granted(unit, eps, a)
		}
	}
	return nil
}

func (w *witness) end(s ledger.Statement) error {
	w.statements = slices.DeleteFunc(w.statements, func(open ledger.Statement) bool { return open == s })
	return s.End()
}

// noteHead notes the ledger's head, as somebody does who wants to notice older files.
func (w *witness) noteHead() error {
	h, err := w.Head()
	if err != nil {
		return err
	}
	w.promised(func(p *promise) { p.head = &h })
	return nil
}
