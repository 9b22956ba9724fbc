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
	last      *hold // of the account charged last; nil at first
	accounts  intern.Table
	holds     []*hold // by the account's number; nil where the first charge was refused
	spare     []hold  // allocated together
	noted     *Origin // of its notes
	unchecked int     // evaluations until it looks for limits again
	looked    bool    // whether it has looked, and may draw from pools

	asked asked
	needs Needs                   // askedFor
	work  func(Transaction) error // charge
}

// hold is what a spender has reserved for one account, on disk.
type hold struct {
	ledger.Hold
	account  string
	pool     *pool   // the account's, if it has one
	note     *Change // the note of its use, if one waits
	revision int64   // of the ledger, when the limit was last checked
}

// aheadFromPool bounds how many evaluations a hold takes from a pool at a time: other
// statements want to take from it too.
const aheadFromPool = 16

// Charge implements [ledger.Spender]. It takes no lock while the account's hold covers the cost,
// except to look for limits now and then.
func (p *spender) Charge(account []byte, cost budget.Amount) error {
	h := p.last
	if h == nil || h.account != string(account) {
		i := p.accounts.Number(account)
		if i == len(p.holds) {
			p.holds = append(p.holds, nil)
		}
		if h = p.holds[i]; h == nil {
			return p.chargeFirst(i, account, cost)
		}
		p.last = h
	}
	if cost <= 0 || cost > h.Left || p.unchecked == 0 || h.revision != p.statement.core.revision.Load() ||
		h.Term.End != 0 && h.Term.Over(p.statement.core.store.Now()) {
		return p.chargeBeyond(h, cost)
	}
	p.unchecked--
	h.Use(cost)
	return nil
}

// chargeFirst charges account number i, which has no hold yet.
func (p *spender) chargeFirst(i int, account []byte, cost budget.Amount) error {
	if p.statement.over != nil {
		return p.statement.over
	}
	h := p.newHold()
	h.revision = p.statement.core.revision.Load()
	h.account, h.pool = p.statement.core.nameAndPool(p.unit, account)
	if err := p.chargeBeyond(h, cost); err != nil {
		return err
	}
	p.last, p.holds[i] = h, h
	return nil
}

// newHold returns an empty hold. A statement over many accounts needs many holds, which are
// allocated together.
func (p *spender) newHold() *hold {
	if len(p.spare) == 0 {
		p.spare = make([]hold, max(1, len(p.holds)))
	}
	h := &p.spare[0]
	p.spare = p.spare[1:]
	return h
}

// chargeBeyond charges a cost that the hold may not cover: it first adds to the hold from the
// account's pool, then from its limit.
func (p *spender) chargeBeyond(h *hold, cost budget.Amount) error {
	if err := ledger.CheckCharge(h.account, p.unit, cost); err != nil {
		return err
	}
	if err := p.checkLimits(h); err != nil {
		return err
	}
	drawn, covered := p.takeFromPool(h, cost)
	if covered {
		h.Use(cost)
		return nil
	}
	err := p.takeFromLimit(h, cost)
	if Is[*InDoubtError](err) {
		// It may be stored what the hold has used, and that the rest of it is spent.
		h.SetRecorded()
		h.Drop()
		return err
	}
	if err != nil && drawn.Left > 0 {
		c := p.statement.core
		c.mu.Lock()
		defer c.mu.Unlock()
		h.RemoveFromPool(drawn)
		c.returnToPool(h.pool, drawn, p.unit, h.revision)
	}
	return err
}

// takeFromPool adds to the hold from the account's pool: somewhat more than the cost where
// the pool covers it, and else all there is.
func (p *spender) takeFromPool(h *hold, cost budget.Amount) (drawn ledger.Share, covered bool) {
	c := p.statement.core
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.store.Now()
	if h.Term.Over(now) {
		p.note(h, 0)
		h.Drop()
	}
	if h.pool == nil {
		h.pool = c.pools[p.unit][h.account]
	}
	q := h.pool
	if !p.looked || q == nil || q.Left == 0 || q.Term.Over(now) || h.Left > 0 && h.Term != q.Term {
		return ledger.Share{}, cost <= h.Left
	}
	most := q.Left
	if covered = cost <= h.Left+q.Left; covered {
		p.note(h, 0)
		if ahead, ok := cost.Times(aheadFromPool); ok {
			most = ahead
		}
	}
	drawn = q.take(most)
	h.AddFromPool(drawn, q.limit)
	return drawn, covered
}

// takeFromLimit charges the cost: it takes from the account's limit what the hold does not
// cover, and reserves ahead. The entry also records what the hold has used before.
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

// asked is what a spender asks a transaction for, and gets. A spender has one, so that charging
// allocates as little as it can.
type asked struct {
	hold    *hold
	cost    budget.Amount
	before  ledger.Standing
	granted budget.Amount
	change  Change
}

// askedFor is the need of the transaction.
func (p *spender) askedFor(yield func(Key) bool) { yield(Key{p.asked.hold.account, p.unit}) }

// charge charges what was asked for.
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
	return tx.Post(&k.change, s)
}

// note notes what the hold has used since that was last recorded, and what it returns. It is
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

// end gives up all holds: what came from pools goes back to them, the rest to the limits. It
// reports whether there is anything to return to a limit.
func (p *spender) end() (returns bool) {
	for _, h := range p.holds {
		if h == nil {
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
	p.last, p.holds, p.spare = nil, nil, nil
	p.accounts = intern.Table{}
	return returns
}
