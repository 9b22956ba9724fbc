package file

import (
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var errEnded = errors.New("ledger: the statement has ended")

// statement implements [ledger.Statement].
type statement struct {
	ledger   *Ledger
	run      *run
	over     error // why it charges nothing any more
	spenders []*spender
}

// NewStatement implements [ledger.Ledger].
func (l *Ledger) NewStatement() ledger.Statement { return l.newStatement() }

func (l *Ledger) newStatement() *statement {
	return &statement{ledger: l, run: new(run), over: l.addReference()}
}

// Spender implements [ledger.Statement].
func (s *statement) Spender(function string, unit budget.Unit) ledger.Spender {
	return s.spender(function, unit)
}

func (s *statement) spender(function string, unit budget.Unit) *spender {
	for _, p := range s.spenders {
		if p.function == function && p.unit == unit {
			return p
		}
	}
	p := &spender{statement: s, function: function, unit: unit}
	s.spenders = append(s.spenders, p)
	return p
}

// End implements [ledger.Statement]. It writes one transaction, or none if nothing is left
// over and few notes wait to be written.
func (s *statement) End() error {
	if s.over != nil {
		return nil
	}
	s.over = errEnded
	err := s.ledger.endStatement(s.spenders)
	s.spenders = nil
	if closing := s.ledger.Close(); err == nil {
		err = closing
	}
	return err
}

// endStatement writes what the spenders of a statement have used and return.
func (l *Ledger) endStatement(spenders []*spender) error {
	if l.endSpenders(spenders) {
		return l.flush()
	}
	return l.flushIfMany()
}

// endSpenders notes what the spenders have used and return. It reports whether there is
// anything to return to a limit.
func (l *Ledger) endSpenders(spenders []*spender) (returns bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range spenders {
		returns = p.end() || returns
	}
	return returns
}
