package file

import (
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/spin"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Spin walks through the model of package spin at random, and processes on one file make the calls of
// the model. After every call the file must have the model's state, and so must the memory of the caller.
func TestModelOfSpinIsTheLedger(t *testing.T) {
	t.Parallel()
	need.Program(t, "spin")
	for _, seed := range trials.Some(t, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) {
		for _, window := range []int{0, 2} {
			walk, err := spin.Walk(seed+1, 2500, 3, 7, window)
			check(t, err)
			w := newWalker(t, 3, 7, window)
			for i, call := range walk {
				w.make(call)
				if got := w.state(call); got != call.State {
					t.Fatalf("seed %d, window %d, call %d:\n%s\nthe model has  %+v\nthe ledger has %+v", seed+1, window, i, spin.Show(walk[:i+1]), call.State, got)
				}
			}
			w.end()
		}
	}
}

// walker plays the processes of a walk. The model's time 1 is tick.
type walker struct {
	*testing.T
	path      string
	now       int64
	processes []*walking
	granted   int
	window    int    // seconds
	reader    *store // another connection
}

// walking is a process of a walk: a ledger of its own on the file, and its statement.
type walking struct {
	ledger    *Ledger
	statement ledger.Statement
	spender   ledger.Spender
}

const (
	tick        = 1_000_000
	walkAccount = "ana"
)

func newWalker(t *testing.T, processes, limit, window int) *walker {
	w := &walker{T: t, path: filepath.Join(t.TempDir(), "x-ledger"), now: tick, window: window}
	for range processes {
		w.processes = append(w.processes, w.open())
	}
	w.processes[0].limit(t, limit, window)
	for _, p := range w.processes { // as if they were opened later
		p.kill()
		*p = *w.open()
	}
	var err error
	w.reader, err = connect(w.path, false)
	check(t, err)
	return w
}

// open opens the file as another process would: the registry must not know it.
func (w *walker) open() *walking {
	l, err := Open(w.path, true)
	check(w, err)
	registry.Lock()
	delete(registry.ledgers, l.key())
	registry.Unlock()
	l.clock = func() int64 { return w.now }
	return &walking{ledger: l}
}

// kill ends a process that has forgotten everything.
func (p *walking) kill() {
	_ = p.ledger.watcher.close()
	_ = p.ledger.db.close()
	p.ledger.turns.Close()
}

// limit sets the account's limit.
func (p *walking) limit(t testing.TB, limit, window int) {
	check(t, p.ledger.SetLimit(walkAccount, "m", budget.Amount(limit), int64(window)))
}

// make makes a call of the model.
func (w *walker) make(c spin.Call) {
	w.Helper()
	p := w.processes[c.Process%len(w.processes)]
	switch c.What {
	case "clock":
		w.now = int64(c.X) * tick
	case "crash":
		p.kill()
		*p = *w.open()
	case "close":
		check(w, p.ledger.Close())
		*p = *w.open()
	case "setLimit":
		p.limit(w, c.X, w.window)
	case "reserve":
		w.unlessRefused(p.ledger.Reserve("m", []ledger.Item{{Account: walkAccount, Epsilon: budget.Amount(c.X)}}))
	case "charge":
		if p.statement == nil {
			p.statement = p.ledger.NewStatement()
			p.spender = p.statement.Spender("f", "m")
		}
		if w.unlessRefused(p.spender.Charge([]byte(walkAccount), budget.Amount(c.X))) {
			w.granted += c.X
		}
	case "end":
		check(w, p.statement.End())
		p.statement, p.spender = nil, nil
	default:
		w.Fatalf("the model does %q", c.What)
	}
}

// unlessRefused reports whether a call was granted.
func (w *walker) unlessRefused(err error) bool {
	w.Helper()
	check(w, unlessRefused(err))
	return err == nil
}

// state returns the state of the file, and the memory of the caller.
func (w *walker) state(c spin.Call) (s spin.State) {
	if c.What == "clock" || c.What == "crash" {
		return s // the model says nothing
	}
	p := w.processes[c.Process]
	s.Now, s.Granted = int(w.now/tick), w.granted
	err := w.reader.query(`SELECT l.epsilon, coalesce(b.spent, 0), coalesce(b.reserved, 0), coalesce(b.window_start, 0), coalesce(b.window_spent, 0)
		FROM budget AS l LEFT JOIN balance AS b USING (account, unit) WHERE account = ?1`, func(row *sqlite.Stmt) error {
		var v [5]sqlite.Value
		row.Row(0, v[:])
		s.Limit, s.Spent, s.Reserved = int(v[0].Int()), int(v[1].Int()), int(v[2].Int())
		s.WindowStart, s.WindowSpent = int(v[3].Int()/tick), int(v[4].Int())
		return nil
	}, walkAccount)
	check(w, err)
	s.Pool = int(p.ledger.Pooled(engine.Key{Account: walkAccount, Unit: "m"}))
	if p.spender != nil {
		if h := engine.Held(p.spender, walkAccount); h != nil {
			s.Hold = int(h.Left)
		}
	}
	return s
}

// end ends the processes.
func (w *walker) end() {
	for _, p := range w.processes {
		p.kill()
	}
	check(w, w.reader.close())
}
