package release

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/geosql/geosql/ledger"
)

// chargeNext checks that the release may begin, and charges accounts. If another process charges
// them, it waits.
func (s *sharding) chargeNext(ctx context.Context) error {
	if err := s.findWhole(); err != nil {
		return err
	}
	if err := s.reopen(); err != nil || s.sharded.Published() != nil {
		return err
	}
	if n := s.sharded.Charged(); s.charged >= 0 && n > s.charged {
		s.charged = n
		return s.idle(ctx)
	}
	err := s.mayCharge(ctx)
	if err == nil {
		err = s.explain(s.chargeRest(ctx))
	}
	if _, other := errors.AsType[*ledger.ReleaseError](err); other {
		if err := s.reopen(); err != nil {
			return err
		}
		s.charged = s.sharded.Charged()
		return s.idle(ctx)
	}
	return err
}

// mayCharge returns an error if the release cannot begin or go on. A [*ledger.ReleaseError] says
// that another process has charged accounts meanwhile.
func (s *sharding) mayCharge(ctx context.Context) error {
	s.found = s.whole
	if s.sharded.Charged() == 0 && !s.checked {
		if err := s.checkRows(ctx); err != nil {
			return err
		}
		s.found = s.whole
		if err := s.checkNames(ctx); err != nil {
			return err
		}
		if err := s.checkOutside(); err != nil {
			return err
		}
		if err := s.tryReport(); err != nil {
			return err
		}
		s.checked = true
	}
	before := s.sharded.Charged()
	d, err := s.demand(s.items(ctx))
	s.found.payers = before + d.accounts
	if err != nil || d.shortage.Accounts == 0 {
		return err
	}
	// An account that was charged meanwhile cannot pay twice and need not.
	if err := s.reopen(); err != nil {
		return err
	}
	if s.sharded.Charged() != before {
		return &ledger.ReleaseError{ID: s.id, Reason: "was continued by another process"}
	}
	return s.checkShortage(d.shortage)
}

// checkNames returns an error if a file is in the way.
func (s *sharding) checkNames(ctx context.Context) error {
	names := []string{manifestPath(s.spec.Out), reportPath(s.spec.Out)}
	for i := range s.n {
		names = append(names, shardPath(s.spec.Out, s.formats[0], i, s.n))
	}
	for _, name := range names {
		there, err := s.target.Exists(ctx, name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		// Another process may have gone on meanwhile, up to naming files.
		if err := s.reopen(); err != nil {
			return err
		}
		if s.sharded.Charged() == 0 {
			return existsError(name)
		}
		return &ledger.ReleaseError{ID: s.id, Reason: "was continued by another process"}
	}
	return nil
}

// chargeRest charges the accounts that are not charged yet, several per transaction.
func (s *sharding) chargeRest(ctx context.Context) error {
	if err := s.setLimit(); err != nil {
		return err
	}
	if err := inTransactions(s.items(ctx), s.sizes.charge, s.charge); err != nil {
		return err
	}
	return s.sharded.SetCharged()
}

// items returns the charges of the accounts that are not charged yet.
func (s *sharding) items(ctx context.Context) iter.Seq2[ledger.Item, error] {
	return itemsOf(s.sharded.Accounts(s.sharded.Charged()), func(counted ledger.Item) (ledger.Item, error) {
		if ctx.Err() != nil {
			return ledger.Item{}, context.Cause(ctx)
		}
		return s.item(counted.Account, s.most(counted.Evaluations*s.each()))
	})
}

// lostError reports that the file of a shard is missing that was drawn before.
func (s *sharding) lostError(shard int, a *ledger.Attempt, where string) error {
	return fmt.Errorf("shard %d of release %s was drawn by %s into %s, which is not there: all processes must write to one folder that they share; bring the file back (a shard is never drawn again)",
		shard, s.id, where, a.File)
}
