package engine

import (
	"hash/maphash"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// pools has the pools of a unit, by their accounts. It is guarded by the core's mu. The index of the pools is
// twice to four times as long as there are pools, 4 bytes each: a map has 50 bytes for each pool.
type pools struct {
	seed  maphash.Seed
	slots []uint32 // open addressing, a power of two, at most half full: the number of a pool plus one, or 0
	all   slab[pool]
	n     int
	last  int // the number of the pool that was found last
}

// of returns the pool of an account, or nil if it has none. Accounts are often charged in the order in which they were
// reserved, so it looks at the pool after the last one first.
func (p *pools) of(account string) *pool {
	if p == nil || p.n == 0 {
		return nil
	}
	if next := p.last + 1; next < p.n {
		if q := p.all.at(next); q.account == account {
			p.last = next
			return q
		}
	}
	i := int(*p.slot(account)) - 1
	if i < 0 {
		return nil
	}
	p.last = i
	return p.all.at(i)
}

// empty takes all from the pool of an account, if it has one that was filled in a term.
func (p *pools) empty(account string, t ledger.Term) (left budget.Amount) {
	if q := p.of(account); q != nil && q.term == t {
		left, q.left = q.left, 0
	}
	return left
}

// len returns the number of pools.
func (p *pools) len() int {
	if p == nil {
		return 0
	}
	return p.n
}

// add adds a pool of an account that has none.
func (p *pools) add(account string, u *under) *pool {
	p.grow(1)
	q := p.all.at(p.n)
	q.account, q.under = account, u
	p.n++
	*p.slot(account) = uint32(p.n)
	return q
}

// grow makes room in the index for n more pools.
func (p *pools) grow(n int) {
	size := max(16, len(p.slots))
	for size < 2*(p.n+n) {
		size *= 2
	}
	if size == len(p.slots) {
		return
	}
	if p.slots == nil {
		p.seed = maphash.MakeSeed()
	}
	p.slots = make([]uint32, size)
	for i := range p.n {
		*p.slot(p.all.at(i).account) = uint32(i + 1)
	}
}

// slot returns the slot of an account, or the free slot where it belongs.
func (p *pools) slot(account string) *uint32 {
	mask := uint64(len(p.slots) - 1)
	for at := maphash.String(p.seed, account); ; at++ {
		s := &p.slots[at&mask]
		if *s == 0 || p.all.at(int(*s)-1).account == account {
			return s
		}
	}
}
