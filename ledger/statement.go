package ledger

import (
	"errors"

	"github.com/geosql/geosql/budget"
)

var errEnded = errors.New("ledger: the statement has ended")

// Statement is one run of an SQL statement. It and its spenders are used by one
// goroutine at a time. It keeps the ledger open until [Statement.End].
type Statement struct {
	ledger   *Ledger
	run      *run
	over     error // why it charges nothing any more
	spenders []*Spender
}

// NewStatement starts a statement. On a closed ledger its charges fail.
func (l *Ledger) NewStatement() *Statement {
	registry.Lock()
	defer registry.Unlock()
	s := &Statement{ledger: l, run: new(run)}
	if l.refs == 0 {
		s.over = errClosed
	} else {
		l.refs++
	}
	return s
}

// Spender returns the statement's spender for a function and a unit, always the
// same one.
func (s *Statement) Spender(function string, unit budget.Unit) *Spender {
	for _, p := range s.spenders {
		if p.function == function && p.unit == unit {
			return p
		}
	}
	p := &Spender{statement: s, function: function, unit: unit}
	s.spenders = append(s.spenders, p)
	return p
}

// End ends the statement: its spenders charge nothing any more, and what they
// reserved and did not use returns, in one transaction, or none when nothing is
// left over (and not too many uses of pools wait to be written). After an error
// it stays reserved until a later write of this process succeeds. Ending twice
// is harmless.
func (s *Statement) End() error {
	if s.over != nil {
		return nil
	}
	s.over = errEnded
	err := s.ledger.end(s.spenders)
	s.spenders = nil
	if closing := s.ledger.Close(); err == nil {
		err = closing
	}
	return err
}

func (l *Ledger) end(spenders []*Spender) error {
	if l.giveUp(spenders) {
		return l.flush()
	}
	return l.flushMany()
}

// giveUp notes what the spenders have used and return. It reports whether there
// is anything to return to a limit.
func (l *Ledger) giveUp(spenders []*Spender) (returns bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range spenders {
		returns = p.end() || returns
	}
	return returns
}
