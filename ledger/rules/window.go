package rules

import (
	"time"

	"github.com/geosql/geosql/budget"
)

// A limit may hold for a window of time: it opens again when the window is over. That is a
// policy, not a theorem. Losses add up across windows as they do within one, and the sum
// since the beginning holds for somebody with correlated secrets in different windows.
// Under which assumptions a budget may be reset is an open question
// (Chatzikokolakis, Palamidessi, Stronati, A Predictive Differentially-Private Mechanism for
// Mobility Traces (2014), sections 3 and 6). So a balance keeps the sum beside the
// use of the window.
//
// Every account has windows of its own. A window starts with the first charge after the
// last one ended, and lasts as long as the current limit says. Only a clock that has passed
// its end ends it: a clock that steps back leaves the account in its window. A clock that
// steps forward opens windows early, which the ledger cannot notice.

// MaxWindow is the longest window, in seconds: a hundred years.
const MaxWindow = 100 * 365 * 86400

// WindowUse is the stored state of an account's window. It is zero where no window has
// started.
type WindowUse struct {
	Start int64         // in microseconds since 1970
	Spent budget.Amount // spent or reserved in the window
}

// Term is the time for which an amount is reserved: the window that it was taken from, from
// its start to its end in microseconds since 1970. It is zero under a limit without a window.
//
// When its term is over an amount can be neither used nor returned: an amount granted
// with it belongs to a window that is over.
type Term struct{ Start, End int64 }

// Over reports whether the term has ended.
func (t Term) Over(now int64) bool { return t.End != 0 && now >= t.End }

// openWindow finds the window that a time falls into.
func (s *Standing) openWindow(now int64) {
	if s.Window == 0 {
		s.Term, s.WindowSpent = Term{}, 0
		return
	}
	length := s.Window * int64(time.Second/time.Microsecond)
	w := s.Stored
	if w.Start == 0 && s.Spent+s.Reserved > 0 {
		// All of this was charged while there were no windows. It counts in the first
		// one, which starts with the limit.
		w = WindowUse{s.LimitSet, s.Spent + s.Reserved}
	}
	if w.Start == 0 || now >= w.Start+length {
		s.Term, s.WindowSpent = Term{now, now + length}, 0
		return
	}
	s.Term, s.WindowSpent = Term{w.Start, w.Start + length}, w.Spent
	s.Reopens = time.UnixMicro(s.Term.End).Add(time.Second - time.Microsecond).Truncate(time.Second).UTC()
}

// WindowAfter returns the window to store once spent and reserved amounts together have
// changed by net.
func (s *Standing) WindowAfter(net budget.Amount) WindowUse {
	switch {
	case net == 0: // such as reserved amounts that are spent now
		return s.Stored
	case s.Window == 0:
		return WindowUse{}
	}
	return WindowUse{s.Term.Start, s.WindowSpent + net}
}

// ReservedChange returns by how much the reserved amount really changes when an entry
// changes the spent and the reserved amount and the returned part was reserved in a term.
// Nothing returns to a window that is over: there the reserved amount only becomes spent.
func (s *Standing) ReservedChange(spent, reserved budget.Amount, from Term) budget.Amount {
	if spent+reserved < 0 && from.Start != s.Term.Start {
		return -spent
	}
	return reserved
}
