package engine

import (
	"cmp"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// ErrEnded is the error of charges of a statement that has ended.
var ErrEnded = errors.New("ledger: the statement has ended")

// statement implements [ledger.Statement].
type statement struct {
	core     *Core
	run      *Run
	over     error // why it charges nothing any more
	spenders []*spender
	groups   []*groupSpender
	reserved []filling // for its time, in the pools

	looks  []*look       // of its traces
	traces int           // that were opened
	lease  *lease        // that it uses; guarded by the core's mu
	steps  budget.Amount // spent by the last trace
}

// NewStatement implements [ledger.Ledger].
func (c *Core) NewStatement() ledger.Statement {
	return &statement{core: c, run: new(Run), over: c.store.Retain()}
}

// Spender implements [ledger.Statement].
func (s *statement) Spender(function string, unit budget.Unit) ledger.Spender {
	for _, p := range s.spenders {
		if p.function == function && p.unit == unit {
			return p
		}
	}
	p := &spender{statement: s, function: function, unit: unit}
	p.needs, p.work = p.askedFor, p.charge
	s.spenders = append(s.spenders, p)
	return p
}

// Charge implements [ledger.Statement].
func (s *statement) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	if s.over != nil {
		return s.over
	}
	for _, g := range s.groups {
		if g.function == function && g.unit == unit {
			return g.charge(items)
		}
	}
	g := &groupSpender{core: s.core, run: s.run, statement: s, function: function, unit: unit}
	s.groups = append(s.groups, g)
	return g.charge(items)
}

// Reserve implements [ledger.Statement].
func (s *statement) Reserve(demands []ledger.Demand) error {
	if s.over != nil {
		return s.over
	}
	filled, err := s.core.reserve(demands, s.run, s.core.reserveRest)
	s.reserved = append(s.reserved, filled...)
	return err
}

// lookAt returns when the traces of a unit have looked for limits.
func (s *statement) lookAt(unit budget.Unit) *look {
	for _, l := range s.looks {
		if l.unit == unit {
			return l
		}
	}
	l := &look{unit: unit}
	s.looks = append(s.looks, l)
	return l
}

// End implements [ledger.Statement]. It writes one transaction, or none if nothing is left
// over and few notes wait to be written.
func (s *statement) End() error {
	if s.over != nil {
		return nil
	}
	s.over = ErrEnded
	err := s.core.endStatement(s)
	s.spenders, s.groups, s.reserved = nil, nil, nil
	if closing := s.core.store.Close(); err == nil {
		err = closing
	}
	return err
}

// othersReturn has all but one of the spenders of a unit return the part of their holds that they have drawn from the pool of an
// account, and reports whether there was any.
func (s *statement) othersReturn(but *spender, account string) (returned bool, err error) {
	for _, p := range s.spenders {
		if p == but || !p.held || p.unit != but.unit {
			continue
		}
		h := p.holds.at(p.accounts.Number([]byte(account)))
		if _, drawn := h.Unused(); drawn > 0 {
			returned = true
			if err := p.returnDrawn(h, ledger.Share{Term: h.Term, Left: drawn}); err != nil {
				return false, err
			}
		}
	}
	return returned, nil
}

// makeRoom has all but one of the spenders, and the groups, return the amounts that they hold, after an error that is a refusal. It
// returns nil if the charge may succeed then, and else the error.
func (s *statement) makeRoom(err error, but *spender) error {
	if !Is[*ledger.RefusalError](err) || !s.giveUpAhead(but) {
		return err
	}
	return s.core.Flush()
}

// giveUpAhead notes that all but one of the spenders, and the groups, return the amounts that they hold, and reports whether there
// are any.
func (s *statement) giveUpAhead(but *spender) (returns bool) {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for _, p := range s.spenders {
		if p != but && p.held {
			p.end()
			returns = true
		}
	}
	for _, g := range s.groups {
		returns = g.giveUp() || returns
	}
	return returns
}

// endStatement writes the amounts that the spenders of a statement have used and return, and saves its traces.
func (c *Core) endStatement(s *statement) error {
	returns := c.endSpenders(s)
	saving := c.saveTraces()
	if returns {
		return cmp.Or(saving, c.Flush())
	}
	return cmp.Or(saving, c.flushIfMany())
}

// endSpenders notes the amounts that the spenders have used and return, and ends the use of a lease. It reports
// whether there is anything to return to a limit.
func (c *Core) endSpenders(s *statement) (returns bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range s.spenders {
		returns = p.end() || returns
	}
	for _, g := range s.groups {
		returns = g.giveUp() || returns
	}
	for i := range s.reserved {
		returns = c.giveBack(&s.reserved[i], s.run) || returns
	}
	if l := s.lease; l != nil {
		s.lease = nil
		l.statements--
		c.endIfIdle(l)
	}
	return returns
}
