package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// ErrClosed is the error of a ledger that is closed.
var ErrClosed = errors.New("ledger: closed")

// Core implements the methods of [ledger.Ledger] that need no more than a Store.
type Core struct {
	store    Store
	revision atomic.Int64 // changes when somebody has set limits

	// mu guards the data that waits in memory. Nobody waits for the store while holding it.
	mu         sync.Mutex
	notes      []*Change
	spare      []Change // allocated together, for notes
	groupNotes []groupNote
	pools      map[budget.Unit]*pools

	seats        map[string]*seat // of the traces that are open, or wait to be saved
	lease        *lease           // that the statements use; nil if none does
	waiting      []*trace         // to be saved
	waitingBytes int
	ending       []*lease
}

// New returns a Core over a store.
func New(store Store) *Core {
	return &Core{store: store, pools: map[budget.Unit]*pools{}, seats: map[string]*seat{}}
}

// update runs work in a transaction of the store. It reads the standings of needs.
func (c *Core) update(needs Needs, work func(Transaction) error) error {
	return Wrap(c.store.Update(context.Background(), needs, work))
}

// Ready implements [ledger.Ledger].
func (c *Core) Ready(ctx context.Context) error {
	return Wrap(c.store.Update(ctx, nil, func(Transaction) error { return nil }))
}

// over reports whether a term has ended. Most have no end, and need no clock.
func (c *Core) over(t ledger.Term) bool { return t.End != 0 && t.Over(c.store.Now()) }

// one returns the need of one standing.
func one(k Key) Needs { return func(yield func(Key) bool) { yield(k) } }

// view lets work read everything that has been charged so far.
func (c *Core) view(work func(Reader) error) error {
	if err := c.Flush(); err != nil {
		return err
	}
	return Wrap(c.store.View(context.Background(), work))
}

// Wrap says that an error of a store is the ledger's.
func Wrap(err error) error {
	if err == nil || err == ErrClosed || IsRefusal(err) {
		return err
	}
	return fmt.Errorf("ledger: %w", err)
}

// IsRefusal reports whether an error is one caller's. Such errors come before anything is
// written.
func IsRefusal(err error) bool {
	return Is[*ledger.RefusalError](err) || Is[*ledger.AlreadyChargedError](err) || Is[*ledger.TraceTakenError](err) || Is[*ledger.ReleaseError](err) || Is[*drawError](err)
}

// Is reports whether an error is of a type.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Balance implements [ledger.Ledger].
func (c *Core) Balance(account string, unit budget.Unit) (b ledger.Balance, err error) {
	err = c.view(func(r Reader) error {
		s, err := r.Standing(Key{account, unit})
		b = s.Balance
		return err
	})
	return b, err
}

// Page is the number of balances on a page.
const Page = 1000

// Sequence returns the charges that a function reads, all of them when the loop over them starts. An
// error ends the sequence.
func Sequence(read func() ([]ledger.Charge, error)) iter.Seq2[ledger.Charge, error] {
	return func(yield func(ledger.Charge, error) bool) {
		charges, err := read()
		for _, c := range charges {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(ledger.Charge{}, err)
		}
	}
}
