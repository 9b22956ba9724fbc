package rules

import (
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
)

// Everyone is the account that stands for every account that has no limit of its own. It
// can have a limit and cannot be charged.
const Everyone = "*"

// Balance is the state of an account's budget of one unit. Spent and reserved amounts both count against
// the limit. A limit with a window counts those of the window alone.
type Balance struct {
	Account     string
	Unit        budget.Unit
	Limit       budget.Amount // the account's own, else that of Everyone
	Limited     bool          // whether there is a limit; without one every charge is refused
	Window      int64         // seconds after which the limit opens again; 0: never
	WindowSpent budget.Amount // spent or reserved in the current window
	Reopens     time.Time     // when the current window ends, to the second after; zero where none has started
	Spent       budget.Amount // since the beginning
	Reserved    budget.Amount // since the beginning
	LastCharge  time.Time     // zero if there was none
}

// Remaining returns the amount that may still be charged: 0 without a limit.
func (b Balance) Remaining() budget.Amount {
	if !b.Limited {
		return 0
	}
	return max(0, b.Limit-b.used())
}

// used returns the amount that counts against the limit.
func (b Balance) used() budget.Amount {
	if b.Limited && b.Window > 0 {
		return b.WindowSpent
	}
	return b.Spent + b.Reserved
}

// Needed returns the least limit under which cost could be charged now, with the window that
// the limit has. It reports false if no limit is as large.
func (b Balance) Needed(cost budget.Amount) (limit budget.Amount, ok bool) {
	used := b.used()
	if cost > budget.Max-used {
		return 0, false
	}
	return used + cost, true
}

// Standing is a balance together with an engine's stored state of its window. The engine fills
// it in, but for WindowSpent, Reopens and Term, which At computes.
type Standing struct {
	Balance
	LimitSet int64     // when the limit was set, in microseconds since 1970
	Stored   WindowUse // of the window that the last entry belongs to
	Term     Term      // of amounts reserved now
}

var errDamaged = errors.New("the ledger is damaged: a balance is out of range")

// At completes the standing for a time, in microseconds since 1970. It returns an error if
// an amount is out of range.
func (s *Standing) At(now int64) error {
	if !s.inRange() {
		return errDamaged
	}
	s.openWindow(now)
	return nil
}

// inRange reports whether no sum of the standing's amounts can overflow.
func (s *Standing) inRange() bool {
	return s.Spent >= 0 && s.Reserved >= 0 && s.Spent <= budget.Max-s.Reserved &&
		s.Limit >= 0 && s.Limit <= budget.Max &&
		s.Stored.Spent >= 0 && s.Stored.Spent <= s.Spent+s.Reserved &&
		s.Window >= 0 && s.Window <= MaxWindow
}

// Refuse returns nil if the account can pay cost with the amount set aside for it and the rest of its
// limit, and else the refusal. Where there is no limit, the engine adds the units
// that have one.
func (s *Standing) Refuse(cost, aside budget.Amount) *RefusalError {
	left := aside + s.Remaining()
	if s.Limited && cost <= left {
		return nil
	}
	if !s.Limited {
		left = 0
	}
	return &RefusalError{
		Account: s.Account,
		Unit:    s.Unit,
		Asked:   cost,
		Left:    left,
		Limit:   s.Limit,
		Limited: s.Limited,
		Window:  s.Window,
		Reopens: s.Reopens,
	}
}
