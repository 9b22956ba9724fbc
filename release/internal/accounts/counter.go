package accounts

import (
	"context"
	"iter"
	"os"
)

// An Account is an account and the number of its locations.
type Account struct {
	Name      []byte // valid until the next Account
	Locations int64
}

// Limits bounds the memory and the work done at a time.
type Limits struct {
	Tally int // accounts counted in memory
	Merge int // runs merged at a time, at least 2
}

// A Counter counts the locations of every account of a data set. [Counter.Add] adds
// locations, [Counter.Sort] ends the counting, and [Counter.From] returns the accounts. A
// Counter must not be used concurrently.
type Counter struct {
	limits Limits
	open   func() (*os.File, error) // opens the file for data beyond memory

	tally    *Tally
	order    []int32      // of the tally, if it holds all accounts
	spill    *spill       // nil if the tally holds all accounts
	flushing chan flushed // receives the result of the last flush; nil if nothing is being flushed
	whole    stretch      // all accounts, in the spill
	count    int64        // number of accounts, once they are sorted
}

// NewCounter returns an empty counter. If memory does not hold all accounts, the counter
// calls open for a file, which must be new and private, and closes it in [Counter.Close].
func NewCounter(limits Limits, open func() (*os.File, error)) *Counter {
	return &Counter{limits: limits, open: open, tally: new(Tally)}
}

// Add adds the counts of a tally. An error is that of the file, and names it.
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

// MostText bounds the names in memory, in bytes. The last name may exceed it.
const MostText = 1 << 24

func (c *Counter) full() bool {
	return c.tally.names.Len() >= c.limits.Tally || c.tally.text >= MostText
}

// A flushed is the result of a flush: an empty tally, and an error.
type flushed struct {
	tally *Tally
	err   error
}

// flush begins to write the tally to the spill as a run. The next accounts are counted meanwhile, in
// the tally of the flush before.
func (c *Counter) flush() error {
	next, err := c.endFlush()
	if err != nil {
		return err
	}
	if c.spill == nil {
		if c.spill, err = newSpill(c.open, c.limits.Merge); err != nil {
			return err
		}
	}
	full, done := c.tally, make(chan flushed, 1)
	c.tally, c.flushing = next, done
	go func() {
		err := c.spill.add(full.all(full.order()))
		full.Reset()
		done <- flushed{full, err}
	}()
	return nil
}

// endFlush waits until nothing is being flushed, and returns an empty tally.
func (c *Counter) endFlush() (*Tally, error) {
	if c.flushing == nil {
		return new(Tally), nil
	}
	last := <-c.flushing
	c.flushing = nil
	return last.tally, last.err
}

// Sort sorts the accounts, after the last Add.
func (c *Counter) Sort(ctx context.Context) (err error) {
	if c.spill == nil {
		c.order = c.tally.order()
		c.count = int64(len(c.order))
		return nil
	}
	if err = c.flush(); err != nil {
		return err
	}
	c.tally = nil
	if _, err = c.endFlush(); err != nil {
		return err
	}
	c.whole, err = c.spill.merge(ctx)
	c.count = c.whole.accounts
	return err
}

// Len returns the number of accounts, once they are sorted, also after [Counter.Close].
func (c *Counter) Len() int64 { return c.count }

// From returns the sorted accounts, without the first ones, in ascending order of the bytes
// of their names. Each occurs once, with all its locations. The sequence can be read again.
// It ends after an error, which is that of the file or the cause of ctx.
func (c *Counter) From(ctx context.Context, first int64) iter.Seq2[Account, error] {
	if c.spill == nil {
		return until(ctx, c.tally.all(c.order[first:]))
	}
	return until(ctx, c.spill.all(c.whole, first))
}

// until ends a sequence when ctx is cancelled, with the cause as its error.
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

// Close frees the memory and closes the file. It keeps the number of accounts.
func (c *Counter) Close() {
	_, _ = c.endFlush() // closing before the end of the counting has another error
	if c.spill != nil {
		c.spill.close()
	}
	c.tally, c.order, c.spill = nil, nil, nil
}
