package release

import (
	"fmt"
	"iter"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A Shortage says which accounts cannot pay for their locations.
type Shortage struct {
	Accounts int64                  // that cannot pay
	First    []*ledger.RefusalError // of the first of them
	Limit    budget.Amount          // under which each could pay, in its window if it has one; 0: no limit is as large
	Epsilon  budget.Amount          // of a location that each could pay with its rest; 0: none
}

// firstRefusals is how many refusals a shortage has at most.
const firstRefusals = 5

// add adds the refusal of an account.
func (s *Shortage) add(item ledger.Item, standing *ledger.Standing) {
	refusal := standing.Refuse(item.Epsilon, 0)
	limit, ok := standing.Needed(item.Epsilon)
	epsilon := refusal.Left / budget.Amount(item.Evaluations)
	if s.Accounts == 0 {
		s.Limit, s.Epsilon = limit, epsilon
	}
	switch {
	case !ok || s.Limit == 0:
		s.Limit = 0
	default:
		s.Limit = max(s.Limit, limit)
	}
	s.Epsilon = min(s.Epsilon, epsilon)
	if s.Accounts++; len(s.First) < firstRefusals {
		s.First = append(s.First, refusal)
	}
}

// A demand is the sum that the accounts not charged yet have to pay.
type demand struct {
	accounts int64
	most     budget.Amount // of one account
	shortage Shortage
}

// demand asks the ledger which of the accounts that are not charged yet, with these charges, can pay. It charges
// and stores nothing.
func (r *run) demand(charges iter.Seq2[ledger.Item, error]) (d demand, err error) {
	watched := itemsOf(charges, func(item ledger.Item) (ledger.Item, error) {
		d.accounts++
		d.most = max(d.most, item.Epsilon)
		return item, nil
	})
	err = r.ledger.CannotPay(r.mechanism.Price().Unit, watched, r.spec.Limit, func(item ledger.Item, s ledger.Standing) {
		d.shortage.add(item, &s)
	})
	return d, err
}

// A ShortageError reports that accounts cannot pay for their locations. It wraps the refusal
// of the first of them, a [*ledger.RefusalError].
type ShortageError struct {
	Shortage
	Of int64 // accounts that have to pay
}

func (e *ShortageError) Unwrap() error { return e.First[0] }

func (e *ShortageError) Error() string {
	first := e.First[0]
	text := first.Error()
	if !first.Limited {
		text = fmt.Sprintf("account %s has no budget in unit '%s'; --limit EPSILON gives one to every account without a budget", quote([]byte(first.Account)), first.Unit)
	}
	text += fmt.Sprintf("; %d of %d accounts cannot pay", e.Accounts, e.Of)
	if e.Limit > 0 {
		text += fmt.Sprintf(", and a limit of %v/%s would suffice (--limit sets one where the ledger has none, budget_limit replaces one)", e.Limit, first.Unit)
	}
	return text
}

// checkShortage returns a [*ShortageError] if accounts cannot pay.
func (r *run) checkShortage(s Shortage) error {
	if s.Accounts == 0 {
		return nil
	}
	return r.withCharged(&ShortageError{s, r.found.payers - r.release.Charged()})
}

// withCharged adds the earlier charges to the reason why a release does not begin.
func (r *run) withCharged(err error) error {
	if n := r.release.Charged(); n > 0 {
		return fmt.Errorf("%w; an earlier attempt has charged %d accounts, which will not be charged again: repeat the command with --id %s", err, n, r.id)
	}
	return fmt.Errorf("%w; nothing was charged", err)
}
