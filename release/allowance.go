package release

import (
	"context"
	"sync"

	"github.com/geosql/geosql/internal/intern"
)

// An allowance says how many rows may still be kept of the accounts that have more rows. It holds
// them in memory. Batches take their turns in their order, on any worker.
type allowance struct {
	accounts intern.Table
	left     []int64 // rows, by the number of the account

	turns sync.Mutex
	next  int // number of the batch in turn
	taken *sync.Cond
}

func newAllowance() *allowance {
	a := new(allowance)
	a.taken = sync.NewCond(&a.turns)
	return a
}

// allow sets how many rows of an account may be kept.
func (a *allowance) allow(account []byte, rows int64) {
	if a.accounts.Number(account) == len(a.left) {
		a.left = append(a.left, rows)
	}
}

// An asking is a row of an account with more rows than may be kept.
type asking struct{ row, account int }

// take appends to dropped the rows that may not be kept. It waits for the turn of a batch.
func (a *allowance) take(batch int, rows []asking, dropped []int) []int {
	a.turns.Lock()
	defer a.turns.Unlock()
	for a.next != batch {
		a.taken.Wait()
	}
	for _, x := range rows {
		if a.left[x.account] > 0 {
			a.left[x.account]--
		} else {
			dropped = append(dropped, x.row)
		}
	}
	a.next++
	a.taken.Broadcast()
	return dropped
}

// drop finds the rows of a batch that are more than their accounts may have.
func (d *drawer) drop(b *batch) {
	b.dropped = b.dropped[:0]
	if d.allowance == nil {
		return
	}
	d.asking = d.asking[:0]
	d.begin(&b.rows)
	for i := range b.rows.Len() {
		if n, err := d.readRow(&b.rows, i); err != nil || n == 0 {
			continue
		}
		account := d.payer
		if d.plan.account >= 0 {
			account, _ = b.rows.Columns[d.plan.account].At(i)
		}
		if number, found := d.allowance.accounts.Find(account); found {
			d.asking = append(d.asking, asking{i, number})
		}
	}
	b.dropped = d.allowance.take(b.number, d.asking, b.dropped)
}

// most returns the number of locations of an account that are released, of all that it has.
func (r *run) most(locations int64) int64 {
	if r.spec.MaxRows == 0 {
		return locations
	}
	return min(locations, int64(r.spec.MaxRows)*int64(len(r.plan.points)))
}

// limitRows finds the accounts that have more rows than may be kept, and leaves the locations of
// these rows out of the findings.
func (r *run) limitRows(ctx context.Context) error {
	f := r.found
	if r.spec.MaxRows == 0 {
		return nil
	}
	a, each := newAllowance(), int64(len(r.plan.points))
	for account, err := range f.accounts.From(ctx, 0) {
		if err != nil {
			return err
		}
		if excess := account.Locations - r.most(account.Locations); excess > 0 {
			a.allow(account.Name, int64(r.spec.MaxRows))
			f.dropped += excess / each
			f.locations -= excess
		}
	}
	if f.dropped > 0 {
		f.allowance = a
	}
	return nil
}
