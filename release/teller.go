package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/table"
)

// A teller takes the batches in the order of the input, when they are drawn.
type teller struct {
	release *ledger.Release
	cost    budget.Amount
	out     table.Writer
	rejects table.Writer
	rows    int64 // of the input that were taken
}

// take charges a batch, unless an earlier attempt has, and then adds it to the temporary
// files.
func (t *teller) take(b *batch) error {
	if b.last() > t.release.Charged() {
		if err := b.accounts.check(t.cost); err != nil {
			return err
		}
		if err := t.release.Charge(b.last(), budget.Metre, b.accounts.items(t.cost)); err != nil {
			return err
		}
	}
	t.rows = b.last()
	if err := t.out.Append(b.block); err != nil || len(b.invalid) == 0 {
		return err
	}
	return t.rejects.Append(b.rejected)
}

// drawAll is the second pass.
func (r *run) drawAll(ctx context.Context, out, rejects table.Writer) error {
	workers := make([]func(*batch) error, r.spec.workers())
	drawers := make([]*drawer, len(workers))
	for w := range workers {
		drawers[w] = r.newDrawer(out, rejects)
		workers[w] = drawers[w].draw
	}
	t := &teller{release: r.release, cost: r.mechanism.cost, out: out, rejects: rejects}
	err := r.pipeline().run(ctx, workers, func(b *batch) error {
		if err := t.take(b); err != nil {
			return err
		}
		r.spec.tell(Progress{Releasing, float64(b.last()) / float64(r.found.rows), b.last()})
		return nil
	})
	if err == nil && t.rows != r.found.rows {
		err = errChanged
	}
	if err != nil {
		return r.explain(err)
	}
	for _, d := range drawers {
		for k := range d.surveys {
			r.surveys[k].merge(&d.surveys[k])
		}
	}
	return nil
}

// explain says what can be done about a refusal.
func (r *run) explain(err error) error {
	var refusal *ledger.Refusal
	switch {
	case !errors.As(err, &refusal):
		return err
	case !refusal.Limited:
		return fmt.Errorf("account %s has no budget in metres; --limit EPSILON gives one to every account without", quote([]byte(refusal.Account)))
	case r.release.Charged() > 0:
		return fmt.Errorf("%w; %d rows are charged and will not be again: raise the limit and repeat the command with --id %s", err, r.release.Charged(), r.id)
	}
	return fmt.Errorf("%w; nothing was charged", err)
}
