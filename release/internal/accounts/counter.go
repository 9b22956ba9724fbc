package accounts

import (
	"context"
	"iter"
	"os"
)

// An Account pays for locations.
type Account struct {
	Name      []byte // valid until the next one
	Locations int64
}

// Limits are how much is kept in memory and done at a time.
type Limits struct {
	Tally int // accounts that are counted in memory
	Merge int // runs of them that are merged at a time, at least 2
}

// A Counter counts the locations of every account of a data set: [Counter.Add] adds some,
// [Counter.Sort] ends that, and [Counter.Behind] gives the accounts. It is used by one
// goroutine at a time.
type Counter struct {
	limits Limits
	open   func() (*os.File, error) // the file for what memory does not hold

	tally Tally
	order []int32 // of a tally that holds all
	spill *spill  // nil where it does
	whole stretch // of the spill: all accounts
	count int64   // of the accounts, once they are sorted
}

// NewCounter returns a counter of nothing. Where memory does not hold all accounts it opens
// a file for them, which has to be new and not for others to read, and closes it in the end.
func NewCounter(limits Limits, open func() (*os.File, error)) *Counter {
	return &Counter{limits: limits, open: open}
}

// Add adds what was tallied. An error is one of the file, and names it.
func (c *Counter) Add(t *Tally) error {
	for i, n := range t.counts {
		if c.full() {
			if err := c.flush(); err != nil {
				return err
			}
		}
		c.tally.Add(t.names.Name(i), n)
	}
	return nil
}

// MostText bounds the names in memory, in bytes, but for one.
const MostText = 1 << 24

func (c *Counter) full() bool {
	return c.tally.names.Len() >= c.limits.Tally || c.tally.text >= MostText
}

// flush makes a run of the tally.
func (c *Counter) flush() (err error) {
	if c.spill == nil {
		if c.spill, err = newSpill(c.open, c.limits.Merge); err != nil {
			return err
		}
	}
	err = c.spill.add(c.tally.all(c.tally.order()))
	c.tally.Reset()
	return err
}

// Sort puts the accounts in order, when all were added.
func (c *Counter) Sort(ctx context.Context) (err error) {
	if c.spill == nil {
		c.order = c.tally.order()
		c.count = int64(len(c.order))
		return nil
	}
	if err = c.flush(); err != nil {
		return err
	}
	c.tally = Tally{}
	c.whole, err = c.spill.merge(ctx)
	c.count = c.whole.accounts
	return err
}

// Len is the number of accounts, once they are sorted, also after [Counter.Close].
func (c *Counter) Len() int64 { return c.count }

// Behind are the accounts behind the first ones, in ascending order of the bytes of their
// names, each once and with all its locations. They are sorted, and can be read again. After
// an error, of the file or the cause of ctx, there are no more.
func (c *Counter) Behind(ctx context.Context, first int64) iter.Seq2[Account, error] {
	if c.spill == nil {
		return until(ctx, c.tally.all(c.order[first:]))
	}
	return until(ctx, c.spill.all(c.whole, first))
}

// until ends a sequence when its context ends, with the reason.
func until(ctx context.Context, all iter.Seq2[Account, error]) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		for a, err := range all {
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// Close gives up the memory and the file; their number stays.
func (c *Counter) Close() {
	if c.spill != nil {
		c.spill.close()
	}
	c.tally, c.order, c.spill = Tally{}, nil, nil
}
