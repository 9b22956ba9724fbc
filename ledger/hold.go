package ledger

import "github.com/geosql/geosql/budget"

// Share is an amount that is stored as reserved, and the term that it is reserved for.
type Share struct {
	Term Term
	Left budget.Amount
}

// In returns what the share is worth in a term: nothing in another term than its own.
func (s Share) In(t Term) budget.Amount {
	if s.Term.Start != t.Start {
		return 0
	}
	return s.Left
}

// Hold is what a [Spender] has reserved for one account and how much of it is used. All of it is
// stored as reserved from before it is used until after.
//
// A hold takes from the account's limit, and from what [Charger.Reserve] has set aside, its
// pool. Use counts against the pool first, so that as much as possible returns to the limit.
type Hold struct {
	Left  budget.Amount // not used
	Term  Term          // of what is left
	Limit budget.Amount // the highest that any of it was reserved under

	// What is left and the use that is not recorded came from these.
	fromLimit, fromPool budget.Amount

	evaluations int64 // not recorded
	granted     int64 // evaluations reserved from the limit so far
}

// mostAhead bounds how many evaluations are reserved at a time: enough for commits to cost
// next to nothing, little enough to waste in a crash.
const mostAhead = 1 << 14

// Use takes the cost of an evaluation, which is at most what is left.
func (h *Hold) Use(cost budget.Amount) {
	h.Left -= cost
	h.evaluations++
}

// Ahead returns how much to reserve for evaluations of a cost: as many as were reserved so
// far, at first one, but at most half of what remains. Near the limit it returns 0, so that
// the limit can be used up exactly.
func (h *Hold) Ahead(cost, remaining budget.Amount) budget.Amount {
	return Ahead(h.granted, cost, remaining)
}

// Ahead is [Hold.Ahead] where so many evaluations were reserved so far.
func Ahead(granted int64, cost, remaining budget.Amount) budget.Amount {
	n := min(max(1, granted), mostAhead)
	return min(budget.Amount(n), remaining/2/cost) * cost
}

// AddFromLimit adds what was reserved from the account's limit for evaluations of a cost.
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

// Drop forgets what is left, because its term is over or its limit was lowered. Reserving
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

// Unused returns what is left of what came from the limit, and of what came from the pool.
func (h *Hold) Unused() (fromLimit, fromPool budget.Amount) {
	used, _ := h.Unrecorded()
	fromPool = max(0, h.fromPool-used)
	return h.Left - fromPool, fromPool
}
