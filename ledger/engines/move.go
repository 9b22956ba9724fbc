package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/postgres"
)

// Moved reports a finished move.
type Moved struct {
	ID       string
	Before   bool  // it had been done before
	Entries  int64 // all compared except archived ones, as was everything else
	Balances int64
	Limits   int64
	Closed   time.Duration // for how long nobody could charge it
}

// Move moves a ledger from a file to a server, or from a server to a file, with all that it holds, and with its
// ID, which databases hold. Nobody may use it meanwhile: reserved amounts then stay reserved.
//
// First the ledger is retired where it is: it can be read from then on, and not charged. Then
// it is copied, verified, and compared with the retired one to the last digit, and only then it can
// be charged at its new place. If the move is interrupted, the same move goes on with it; after an error
// that leaves no doubt the ledger is in use again where it was. Step is called when a step begins, with share 0, and then now and
// again with the share of it that is done.
func Move(ctx context.Context, from, to string, mode fs.FileMode, step func(doing string, share float64)) (*Moved, error) {
	m := &move{from: from, to: to, step: step}
	switch {
	case IsURL(from) && IsURL(to):
		return nil, errors.New("a ledger moves from a file to a server, or from a server to a file: move it to a file first")
	case !IsURL(from) && !IsURL(to):
		return nil, errors.New("a ledger moves from a file to a server, or from a server to a file; to rename a file, use 'mv' when nobody uses it")
	}
	defer m.close()
	if err := m.open(mode); err != nil {
		return nil, err
	}
	return m.run(ctx)
}

// A move is under way as long as the file that it is from or to is locked: see [file.Place].
type move struct {
	from, to   string
	labels     struct{ from, to string } // as the marks name the places
	old, new   engine.Place
	step       func(doing string, share float64)
	oldS, newS engine.State
}

// open opens both ends, that in a file first.
func (m *move) open(mode fs.FileMode) error {
	for _, where := range []string{m.from, m.to} {
		if err := Check(where); err != nil {
			return err
		}
	}
	if IsURL(m.from) {
		return cmp.Or(m.openFile(m.to, mode, &m.new, &m.labels.to), m.openServer(m.from, &m.old, &m.labels.from))
	}
	return cmp.Or(m.openFile(m.from, 0, &m.old, &m.labels.from), m.openServer(m.to, &m.new, &m.labels.to))
}

func (m *move) openFile(path string, mode fs.FileMode, at *engine.Place, label *string) error {
	if path == m.from {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("there is no ledger %s", path)
		}
	}
	p, err := file.NewPlace(path, mode)
	if err != nil {
		return err
	}
	*at, *label = p, p.Path()
	if host, err := os.Hostname(); err == nil {
		*label = host + ":" + p.Path()
	}
	return nil
}

func (m *move) openServer(url string, at *engine.Place, label *string) error {
	p, err := postgres.NewPlace(url)
	if err != nil {
		return err
	}
	*at, *label = p, Label(url)
	return nil
}

func (m *move) close() {
	for _, p := range []engine.Place{m.old, m.new} {
		if p != nil {
			_ = p.Close() // everything is committed
		}
	}
}

// run moves the ledger, or goes on with a move that was interrupted.
func (m *move) run(ctx context.Context) (*Moved, error) {
	if err := m.look(); err != nil {
		return nil, err
	}
	if m.isDone() {
		return &Moved{ID: m.newS.ID, Before: true}, nil
	}
	if m.oldS.Retired == "" {
		_, err := m.old.Verify(m.begin(ctx, "verifying "+Label(m.from)))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be moved: %w", Label(m.from), err)
		}
		if err := m.old.Retire(m.labels.to); err != nil {
			return nil, err
		}
	}
	closed := time.Now()
	proof, err := m.carry(ctx)
	if err != nil {
		return nil, m.giveUp(err)
	}
	if err := m.new.Complete(); err != nil { // it may be complete all the same
		return nil, fmt.Errorf("%w; nobody can charge the ledger now: give the same command again", err)
	}
	return &Moved{ID: m.oldS.ID, Entries: proof.Head.ID, Balances: proof.Balances, Limits: proof.Limits, Closed: time.Since(closed)}, nil
}

// begin begins a step. It returns a function that is called with the share of the step that is done, and returns the cause once
// ctx has ended.
func (m *move) begin(ctx context.Context, doing string) (each func(share float64) error) {
	m.step(doing, 0)
	return func(share float64) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.step(doing, share)
		return nil
	}
}

// look reads both ends, and refuses a ledger that cannot be moved.
func (m *move) look() (err error) {
	if m.oldS, err = m.old.State(); err != nil {
		return err
	}
	if m.newS, err = m.new.State(); err != nil {
		return err
	}
	from, to := Label(m.from), Label(m.to)
	inUse := m.newS.ID != "" && m.newS.Retired == "" && !m.newS.Arriving
	switch {
	case m.oldS.ID == "":
		return fmt.Errorf("there is no ledger at %s", from)
	case m.oldS.Arriving:
		return fmt.Errorf("a ledger is being moved to %s, and that was interrupted: give that command again", from)
	case m.oldS.Retired != "" && m.oldS.Retired != m.labels.to:
		return fmt.Errorf("%s was moved to %s", from, m.oldS.Retired)
	case m.newS.ID != "" && m.newS.ID != m.oldS.ID:
		return fmt.Errorf("there is another ledger at %s, with id %s; that of %s has id %s", to, m.newS.ID, from, m.oldS.ID)
	case m.newS.Retired != "" && m.newS.Moves >= m.oldS.Moves, m.newS.Arriving && m.newS.Moves != m.oldS.Moves+1, inUse && m.newS.Moves <= m.oldS.Moves && m.oldS.Retired != "":
		return fmt.Errorf("%s is an older state of the ledger than the one at %s", from, to)
	case inUse && m.oldS.Retired == "":
		return fmt.Errorf("the ledger at %s has the same id, %s, and can be charged: one of the two is a copy that geosql did not make; put it away", to, m.newS.ID)
	}
	return nil
}

// isDone reports whether the ledger has arrived and can be used.
func (m *move) isDone() bool {
	return m.oldS.Retired != "" && m.newS.ID == m.oldS.ID && m.newS.Retired == "" && !m.newS.Arriving
}

// carry copies the ledger and proves that the copy has all of it.
func (m *move) carry(ctx context.Context) (proof engine.Proof, err error) {
	each := m.begin(ctx, "copying "+Label(m.from))
	if err := m.old.Read(func(c *engine.Contents) error {
		c.Entries = watched(c, each)
		return m.new.Arrive(c)
	}); err != nil {
		return proof, err
	}
	if _, err = m.new.Verify(m.begin(ctx, "verifying "+Label(m.to))); err != nil {
		return proof, err
	}
	if proof, err = prove(m.old, m.begin(ctx, "comparing: reading "+Label(m.from))); err != nil {
		return proof, err
	}
	arrived, err := prove(m.new, m.begin(ctx, "comparing: reading "+Label(m.to)))
	if err == nil && arrived != proof {
		err = fmt.Errorf("the copy at %s differs from the ledger at %s", Label(m.to), Label(m.from))
	}
	return proof, err
}

// watched returns the entries of contents, with calls of each.
func watched(c *engine.Contents, each func(share float64) error) iter.Seq2[*ledger.Entry, error] {
	entries := c.Entries
	return func(yield func(*ledger.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				err = engine.Tell(each, e.ID, c.Last)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// prove reads all that is at a place.
func prove(p engine.Place, each func(share float64) error) (proof engine.Proof, err error) {
	err = p.Read(func(c *engine.Contents) error {
		c.Entries = watched(c, each)
		proof, err = c.Prove()
		return err
	})
	return proof, err
}

// giveUp lets the ledger be used where it was, after an error before it could be complete where it goes. Nobody
// else can complete it: the move has the file locked.
func (m *move) giveUp(cause error) error {
	if err := m.old.Reinstate(); err != nil {
		return fmt.Errorf("%w; nobody can charge the ledger now: give the same command again", cause)
	}
	return fmt.Errorf("%w; the ledger is in use where it was", cause)
}
