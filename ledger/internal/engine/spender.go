package engine

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
)

// spender implements [ledger.Spender].
type spender struct {
	statement *statement
	function  string
	unit      budget.Unit
	accounts  intern.Table
	holds     slab[hold] // by the account's number
	held      bool       // whether it has a hold
	noted     *Origin    // of its notes
	unchecked int        // evaluations until it looks for limits again
	looked    bool       // whether it has looked, and may draw from pools

	asked asked
	needs Needs                   // askedFor
	work  func(Transaction) error // charge
}

// hold is a reservation of a spender for one account, on disk. It is empty where no charge was granted. The fields that
// Charge reads and writes are in its first 64 bytes, and the size is a multiple of that, so that an account in no
// order costs one cache line.
type hold struct {
	revision int64 // of the ledger, when the limit was last checked
	ledger.Hold
	account string
	pool    *pool   // the account's, if it has one
	note    *Change // the note of its use, if one waits
	charged bool    // whether a charge was granted
	_       [16]byte
}

// aheadFromPool bounds how many evaluations a hold takes from a pool at a time: other
// statements want to take from it too.
const aheadFromPool = 16

// Charge implements [ledger.Spender]. It takes no lock while the account's hold covers the cost,
// except to look for limits now and then.
func (p *spender) Charge(account []byte, cost budget.Amount) error {
	h := p.holds.at(p.accounts.Number(account))
	if cost <= 0 || cost > h.Left || p.unchecked == 0 || h.revision != p.statement.core.revision.Load() || p.statement.core.over(h.Term) {
		if !h.charged {
			return p.chargeFirst(h, account, cost)
		}
		return p.chargeBeyond(h, cost)
	}
	p.unchecked--
	h.Use(cost)
	return nil
}

// chargeFirst charges an account that has no hold yet.
func (p *spender) chargeFirst(h *hold, account []byte, cost budget.Amount) error {
	if p.statement.over != nil {
		return p.statement.over
	}
	*h = hold{revision: p.statement.core.revision.Load()}
	h.account, h.pool = p.statement.core.nameAndPool(p.unit, account)
	if err := p.chargeBeyond(h, cost); err != nil {
		return err
	}
	h.charged, p.held = true, true
	return nil
}

// chargeBeyond charges a cost that the hold may not cover: it first adds to the hold from the
// account's pool, then from its limit. Before it refuses, the others of the statement return the amounts that they hold:
// those must not make anybody's budget end earlier.
func (p *spender) chargeBeyond(h *hold, cost budget.Amount) error {
	if err := ledger.CheckCharge(h.account, p.unit, cost); err != nil {
		return err
	}
	if err := p.checkLimits(h); err != nil {
		return err
	}
	drawn, covered := p.takeFromPool(h, cost)
	if !covered {
		returned, err := p.statement.othersReturn(p, h.account)
		if err != nil {
			return err
		}
		if returned {
			more, now := p.takeFromPool(h, cost)
			drawn, covered = ledger.Share{Term: more.Term, Left: drawn.In(more.Term) + more.Left}, now
		}
	}
	if covered {
		h.Use(cost)
		return nil
	}
	err := p.takeFromLimit(h, cost)
	if Is[*InDoubtError](err) {
		// The use of the hold may be stored, and the rest of it as spent.
		h.SetRecorded()
		h.Drop()
		return err
	}
	if err == nil {
		return nil
	}
	if drawn.Left > 0 {
		if err := p.returnDrawn(h, drawn); err != nil {
			return err
		}
	}
	if err := p.statement.makeRoom(err, p); err != nil {
		return err
	}
	return p.chargeBeyond(h, cost)
}

// returnDrawn returns a share of a hold to the pool. A share that has to go back to the limit is there at once, for the
// next charge.
func (p *spender) returnDrawn(h *hold, s ledger.Share) error {
	c := p.statement.core
	c.mu.Lock()
	h.RemoveFromPool(s)
	toLimit := c.returnToPool(h.pool, s, p.unit, h.revision)
	c.mu.Unlock()
	if !toLimit {
		return nil
	}
	return c.Flush()
}

// takeFromPool adds to the hold from the account's pool: somewhat more than the cost where
// the pool covers it, and else all there is.
func (p *spender) takeFromPool(h *hold, cost budget.Amount) (drawn ledger.Share, covered bool) {
	c := p.statement.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over(h.Term) {
		p.note(h, 0)
		h.Drop()
	}
	if h.pool == nil {
		h.pool = c.pools[p.unit].of(h.account)
	}
	q := h.pool
	if !p.looked || q == nil || q.left == 0 || c.over(q.term) || h.Left > 0 && h.Term != q.term {
		return ledger.Share{}, cost <= h.Left
	}
	most := q.left
	if covered = cost <= h.Left+q.left; covered {
		p.note(h, 0)
		if ahead, ok := cost.Times(aheadFromPool); ok {
			most = ahead
		}
	}
	drawn = q.take(most)
	h.AddFromPool(drawn, q.limit)
	return drawn, covered
}

// takeFromLimit charges the cost: it takes the part that the hold does not cover from the account's
// limit, and reserves ahead. The entry also records the earlier use of the hold.
func (p *spender) takeFromLimit(h *hold, cost budget.Amount) error {
	k := &p.asked
	k.hold, k.cost = h, cost
	if err := p.statement.core.update(p.needs, p.work); err != nil {
		return err
	}
	h.SetRecorded()
	if h.Term.Start != k.before.Term.Start {
		h.Drop()
	}
	h.Term = k.before.Term
	h.AddFromLimit(k.granted, cost, k.before.Limit)
	h.Use(cost)
	h.SetRecorded()
	return nil
}

// asked is a spender's request to a transaction, and the result. A spender has one, so that charging
// allocates as little as it can.
type asked struct {
	hold    *hold
	cost    budget.Amount
	before  ledger.Standing
	granted budget.Amount
	change  Change
	posting [1]Posting
}

// askedFor is the need of the transaction.
func (p *spender) askedFor(yield func(Key) bool) { yield(Key{p.asked.hold.account, p.unit}) }

// charge charges the request.
func (p *spender) charge(tx Transaction) (err error) {
	k := &p.asked
	h := k.hold
	if k.before, err = tx.Standing(Key{h.account, p.unit}); err != nil {
		return err
	}
	s := &k.before
	held := ledger.Share{Term: h.Term, Left: h.Left}.In(s.Term)
	if err := checkAffordable(tx, s, k.cost, held); err != nil {
		return err
	}
	k.granted = max(k.cost-held, h.Ahead(k.cost, s.Remaining()))
	used, evaluations := h.Unrecorded()
	spent := used + k.cost
	k.change = Change{
		Origin:      p.origin(tx.Now()),
		Account:     h.account,
		Spent:       spent,
		Reserved:    k.granted - spent,
		Evaluations: evaluations + 1,
	}
	k.posting[0] = k.change.posting(s)
	return tx.Post(k.change.Origin, k.posting[:])
}

// note notes the use of the hold since the last record, and the returned amount. It is
// called under the ledger's mu.
func (p *spender) note(h *hold, returned budget.Amount) {
	used, evaluations := h.Unrecorded()
	h.SetRecorded()
	if used == 0 && returned == 0 {
		return
	}
	n := h.note
	if n == nil || n.taken || n.Term != h.Term {
		if p.noted == nil {
			p.noted = p.origin(p.statement.core.store.Now())
		}
		n = p.statement.core.addNote(Change{Origin: p.noted, Account: h.account, Term: h.Term})
		h.note = n
	}
	n.Spent += used
	n.Reserved -= used + returned
	n.Evaluations += evaluations
}

func (p *spender) origin(time int64) *Origin {
	return &Origin{p.statement.run, time, p.function, p.unit}
}

// end gives up all holds: amounts from pools go back to them, the rest to the limits. It
// reports whether there is anything to return to a limit.
func (p *spender) end() (returns bool) {
	for i := range p.accounts.Len() {
		h := p.holds.at(i)
		if !h.charged {
			continue
		}
		fromLimit, fromPool := h.Unused()
		if fromPool > 0 {
			toLimit := p.statement.core.returnToPool(h.pool, ledger.Share{Term: h.Term, Left: fromPool}, p.unit, h.revision)
			returns = returns || toLimit
		}
		p.note(h, fromLimit)
		returns = returns || fromLimit > 0
	}
	p.holds, p.held = nil, false
	p.accounts = intern.Table{}
	return returns
}
