package ledger

import (
	"github.com/geosql/geosql/budget"
)

// hold is what a spender has reserved for one account. All of it is on disk, as
// reserved, from before it is used until after.
type hold struct {
	account     string
	left        budget.Amount // not used
	term        term          // of what is left
	evaluations int64         // not recorded

	// What is left and the use that is not recorded came from here. Use is
	// counted against the pool first, so that more returns to the limit.
	own, pooled budget.Amount

	limit    budget.Amount // that it was reserved under, of several the highest
	revision int64         // of the ledger, when that was last made sure

	granted int64  // evaluations reserved from the limit so far
	pool    *pool  // the account's, if it has one
	note    *entry // the note of its use, if one waits
}

// use takes the cost of an evaluation, which is at most what is left.
func (h *hold) use(cost budget.Amount) {
	h.left -= cost
	h.evaluations++
}

// addPooled adds to a hold of the same term, or to an empty one.
func (h *hold) addPooled(s share, limit budget.Amount) {
	h.term, h.limit = s.term, max(h.limit, limit)
	h.pooled += s.left
	h.left += s.left
}

// dropPooled undoes addPooled.
func (h *hold) dropPooled(s share) {
	h.pooled -= s.left
	h.left -= s.left
}

// drop forgets what is left: its term is over or its limit was lowered, and what is
// reserved ahead begins anew. All use is recorded.
func (h *hold) drop() { h.own, h.pooled, h.left, h.limit, h.granted = 0, 0, 0, 0, 0 }

func (h *hold) addOwn(amount, cost, limit budget.Amount) {
	h.limit = max(h.limit, limit)
	h.own += amount
	h.left += amount
	h.granted += max(1, int64(amount/cost))
}

// ahead is how much to reserve for evaluations of this cost: as many as were
// reserved so far, at first one, but at most half of what remains. Near the
// limit it is nothing; the limit can still be used up exactly.
func (h *hold) ahead(cost, remaining budget.Amount) budget.Amount {
	n := min(max(1, h.granted), aheadOfUse)
	return min(budget.Amount(n), remaining/2/cost) * cost
}

// used is the use that is not recorded.
func (h *hold) used() budget.Amount { return h.own + h.pooled - h.left }

// unused is what is left by where it came from.
func (h *hold) unused() (own, pooled budget.Amount) {
	pooled = max(0, h.pooled-h.used())
	return h.left - pooled, pooled
}

// settle takes the use for recorded and returns it.
func (h *hold) settle() (used budget.Amount, evaluations int64) {
	used, evaluations = h.used(), h.evaluations
	h.own, h.pooled = h.unused()
	h.evaluations = 0
	return used, evaluations
}
