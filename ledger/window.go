package ledger

import (
	"time"

	"github.com/geosql/geosql/budget"
)

// A limit may be one per window: it opens again when the window is over. That
// is a policy, not a theorem. Losses add up across windows as they do within
// one, and the sum since the beginning is what holds for somebody whose secrets
// of different windows are correlated; under which assumptions a budget may be
// reset is an open question (Chatzikokolakis, Palamidessi, Stronati, A Predictive
// Differentially-Private Mechanism for Mobility Traces (2014), sections 3 and
// 6). So balances keep the sum beside what the window has used.
//
// A window starts with the first charge after the last one ended, for every
// account by itself, and lasts as long as the limit says now. Only a clock that
// has passed its end ends it: a clock that steps back leaves the account in its
// window. (A clock that steps forward opens windows early; the ledger cannot
// know better.)

// MaxWindow is the longest window, in seconds: a hundred years.
const MaxWindow = 100 * 365 * 86400

// usage is what the file says about an account's window: when it started, in
// microseconds since 1970, and what was spent or reserved in it. Zero without.
type usage struct {
	start int64
	spent budget.Amount
}

// term is the time for which an amount is reserved: the window it was taken from.
// Afterwards it can be neither used nor returned: what would be granted with it
// belongs to a window that is over. Zero for a limit without windows.
type term struct{ start, end int64 }

func (t term) over(now int64) bool { return t.end != 0 && now >= t.end }

// opened is the state of a balance's window at a time.
func (b *Balance) opened(now int64) {
	if b.Window == 0 {
		b.term, b.WindowSpent = term{}, 0
		return
	}
	length := b.Window * int64(time.Second/time.Microsecond)
	w := b.stored
	if w.start == 0 && b.Spent+b.Reserved > 0 {
		// Charged while there were no windows: all of it counts in the first one,
		// which starts with the limit.
		w = usage{b.limitChanged, b.Spent + b.Reserved}
	}
	if w.start == 0 || now >= w.start+length {
		b.term, b.WindowSpent = term{now, now + length}, 0
		return
	}
	b.term, b.WindowSpent = term{w.start, w.start + length}, w.spent
	b.Reopens = time.UnixMicro(b.term.end).Add(time.Second - time.Microsecond).Truncate(time.Second).UTC()
}

// after is the window that the file has to know once the balance has changed by
// net.
func (b *Balance) after(net budget.Amount) usage {
	switch {
	case net == 0: // such as reserved amounts that are spent now
		return b.stored
	case b.Window == 0:
		return usage{}
	}
	return usage{b.term.start, b.WindowSpent + net}
}
