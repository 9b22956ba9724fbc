package ledger

import "github.com/geosql/geosql/budget"

// Share is an amount that is stored as reserved, and the term that it is reserved for.
type Share struct {
	Term Term
	Left budget.Amount
}

// In returns the value of the share in a term: 0 in a term other than its own.
func (s Share) In(t Term) budget.Amount {
	if s.Term.Start != t.Start {
		return 0
	}
	return s.Left
}

// Hold is a reservation of a [Spender] for one account, and its use. All of it is
// stored as reserved from before it is used until after.
//
// A hold takes from the account's limit, and from the amount that [Charger.Reserve] has set aside, its
// pool. Use counts against the pool first, so that as much as possible returns to the limit.
type Hold struct {
	Left  budget.Amount // not used
	Term  Term          // of Left
	Limit budget.Amount // the highest that any of it was reserved under

	// The remainder and the use that is not recorded came from these.
	fromLimit, fromPool budget.Amount

	evaluations int64 // not recorded
	granted     int64 // evaluations reserved from the limit so far
}

// mostAhead bounds how many evaluations are reserved at a time: enough for commits to cost
// next to nothing, little enough to waste in a crash.
const mostAhead = 1 << 14

// Use takes the cost of an evaluation, which is at most the remainder.
func (h *Hold) Use(cost budget.Amount) {
	h.Left -= cost
	h.evaluations++
}

// Ahead returns how much to reserve for evaluations of a cost: as many as were reserved so
// far, at first one, but at most half of the remainder. Near the limit it returns 0, so that
// the limit can be used up exactly.
func (h *Hold) Ahead(cost, remaining budget.Amount) budget.Amount {
	return Ahead(h.granted, cost, remaining)
}

// Ahead is [Hold.Ahead] where so many evaluations were reserved so far.
func Ahead(granted int64, cost, remaining budget.Amount) budget.Amount {
	n := min(max(1, granted), mostAhead)
	return min(budget.Amount(n), remaining/2/cost) * cost
}

// AddFromLimit adds an amount reserved from the account's limit for evaluations of a cost.
func (h *Hold) AddFromLimit(amount, cost, limit budget.Amount) {
	h.Limit = max(h.Limit, limit)
	h.fromLimit += amount
	h.Left += amount
	h.granted += max(1, int64(amount/cost))
}

// AddFromPool adds a share of the pool to a hold of the same term, or to an empty one.
func (h *Hold) AddFromPool(s Share, limit budget.Amount) {
	h.Term, h.Limit = s.Term, max(h.Limit, limit)
	h.fromPool += s.Left
	h.Left += s.Left
}

// RemoveFromPool undoes AddFromPool.
func (h *Hold) RemoveFromPool(s Share) {
	h.fromPool -= s.Left
	h.Left -= s.Left
}

// Drop forgets the remainder, because its term is over or its limit was lowered. Reserving
// ahead begins anew. All use must be recorded.
func (h *Hold) Drop() { h.fromLimit, h.fromPool, h.Left, h.Limit, h.granted = 0, 0, 0, 0, 0 }

// Unrecorded returns the use that is not recorded.
func (h *Hold) Unrecorded() (used budget.Amount, evaluations int64) {
	return h.fromLimit + h.fromPool - h.Left, h.evaluations
}

// SetRecorded says that all use is recorded.
func (h *Hold) SetRecorded() {
	h.fromLimit, h.fromPool = h.Unused()
	h.evaluations = 0
}

// Unused returns the unused amounts that came from the limit and from the pool.
func (h *Hold) Unused() (fromLimit, fromPool budget.Amount) {
	used, _ := h.Unrecorded()
	fromPool = max(0, h.fromPool-used)
	return h.Left - fromPool, fromPool
}
