package engine

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A note is a change that is not on disk yet and need not be. It moves an amount from reserved
// to spent, or returns it. Without it the balance on disk is too high, never too low.

// ManyNotes is how many notes may wait. It exceeds those of a statement over a hundred thousand
// accounts, so that such a statement does not end with writing them.
const ManyNotes = 1 << 17

// A groupNote notes a group of at least ManyNotes items, in a quarter of the memory that a note of each would take. One may wait, however
// large it is.
type groupNote struct {
	*Origin
	uses  []use
	terms []ledger.Term   // of the pools, or nil if all have an endless one
	rests []budget.Amount // of the pools, that return with the uses; nil before the ledger closes
}

// A use is an amount that an item has taken from a pool.
type use struct {
	pool        *pool
	spent       budget.Amount
	evaluations int64
}

// newGroupNote returns the note of amounts that have just been taken.
func newGroupNote(from *Origin, uses []use) groupNote {
	g := groupNote{Origin: from, uses: uses}
	for i, u := range uses {
		if u.pool.term != (ledger.Term{}) {
			if g.terms == nil {
				g.terms = make([]ledger.Term, len(uses))
			}
			g.terms[i] = u.pool.term
		}
	}
	return g
}

// change returns the note of item i.
func (g *groupNote) change(i int) Change {
	c := g.uses[i].change(g.Origin, ledger.Term{})
	if g.terms != nil {
		c.Term = g.terms[i]
	}
	if g.rests != nil {
		c.Reserved -= g.rests[i]
	}
	return c
}

// change returns a note of the use, under a term.
func (u *use) change(from *Origin, term ledger.Term) Change {
	return Change{Origin: from, Account: u.pool.account, Spent: u.spent, Reserved: -u.spent, Evaluations: u.evaluations, Term: term}
}

// returnWithNotes has the notes that wait return the rest of their accounts' pools too, so that there is one entry for both. It is called
// when nobody uses the pools any more.
func (c *Core) returnWithNotes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		n.Reserved -= c.pools[n.Unit].empty(n.Account, n.Term)
	}
	for k := range c.groupNotes {
		g := &c.groupNotes[k]
		rests := make([]budget.Amount, len(g.uses))
		for i := range rests {
			n := g.change(i)
			rests[i] = c.pools[g.Unit].empty(n.Account, n.Term)
		}
		g.rests = rests
	}
}

// addNote adds a note. Notes are allocated together. It is called under mu.
func (c *Core) addNote(n Change) *Change {
	if len(c.spare) == 0 {
		c.spare = make([]Change, 256)
	}
	e := &c.spare[0]
	c.spare = c.spare[1:]
	*e = n
	c.notes = append(c.notes, e)
	return e
}

// Flush writes the notes in one transaction, and the traces that wait in one before. If that fails they
// stay, unless they may be stored.
func (c *Core) Flush() error {
	if err := c.saveTraces(); err != nil {
		return err
	}
	return c.flushIf(func() bool { return len(c.notes)+len(c.groupNotes) > 0 })
}

// flushIfMany writes the notes if too many wait.
func (c *Core) flushIfMany() error {
	return c.flushIf(func() bool { return len(c.notes) >= ManyNotes })
}

// flushGroup writes the notes if one of a group waits.
func (c *Core) flushGroup() error { return c.flushIf(func() bool { return len(c.groupNotes) > 0 }) }

// flushIf writes the notes if that is due. It calls due under mu.
func (c *Core) flushIf(due func() bool) error {
	c.mu.Lock()
	isDue := due()
	c.mu.Unlock()
	if !isDue {
		return nil
	}
	return c.update(c.needsOfNotes, c.postNotes)
}

// needsOfNotes are the needs of the notes that wait.
func (c *Core) needsOfNotes(yield func(Key) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		if !yield(Key{n.Account, n.Unit}) {
			return
		}
	}
	for _, g := range c.groupNotes {
		for _, u := range g.uses {
			if !yield(Key{u.pool.account, g.Unit}) {
				return
			}
		}
	}
}

// postNotes writes the notes that wait. They wait again if nothing is stored.
func (c *Core) postNotes(t Transaction) error {
	notes, groups := c.takeNotes()
	t.Undo(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notes, c.groupNotes = slices.Concat(notes, c.notes), slices.Concat(groups, c.groupNotes)
	})
	byOrigin, origins := map[*Origin][]*Change{}, []*Origin{}
	for _, n := range notes {
		if byOrigin[n.Origin] == nil {
			origins = append(origins, n.Origin)
		}
		byOrigin[n.Origin] = append(byOrigin[n.Origin], n)
	}
	for _, from := range origins {
		some := byOrigin[from]
		if err := postSome(t, from, len(some), func(i int) string { return some[i].Account }, func(i int) Change { return *some[i] }); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if err := postSome(t, g.Origin, len(g.uses), func(i int) string { return g.uses[i].pool.account }, g.change); err != nil {
			return err
		}
	}
	return nil
}

// postSome writes n notes with a common origin. An account may have several.
func postSome(t Transaction, from *Origin, n int, account func(i int) string, note func(i int) Change) error {
	rest := walkThrough(n, account)
	for len(rest.order) > 0 {
		var once walk
		once, rest.order = rest.split()
		if err := once.post(t, from, nil, func(i int, _ *ledger.Standing) Change { return note(i) }); err != nil {
			return err
		}
	}
	return nil
}

// takeNotes takes the notes that wait, and marks them so that nothing is added to them.
func (c *Core) takeNotes() ([]*Change, []groupNote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	notes, groups := c.notes, c.groupNotes
	c.notes, c.groupNotes = nil, nil
	for _, e := range notes {
		e.taken = true
	}
	return notes, groups
}
