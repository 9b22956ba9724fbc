package release

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/accounts"
)

// chargeAll charges the accounts that no earlier attempt has charged, in order and several
// per transaction. That all accounts can pay was checked before.
func (r *run) chargeAll(ctx context.Context) error {
	all := r.found.accounts
	defer all.Close()
	left := r.found.payers - r.release.Charged()
	if left == 0 {
		return nil
	}
	r.reportCharged()
	if err := r.setLimit(); err != nil {
		return err
	}
	return inTransactions(r.charges(ctx), int(min(left, int64(r.sizes.charge))), r.charge)
}

// inTransactions has items charged, so many at a time and fewer if their accounts have long names.
func inTransactions(items iter.Seq2[ledger.Item, error], most int, charge func([]ledger.Item) error) error {
	next := make([]ledger.Item, 0, most)
	text := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		if len(next) == most || text >= accounts.MostText {
			if err := charge(next); err != nil {
				return err
			}
			next, text = next[:0], 0
		}
		next = append(next, item)
		text += len(item.Account)
	}
	if len(next) == 0 {
		return nil
	}
	return charge(next)
}

// charge charges the next accounts.
func (r *run) charge(items []ledger.Item) error {
	if err := r.release.Charge(r.mechanism.Price().Unit, items); err != nil {
		return err
	}
	r.reportCharged()
	return nil
}

// reportCharged reports the progress of the charges.
func (r *run) reportCharged() {
	n := r.release.Charged()
	r.spec.report(Progress{Charging, float64(n) / float64(r.found.payers), n})
}

// charges returns the charges of the accounts that are not yet charged.
func (r *run) charges(ctx context.Context) iter.Seq2[ledger.Item, error] {
	return ahead(ctx, itemsOf(r.found.accounts.From(ctx, r.release.Charged()), func(a accounts.Account) (ledger.Item, error) {
		return r.item(string(a.Name), r.most(a.Locations))
	}))
}

// itemsOf returns the item of each element of a sequence. It ends after an error, which may be that of the sequence.
func itemsOf[T any](all iter.Seq2[T, error], itemOf func(T) (ledger.Item, error)) iter.Seq2[ledger.Item, error] {
	return func(yield func(ledger.Item, error) bool) {
		for x, err := range all {
			var item ledger.Item
			if err == nil {
				item, err = itemOf(x)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// A stretch is some items that follow each other, and the error behind them.
type stretch struct {
	items []ledger.Item
	err   error
}

// inStretch is how many items a stretch has at most, and stretches how many may wait: together as many
// as one transaction charges, and as much text.
const inStretch, stretches = 1 << 12, 32

// ahead returns the same items, which another goroutine reads while the ledger is busy with those
// before them. When ctx is cancelled, items that were read are not charged any more.
func ahead(ctx context.Context, items iter.Seq2[ledger.Item, error]) iter.Seq2[ledger.Item, error] {
	return func(yield func(ledger.Item, error) bool) {
		read, stop := make(chan stretch, stretches), make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			defer close(read)
			readAhead(items, read, stop)
		})
		defer reader.Wait()
		defer close(stop)
		for s := range read {
			for _, item := range s.items {
				if ctx.Err() != nil {
					yield(ledger.Item{}, context.Cause(ctx))
					return
				}
				if !yield(item, nil) {
					return
				}
			}
			if s.err != nil {
				yield(ledger.Item{}, s.err)
				return
			}
		}
	}
}

// readAhead sends items in stretches until it is told to stop.
func readAhead(items iter.Seq2[ledger.Item, error], to chan<- stretch, stop <-chan struct{}) {
	var next stretch
	text := 0
	send := func() bool {
		select {
		case to <- next:
			next, text = stretch{}, 0
			return true
		case <-stop:
			return false
		}
	}
	for item, err := range items {
		if next.err = err; err != nil {
			break
		}
		if next.items == nil {
			next.items = make([]ledger.Item, 0, inStretch)
		}
		next.items = append(next.items, item)
		if text += len(item.Account); len(next.items) == inStretch || text >= accounts.MostText/stretches {
			if !send() {
				return
			}
		}
	}
	send()
}

// item returns the charge of an account for some locations.
func (r *run) item(account string, locations int64) (ledger.Item, error) {
	epsilon, ok := r.mechanism.Price().Amount.Times(locations)
	if !ok {
		return ledger.Item{}, fmt.Errorf("account %s has %d locations, which cost more than any budget can hold", quote([]byte(account)), locations)
	}
	return ledger.Item{Account: account, Epsilon: epsilon, Evaluations: locations}, nil
}

// setLimit sets the limit of the spec for every account, if the spec has one and the ledger
// has none.
func (r *run) setLimit() error {
	if r.spec.Limit == nil {
		return nil
	}
	return r.ledger.SetFirstLimit(everyone, r.mechanism.Price().Unit, *r.spec.Limit)
}

// explain adds a cure to a refusal.
func (r *run) explain(err error) error {
	var refusal *ledger.RefusalError
	switch {
	case !errors.As(err, &refusal):
		return err
	case !refusal.Limited:
		return fmt.Errorf("account %s has no budget in metres; --limit EPSILON gives one to every account without a budget", quote([]byte(refusal.Account)))
	case r.release.Charged() > 0:
		return fmt.Errorf("%w; %d accounts have been charged and will not be charged again: raise the limit and repeat the command with --id %s", err, r.release.Charged(), r.id)
	}
	return fmt.Errorf("%w; nothing was charged", err)
}
