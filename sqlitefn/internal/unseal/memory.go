package unseal

// An allowance is the memory in bytes that the evaluation of an analyst's statement takes, within the bound of [Analyst].Memory. It is
// taken before it is used. Estimates are not below the memory used.
type allowance struct {
	ask   func(bytes int64) error // nil if there is no bound
	taken int64                   // asked for, and not given back
	spare int64                   // the part that is not used
}

// Memory is asked for at least so many bytes at a time, and given back when so many are spare.
const (
	leastAsked = 64 << 10
	mostSpare  = 1 << 20
)

// take takes n bytes.
func (a *allowance) take(n int64) error {
	if a.ask == nil {
		return nil
	}
	if n > a.spare {
		more := max(n-a.spare, leastAsked)
		if err := a.ask(more); err != nil {
			return err
		}
		a.taken += more
		a.spare += more
	}
	a.spare -= n
	return nil
}

// give gives n bytes back that were taken.
func (a *allowance) give(n int64) {
	if a.spare += n; a.ask != nil && a.spare > mostSpare {
		_ = a.ask(-a.spare)
		a.taken -= a.spare
		a.spare = 0
	}
}

// End gives everything back.
func (a *allowance) End() {
	if a.taken > 0 {
		_ = a.ask(-a.taken)
	}
	*a = allowance{ask: a.ask}
}

// Sizes in bytes.
const (
	groupSize  = 8 << 10 // of an open group without rows
	memberSize = 400     // of an account in a group, in its question, and in the ledger's working memory
	levelSize  = 256     // of a level and the rises that lead to it
	CellSize   = 400     // of a cell that is not empty, with its part of an answer
)

// reserve takes the memory for another value of the group, before it is added.
func (g *Group) reserve() error {
	t := g.statement
	if t.memory.ask == nil {
		return nil
	}
	rows := g.key.n + 1
	need := groupSize + memberSize*int64(len(g.accounts)+1) + g.form.Bytes(rows)
	if g.keeps {
		need += g.rows.taken + g.rows.nextPiece()
	}
	if need <= g.taken {
		return nil
	}
	more := need - g.taken + need/16 // not again for each row
	if err := t.memory.take(more); err != nil {
		return err
	}
	g.taken += more
	return nil
}

// Release gives back the group's memory, once it is answered or dropped. Only the first group of its unit keeps its rows,
// until another one enters: see [valueCharges.enter].
func (g *Group) Release() {
	t := g.statement
	if t == nil {
		return // it has no value
	}
	kept := int64(0)
	if v := t.values[g.price.Unit]; v != nil && v.first == g {
		kept = min(g.taken, memberSize*int64(len(g.accounts))+g.rows.taken)
	}
	t.memory.give(g.taken - kept)
	g.taken = kept
	g.form = nil
}
