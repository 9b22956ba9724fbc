package engine

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Functions for tests of engines.

// Pooled returns the amount that Reserve has set aside for an account and nobody holds.
func (c *Core) Pooled(k Key) budget.Amount {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.pools[k.Unit].of(k.Account); q != nil {
		return q.left
	}
	return 0
}

// Notes returns how many notes wait to be written.
func (c *Core) Notes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.notes)
}

// Held returns the hold of a spender of this package for an account.
func Held(s ledger.Spender, account string) *ledger.Hold {
	p := s.(*spender)
	for i := range p.accounts.Len() {
		if h := p.holds.at(i); h.charged && h.account == account {
			return &h.Hold
		}
	}
	return nil
}

// Waiting returns how many jobs wait.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		return 0
	}
	return len(q.waiting.jobs)
}
