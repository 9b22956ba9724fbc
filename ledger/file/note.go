package file

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A note is a change that is not on disk yet and need not be. It moves an amount from reserved
// to spent, or returns it. Without it the balance on disk is too high, never too low.

// manyNotes is how many notes may wait. It exceeds those of a statement over a hundred thousand
// accounts, so that such a statement does not end with writing them.
const manyNotes = 1 << 17

// addNote adds a note. Notes are allocated together. It is called under mu.
func (l *Ledger) addNote(n change) *change {
	if len(l.spare) == 0 {
		l.spare = make([]change, 256)
	}
	e := &l.spare[0]
	l.spare = l.spare[1:]
	*e = n
	l.notes = append(l.notes, e)
	return e
}

// flush writes the notes in one transaction. If that fails they stay.
func (l *Ledger) flush() error { return l.flushFrom(1) }

// flushIfMany writes the notes if too many wait.
func (l *Ledger) flushIfMany() error { return l.flushFrom(manyNotes) }

// flushFrom writes the notes if at least so many wait.
func (l *Ledger) flushFrom(least int) error {
	l.mu.Lock()
	waiting := len(l.notes)
	l.mu.Unlock()
	if waiting < least {
		return nil
	}
	return l.transact((*transaction).postNotes)
}

// postNotes writes the notes that wait. They wait again if the transaction fails.
func (t *transaction) postNotes() error {
	l := t.ledger
	notes := l.takeNotes()
	t.undos = append(t.undos, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.notes = slices.Concat(notes, l.notes)
	})
	for _, e := range notes {
		b, err := t.standing(e.account, e.unit)
		if err != nil {
			return err
		}
		if err := t.post(e, &b); err != nil {
			return err
		}
	}
	return nil
}

// takeNotes takes the notes that wait, and marks them so that nothing is added to them.
func (l *Ledger) takeNotes() []*change {
	l.mu.Lock()
	defer l.mu.Unlock()
	notes := l.notes
	l.notes = nil
	for _, e := range notes {
		e.taken = true
	}
	return notes
}

// noteItems notes that items were spent from the pools.
func (l *Ledger) noteItems(function string, unit budget.Unit, items []ledger.Item, drawn []ledger.Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := &origin{new(run), l.clock(), function, unit}
	for i, item := range items {
		l.addNote(change{
			origin:      from,
			account:     item.Account,
			spent:       item.Epsilon,
			reserved:    -item.Epsilon,
			evaluations: item.Evaluations,
			term:        drawn[i].Term,
		})
	}
}
