package ledger

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
)

// Spender charges the evaluations of one function in one statement.
type Spender struct {
	statement *Statement
	function  string
	unit      budget.Unit
	last      *hold // of the account charged last; nil at first
	accounts  intern.Table
	holds     []*hold // by the account's number; nil where the first charge was refused
	spare     []hold  // allocated together
	noted     *origin // of its notes
	unlooked  int     // evaluations until it looks for limits
}

const (
	// aheadOfUse bounds how many evaluations are reserved at a time: enough for
	// commits to cost next to nothing, little enough to waste in a crash.
	aheadOfUse = 1 << 14
	// aheadFromPool bounds how many evaluations a hold takes from a pool at a
	// time: other statements want to take from it too.
	aheadFromPool = 16
)

// Charge charges an account for one evaluation. When it returns nil the cost is
// on disk, as spent or as reserved. A refusal is a [*RefusalError]; afterwards the
// account can still be charged what it has left. The account's bytes are not
// kept.
//
// It allocates nothing and takes no lock while the account's hold covers the
// cost, except to look for limits now and then.
func (p *Spender) Charge(account []byte, cost budget.Amount) error {
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
	if cost <= 0 || cost > h.left || p.unlooked == 0 || h.revision != p.statement.ledger.revision.Load() ||
		h.term.end != 0 && h.term.over(p.statement.ledger.clock()) {
		return p.cover(h, cost)
	}
	p.unlooked--
	h.use(cost)
	return nil
}

// chargeFirst charges account number i, which has no hold yet.
func (p *Spender) chargeFirst(i int, account []byte, cost budget.Amount) error {
	if p.statement.over != nil {
		return p.statement.over
	}
	h := p.newHold()
	h.revision = p.statement.ledger.revision.Load()
	h.account, h.pool = p.statement.ledger.named(p.unit, account)
	if err := p.cover(h, cost); err != nil {
		return err
	}
	p.last, p.holds[i] = h, h
	return nil
}

// newHold is an empty hold. A statement over many accounts makes many: they are
// allocated together.
func (p *Spender) newHold() *hold {
	if len(p.spare) == 0 {
		p.spare = make([]hold, max(1, len(p.holds)))
	}
	h := &p.spare[0]
	p.spare = p.spare[1:]
	return h
}

// cover charges with what the account's pool or its limit adds to h.
func (p *Spender) cover(h *hold, cost budget.Amount) error {
	if err := checkCharge(h.account, p.unit, cost); err != nil {
		return err
	}
	if err := p.look(h); err != nil {
		return err
	}
	drawn, covered := p.takeFromPool(h, cost)
	if covered {
		h.use(cost)
		return nil
	}
	err := p.takeFromLimit(h, cost)
	if err != nil && drawn.left > 0 {
		l := p.statement.ledger
		l.mu.Lock()
		defer l.mu.Unlock()
		h.dropPooled(drawn)
		l.giveBack(h.pool, drawn, p.unit, h.revision)
	}
	return err
}

// takeFromPool adds to h from the pool: some more than the cost where the pool
// covers it, else all there is.
func (p *Spender) takeFromPool(h *hold, cost budget.Amount) (drawn share, covered bool) {
	l := p.statement.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if h.term.over(now) {
		p.note(h, 0)
		h.drop()
	}
	if h.pool == nil {
		h.pool = l.pools[p.unit][h.account]
	}
	q := h.pool
	if q == nil || q.left == 0 || q.term.over(now) || h.left > 0 && h.term != q.term {
		return share{}, cost <= h.left
	}
	most := q.left
	if covered = cost <= h.left+q.left; covered {
		p.note(h, 0)
		if ahead, ok := cost.Times(aheadFromPool); ok {
			most = ahead
		}
	}
	drawn = q.take(most)
	h.addPooled(drawn, q.limit)
	return drawn, covered
}

// takeFromLimit charges the cost, and reserves ahead, with what lacks in h from
// the account's limit. The entry it writes also records what h has used before.
func (p *Spender) takeFromLimit(h *hold, cost budget.Amount) error {
	var granted, limit budget.Amount
	var t term
	err := p.statement.ledger.transact(func(tx *transaction) error {
		b, err := tx.balance(h.account, p.unit)
		if err != nil {
			return err
		}
		held := share{h.term, h.left}.in(b.term)
		if err := tx.db.affords(&b, cost, held); err != nil {
			return err
		}
		t, limit, granted = b.term, b.Limit, max(cost-held, h.ahead(cost, b.Remaining()))
		spent := h.used() + cost
		return tx.post(&entry{
			origin:      p.origin(tx.now),
			account:     h.account,
			spent:       spent,
			reserved:    granted - spent,
			evaluations: h.evaluations + 1,
		}, &b)
	})
	if err != nil {
		return err
	}
	h.settle()
	if h.term.start != t.start {
		h.drop()
	}
	h.term = t
	h.addOwn(granted, cost, limit)
	h.use(cost)
	h.settle()
	return nil
}

// note notes what h has used since it was last recorded, and what it returns. It
// is called under the ledger's mu.
func (p *Spender) note(h *hold, returned budget.Amount) {
	used, evaluations := h.settle()
	if used == 0 && returned == 0 {
		return
	}
	e := h.note
	if e == nil || e.taken || e.term != h.term {
		if p.noted == nil {
			p.noted = p.origin(p.statement.ledger.clock())
		}
		e = p.statement.ledger.addNote(entry{origin: p.noted, account: h.account, term: h.term})
		h.note = e
	}
	e.spent += used
	e.reserved -= used + returned
	e.evaluations += evaluations
}

func (p *Spender) origin(time int64) *origin {
	return &origin{p.statement.run, time, p.function, p.unit}
}

// end gives up all holds: to the pools what came from there, to the limit the
// rest. It reports whether there is anything to return to a limit.
func (p *Spender) end() (returns bool) {
	for _, h := range p.holds {
		if h == nil {
			continue
		}
		own, pooled := h.unused()
		if pooled > 0 {
			p.statement.ledger.giveBack(h.pool, share{h.term, pooled}, p.unit, h.revision)
		}
		p.note(h, own)
		returns = returns || own > 0
	}
	p.last, p.holds, p.spare = nil, nil, nil
	p.accounts = intern.Table{}
	return returns
}
