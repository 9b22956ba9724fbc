package release

import (
	"context"
	"iter"
)

// An account pays for locations.
type account struct {
	name      []byte // valid until the next one
	locations int64
}

// accounts count the locations of every account of a data set. Memory holds so many of
// them; where there are more they go to a file, and are sorted there.
type accounts struct {
	path  string // of the file
	sizes sizes

	tally tally
	order []int32 // of a tally that holds all
	spill *spill  // nil where it does
	whole stretch // of the spill: all accounts
	count int64   // of the accounts, once they are sorted
}

// add adds the tally of a batch.
func (a *accounts) add(t *tally) error {
	for i, n := range t.counts {
		if a.full() {
			if err := a.flush(); err != nil {
				return err
			}
		}
		a.tally.add(t.names.Name(i), n)
	}
	return nil
}

// mostText bounds the names in memory, in bytes.
const mostText = 1 << 24

func (a *accounts) full() bool {
	return a.tally.names.Len() >= a.sizes.tally || a.tally.text >= mostText
}

// flush makes a run of the tally.
func (a *accounts) flush() (err error) {
	if a.spill == nil {
		if a.spill, err = newSpill(a.path, a.sizes.merge); err != nil {
			return err
		}
	}
	err = a.spill.add(a.tally.all(a.tally.order()))
	a.tally.reset()
	return err
}

// sort puts the accounts in order, when all were added.
func (a *accounts) sort(ctx context.Context) (err error) {
	if a.spill == nil {
		a.order = a.tally.order()
		a.count = int64(len(a.order))
		return nil
	}
	if err = a.flush(); err != nil {
		return err
	}
	a.tally = tally{}
	a.whole, err = a.spill.merge(ctx)
	a.count = a.whole.accounts
	return err
}

// behind are the accounts behind the first ones, in their order. They are sorted.
func (a *accounts) behind(first int64) iter.Seq2[account, error] {
	if a.spill == nil {
		return a.tally.all(a.order[first:])
	}
	return a.spill.all(a.whole, first)
}

// until ends a sequence when its context ends, with the reason.
func until(ctx context.Context, all iter.Seq2[account, error]) iter.Seq2[account, error] {
	return func(yield func(account, error) bool) {
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

// close gives up the memory and the file; the count stays.
func (a *accounts) close() {
	if a.spill != nil {
		a.spill.close()
	}
	a.tally, a.order, a.spill = tally{}, nil, nil
}
