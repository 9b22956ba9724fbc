package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
)

// Question asks for an answer that is drawn once, paid for by every account that it is about,
// and remembered: see [Ledger.Answer].
type Question struct {
	// Key names the question: two questions with the same Key ask the same of the same rows. It
	// is a keyed hash that the caller makes, so that a ledger tells nobody what was asked. It
	// covers the rows asked about and not who is left out of the answer: that is found in the
	// transaction, from the balances of the moment, and the ledger itself tells the answers to
	// a question apart by who is left out of them. Were it in the Key, asking again would hardly
	// ever find an answer: the accounts that have paid for the first one are those that cannot
	// pay a second time.
	Key [32]byte

	Function string
	Unit     budget.Unit
	Items    []Item // what each account owes for an answer

	// Role is who asks, or "" for the owner. For each account that an answer is about, a role
	// also pays from a purse of its own, which may hold RoleLimit in all.
	Role      string
	RoleLimit budget.Amount

	// LeaveOut leaves those accounts out that cannot pay, or whose purse cannot. Otherwise
	// the question is refused.
	LeaveOut bool

	// Draw makes the answer. It is told who is left out, in ascending order. It runs after all
	// checks, while everybody else who charges waits, so that it should be short. It must not
	// use the ledger. What it has drawn must stay secret until Answer returns it. An error of
	// Draw is returned by Answer as it is; nothing is charged then.
	Draw func(leftOut []string) ([]byte, error)
}

// Answered is the answer to a question.
type Answered struct {
	Answer     []byte
	Time       time.Time // when it was drawn
	Remembered bool      // whether it was drawn for an earlier question

	LeftOut int // how many accounts are left out of it

	// What the accounts were charged now, and what the role was.
	Charged, RoleCharged Toll
}

// Toll is what several accounts were charged.
type Toll struct {
	Accounts int
	Most     budget.Amount // that one of them was charged
}

// TollOf returns the toll of items. There is no sum of them: many budgets together may exceed any
// amount.
func TollOf(items []Item) Toll {
	t := Toll{Accounts: len(items)}
	for _, item := range items {
		t.Most = max(t.Most, item.Epsilon)
	}
	return t
}

// Normalize checks the question, and gives its items the form in which engines read them: each
// account has one, in ascending order.
func (q *Question) Normalize() error {
	switch {
	case q.Draw == nil:
		return errors.New("ledger: a question has no way to draw its answer")
	case q.Unit == "":
		return errNoUnit
	case q.Role != "" && (q.RoleLimit < 0 || q.RoleLimit > budget.Max):
		return fmt.Errorf("ledger: the limit of a role must be between 0 and %v", budget.Max)
	}
	items, err := MergeItems(q.Unit, q.Items)
	if err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.Account, b.Account) })
	q.Items = items
	return nil
}

// ID returns what the answers to the question are remembered under. It covers, besides the
// Key, who owes what, because LeftOut counts the items: a Key that comes with other items is
// another question. The question is normalized.
func (q *Question) ID() (id [sha256.Size]byte) {
	h := sha256.New()
	h.Write(q.Key[:])
	var b []byte
	for _, s := range [...]string{q.Function, string(q.Unit)} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	h.Write(b)
	for _, item := range q.Items {
		b = binary.BigEndian.AppendUint64(b[:0], uint64(item.Epsilon))
		b = binary.BigEndian.AppendUint64(b, uint64(len(item.Account)))
		b = append(b, item.Account...)
		h.Write(b)
	}
	h.Sum(id[:0])
	return id
}

// Split returns the items of the accounts that an answer is about, and the accounts that are
// left out of it.
func (q *Question) Split(out LeftOut) (about []Item, leftOut []string) {
	if out.Count() == 0 {
		return q.Items, nil
	}
	for i, item := range q.Items {
		if out.Has(i) {
			leftOut = append(leftOut, item.Account)
		} else {
			about = append(about, item)
		}
	}
	return about, leftOut
}

// LeftOut is a set of items of a normalized question, by their numbers: a bit of each, from the
// lowest one of the first byte on. It ends with its last byte that is not 0.
type LeftOut []byte

// Add adds an item.
func (s *LeftOut) Add(i int) {
	for len(*s) <= i/8 {
		*s = append(*s, 0)
	}
	(*s)[i/8] |= 1 << (i % 8)
}

// Has reports whether an item is in the set.
func (s LeftOut) Has(i int) bool { return i/8 < len(s) && s[i/8]&(1<<(i%8)) != 0 }

// Count returns how many items the set has.
func (s LeftOut) Count() (n int) {
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

// With returns the items that are in either set.
func (s LeftOut) With(other LeftOut) LeftOut {
	if len(s) < len(other) {
		s, other = other, s
	}
	both := slices.Clone(s)
	for i, b := range other {
		both[i] |= b
	}
	return both
}

// In reports whether every item of the set is in another.
func (s LeftOut) In(other LeftOut) bool {
	for i, b := range s {
		if i >= len(other) && b != 0 || i < len(other) && b&^other[i] != 0 {
			return false
		}
	}
	return true
}

// Given is an answer to a question that the ledger remembers.
type Given struct {
	ID      int64 // grows from answer to answer
	LeftOut LeftOut
	Seen    bool // by the role that asks now; always for the owner
}

// Choose returns the remembered answer that a question gets, or nil if one has to be drawn,
// without those who cannot pay. Accounts are those whose own limit is short, purses those for
// whom the purse of the role is; both are empty if nobody is to be left out.
//
// An answer that leaves somebody out who could pay is not given: since it was drawn, budgets were
// raised, or the role that asked for it was short of its own. One about an account whose purse is
// short is given only to a role that has seen it. Accounts that cannot pay may well be in an
// earlier answer, which they have paid for. Of several answers, one that was seen comes first,
// as it costs nothing; then the one that leaves out the fewest; then the oldest.
//
// So an answer that is drawn is about another set of accounts than each that is remembered: if
// one had left out the same, it would have been chosen.
func Choose(given []Given, accounts, purses LeftOut) *Given {
	short := accounts.With(purses)
	var best *Given
	for i := range given {
		g := &given[i]
		if !g.LeftOut.In(short) || !g.Seen && !purses.In(g.LeftOut) {
			continue
		}
		if best == nil || g.before(best) {
			best = g
		}
	}
	return best
}

// before reports whether an answer is chosen before another.
func (g *Given) before(other *Given) bool {
	if g.Seen != other.Seen {
		return g.Seen
	}
	return cmp.Or(cmp.Compare(g.LeftOut.Count(), other.LeftOut.Count()), cmp.Compare(g.ID, other.ID)) < 0
}
