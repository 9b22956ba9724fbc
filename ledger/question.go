package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
)

// Question asks for an answer that is drawn once, paid for by every account that it is about,
// and remembered: see [Questions.Answer].
type Question struct {
	// Key names the question: two questions with the same Key ask the same of the same rows. It
	// is a keyed hash that the caller makes, so that a ledger reveals no question. It
	// covers the rows asked about and not the accounts left out of the answer: these are found in the
	// transaction, from the balances of the moment, and the ledger itself tells the answers to
	// a question apart by the accounts left out of them. Were they in the Key, asking again would hardly
	// ever find an answer: the accounts that have paid for the first one are the ones that cannot
	// pay a second time.
	Key [32]byte

	Function string
	Unit     budget.Unit
	Members  []Member // accounts that an answer is about

	// Role asks, or the owner if it is "". For each account that an answer is about, a role
	// also pays from a budget of its own, which may spend RoleLimit in all.
	Role      string
	RoleLimit budget.Amount

	// LeaveOut leaves accounts out that cannot pay themselves or from the role's budget. Otherwise
	// the question is refused.
	LeaveOut bool

	// Earlier tells, for a quote, the debts of an account and of the role's budget for it for answers that were quoted before, and are not
	// charged yet: an account that cannot pay for them too is short. It may be nil.
	Earlier func(account string) (due, roleDue budget.Amount)

	// Draw makes the answer. It is told who is left out, in ascending order. It runs after all
	// checks, while everybody else who charges waits, so that it should be short. It must not
	// use the ledger. Its result must stay secret until Answer returns it. An error of
	// Draw is returned by Answer as it is; nothing is charged then. A quote needs no Draw.
	Draw func(leftOut []string) ([]byte, error)
}

// A Member is an account that an answer is about.
//
// # Privacy
//
// Some answers of one statement cost an account together the cost of its dearest value (parallel
// composition over values). So an answer may cost less beside others than it does by itself. The
// caller proves that the due parts of all answers of a statement bound the loss from all of
// them. It counts as paid only the charges of an answer drawn in the same statement,
// not for a remembered one, and not for accounts that were left out. Answers that are given
// again lose nothing: they are computed from the answers of the statements that drew them. The
// losses were paid there.
type Member struct {
	Account string
	Epsilon budget.Amount // cost of the answer to the account by itself; it is part of the question's ID

	// Due is the part of Epsilon that the account pays if the answer is drawn: less if other answers of the
	// same statement have paid for the same values. RoleDue is the part of it that the role's budget pays if
	// the role sees the answer for the first time. An account with a Due of 0 is never short, and
	// neither is a role with a RoleDue of 0.
	Due, RoleDue budget.Amount

	Evaluations int64 // that the account pays for
}

// Answered is the answer to a question.
type Answered struct {
	Answer     []byte
	Time       time.Time // when it was drawn
	Remembered bool      // whether it was drawn for an earlier question

	LeftOut int     // how many accounts are left out of it
	Out     LeftOut // which ones, by their numbers in the order of accounts
	Seen    bool    // whether the role had seen it before

	// The sums charged now to the accounts and to the role.
	Charged, RoleCharged Toll
}

// Toll is a sum charged to several accounts.
type Toll struct {
	Accounts int           // that were charged anything
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

// Normalize checks the question but for Draw, and gives its members the form in which engines read them: in
// ascending order of their accounts.
func (q *Question) Normalize() error {
	switch {
	case q.Unit == "":
		return errNoUnit
	case q.Role != "" && (q.RoleLimit < 0 || q.RoleLimit > budget.Max):
		return fmt.Errorf("ledger: the limit of a role must be between 0 and %v", budget.Max)
	}
	byAccount := func(a, b Member) int { return cmp.Compare(a.Account, b.Account) }
	if !slices.IsSortedFunc(q.Members, byAccount) {
		q.Members = slices.SortedFunc(slices.Values(q.Members), byAccount) // the caller's stay in their order
	}
	for i := range q.Members {
		if err := q.checkMember(i); err != nil {
			return err
		}
	}
	return nil
}

// checkMember checks a member after its predecessors.
func (q *Question) checkMember(i int) error {
	m := &q.Members[i]
	if err := CheckCharge(m.Account, q.Unit, m.Epsilon); err != nil {
		return err
	}
	switch {
	case i > 0 && m.Account == q.Members[i-1].Account:
		return fmt.Errorf("ledger: a question is about account %s twice", printable.SQL(m.Account))
	case m.Due < 0 || m.Due > m.Epsilon || m.RoleDue < 0 || m.RoleDue > m.Epsilon:
		return fmt.Errorf("ledger: the due part of account %s must be between 0 and its cost of the answer, %v", printable.SQL(m.Account), m.Epsilon)
	}
	return nil
}

// Asked returns the dues of a member together with those for earlier answers.
func (q *Question) Asked(member int) (account, role budget.Amount) {
	m := &q.Members[member]
	if q.Earlier != nil {
		account, role = q.Earlier(m.Account)
	}
	return m.Due + min(account, budget.Max-m.Due), m.RoleDue + min(role, budget.Max-m.RoleDue)
}

// ID is the key of the remembered answers to the question. It covers, besides the
// Key, the members and the cost of the answer to each by itself: a Key that comes with other
// members is another question, to which a [LeftOut] would mean something else. The due part is no
// part of it: that depends on the other answers of a statement, and the answer does not. The
// question is normalized.
func (q *Question) ID() (id [sha256.Size]byte) {
	h := sha256.New()
	h.Write(q.Key[:])
	var b []byte
	for _, s := range [...]string{q.Function, string(q.Unit)} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	h.Write(b)
	for i := range q.Members {
		m := &q.Members[i]
		b = binary.BigEndian.AppendUint64(b[:0], uint64(m.Epsilon))
		b = binary.BigEndian.AppendUint64(b, uint64(len(m.Account)))
		b = append(b, m.Account...)
		h.Write(b)
	}
	h.Sum(id[:0])
	return id
}

// LeftOut returns the accounts that are left out of an answer.
func (q *Question) LeftOut(out LeftOut) (accounts []string) {
	for i := range q.Members {
		if out.Has(i) {
			accounts = append(accounts, q.Members[i].Account)
		}
	}
	return accounts
}

// Dues returns the payments of the accounts that an answer is about if it is drawn. It leaves out
// accounts that pay nothing.
func (q *Question) Dues(out LeftOut) []Item {
	return q.items(out, func(m *Member) budget.Amount { return m.Due })
}

// RoleDues returns the payments of the role's budgets if it sees an answer for the first time. It leaves
// out accounts that pay nothing.
func (q *Question) RoleDues(out LeftOut) []Item {
	return q.items(out, func(m *Member) budget.Amount { return m.RoleDue })
}

// items returns an item for each member that is not left out and has to pay an amount.
func (q *Question) items(out LeftOut, amount func(*Member) budget.Amount) []Item {
	items := make([]Item, 0, len(q.Members))
	for i := range q.Members {
		m := &q.Members[i]
		if eps := amount(m); eps > 0 && !out.Has(i) {
			items = append(items, Item{Account: m.Account, Epsilon: eps, Evaluations: m.Evaluations})
		}
	}
	return items
}

// LeftOut is a set of members of a normalized question, by their numbers: a bit of each, from the
// lowest one of the first byte on. It ends with its last byte that is not 0.
type LeftOut []byte

// Add adds a member.
func (s *LeftOut) Add(i int) {
	for len(*s) <= i/8 {
		*s = append(*s, 0)
	}
	(*s)[i/8] |= 1 << (i % 8)
}

// Has reports whether a member is in the set.
func (s LeftOut) Has(i int) bool { return i/8 < len(s) && s[i/8]&(1<<(i%8)) != 0 }

// Count returns how many members the set has.
func (s LeftOut) Count() (n int) {
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

// With returns the members that are in either set.
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

// In reports whether every member of the set is in another.
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
// without the accounts that cannot pay. Accounts are the ones short by their own limit, roleBudgets the ones
// short by the role's; both are empty if nobody is to be left out.
//
// An answer that leaves somebody out who could pay is not given: since it was drawn, budgets were
// raised, or the role that asked for it was short of its own. An answer about an account for which the role is
// short is given only to a role that has seen it. Accounts that cannot pay may well be in an
// earlier answer, which they have paid for. Of several answers, one that was seen comes first,
// as it costs nothing; then the one that leaves out the fewest; then the oldest.
//
// So an answer that is drawn is about another set of accounts than each that is remembered: if
// one had left out the same, it would have been chosen.
func Choose(given []Given, accounts, roleBudgets LeftOut) *Given {
	short := accounts.With(roleBudgets)
	var best *Given
	for i := range given {
		g := &given[i]
		if !g.LeftOut.In(short) || !g.Seen && !roleBudgets.In(g.LeftOut) {
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
