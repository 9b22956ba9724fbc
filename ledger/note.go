package ledger

import (
	"github.com/geosql/geosql/budget"
)

// A note is an entry that is not on disk yet and need not be: it moves an amount
// from reserved to spent, or returns it, so that without it the balance on disk
// is too high, never too low.

// manyNotes is how many notes may wait: those of a statement over a hundred
// thousand accounts do, so that it does not end with writing them.
const manyNotes = 1 << 17

// addNote adds a note. Notes are allocated together.
func (l *Ledger) addNote(n entry) *entry {
	if len(l.spare) == 0 {
		l.spare = make([]entry, 256)
	}
	e := &l.spare[0]
	l.spare = l.spare[1:]
	*e = n
	l.notes = append(l.notes, e)
	return e
}

// flush writes the notes in one transaction. Where that fails they stay.
func (l *Ledger) flush() error {
	if len(l.notes) == 0 {
		return nil
	}
	err := l.transact(func(t *transaction) error { return t.postNotes(l.notes) })
	if err == nil {
		l.forgetNotes()
	}
	return err
}

func (l *Ledger) flushMany() error {
	if len(l.notes) < manyNotes {
		return nil
	}
	return l.flush()
}

func (t *transaction) postNotes(notes []*entry) error {
	for _, e := range notes {
		b, err := t.db.balance(e.account, e.unit)
		if err != nil {
			return err
		}
		if err := t.post(e, b); err != nil {
			return err
		}
	}
	return nil
}

// forgetNotes drops the notes after they were committed.
func (l *Ledger) forgetNotes() {
	for _, e := range l.notes {
		e.written = true
	}
	clear(l.notes)
	l.notes = l.notes[:0]
}

// noteItems notes that items were spent out of the pools.
func (l *Ledger) noteItems(function string, unit budget.Unit, items []Item) {
	from := &origin{new(run), now(), function, unit}
	for _, item := range items {
		l.addNote(entry{
			origin:      from,
			account:     item.Account,
			spent:       item.Epsilon,
			reserved:    -item.Epsilon,
			evaluations: item.Evaluations,
		})
	}
}
