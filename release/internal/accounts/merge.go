package accounts

import (
	"bytes"
	"io"
	"iter"
)

// merged returns the accounts of several runs in ascending order, each with all of its
// locations.
func (s *spill) merged(runs []stretch) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		m, err := s.merger(runs)
		if err != nil {
			yield(Account{}, err)
			return
		}
		var a Account
		for m.more() {
			if err := m.take(&a); err != nil {
				yield(Account{}, err)
				return
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}

// A merger is a tree of losers, in which the current accounts of runs compete (Knuth, The Art of
// Computer Programming, volume 3 (1998), section 5.4.1). A run that is at its end loses.
// The first player has won. From the second on, the parent of m[i] is m[i/2].
type merger []player

// A player is a run in the tree.
type player struct {
	run  *reader // nil at its end
	leaf int     // its number behind the places of the tree
}

func (s *spill) merger(runs []stretch) (merger, error) {
	m := make(merger, len(runs))
	for i, x := range runs {
		if err := m.advance(player{s.read(x), len(runs) + i}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// more reports whether a run is not at its end.
func (m merger) more() bool { return m[0].run != nil }

// take removes the first account from all runs that have it and sets a to it.
func (m merger) take(a *Account) error {
	a.Name = append(a.Name[:0], m[0].run.at.Name...)
	a.Locations = 0
	for m.more() && bytes.Equal(m[0].run.at.Name, a.Name) {
		a.Locations += m[0].run.at.Locations
		if err := m.advance(m[0]); err != nil {
			return err
		}
	}
	return nil
}

// advance goes to the next account of the run that has won, or that is not in the tree yet, and has it
// compete on the way to the top. There it stays at the first place that nobody has taken.
func (m merger) advance(p player) error {
	switch err := p.run.next(); err {
	case nil:
	case io.EOF:
		p.run = nil
	default:
		return err
	}
	for i := p.leaf / 2; i > 0; i /= 2 {
		at := &m[i]
		if at.leaf == 0 {
			*at = p
			return nil
		}
		if at.beats(p) {
			*at, p = p, *at
		}
	}
	m[0] = p
	return nil
}

// beats reports whether the current account of a run comes before that of another.
func (p player) beats(other player) bool {
	return p.run != nil && (other.run == nil || bytes.Compare(p.run.at.Name, other.run.at.Name) < 0)
}
