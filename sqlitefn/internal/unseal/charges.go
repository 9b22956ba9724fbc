package unseal

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/counts"
	"github.com/geosql/geosql/sealed/catalog"
)

// repeats counts how often the group that is open at a place of a running statement has each
// value, and numbers its members. A place never has two open groups: the instruction that steps an aggregate has one
// accumulator. So one table serves all groups of the place, one after the other. It has, for each
// value, the number of the last group that had it and how often it did.
type repeats struct {
	table   counts.Table
	members []placeMember // by account, as the keeper counts them
	group   uint32

	opened  []catalog.Row // room for the rows that are being added
	numbers []uint32      // of the members that they are of
}

// A placeMember is the last group that an account was a member of, with what it has there: a quarter of a cache line, for which
// every row of a large group waits.
type placeMember struct {
	last   uint32 // the group, and the most times that it has one of the account's values, as entries of the table
	number uint32
	rows   int64
}

// repeatBits is how many bits of an entry say how often; the others are the number of the group.
const repeatBits = 12

// repeats returns the counts for a group that begins at a place, in a database with so many accounts.
func (t *statement) repeats(place, accounts int) (*repeats, error) {
	r := t.repeated[place]
	if r == nil {
		if t.repeated == nil {
			t.repeated = map[int]*repeats{}
		}
		r = &repeats{table: counts.Table{Take: t.memory.take}}
		t.repeated[place] = r
	}
	if more := accounts - len(r.members); more > 0 {
		if err := t.memory.take(int64(more) * int64(unsafe.Sizeof(placeMember{}))); err != nil {
			return nil, err
		}
		r.members = slices.Grow(r.members, more)[:accounts]
	}
	r.group++
	if r.group >= 1<<(32-repeatBits) {
		r.table.Close()
		clear(r.members)
		r.group = 1
	}
	return r, nil
}

// member counts a row of an account, with a value that the group has so many times now, and returns the number of the account's
// member. A new one gets the number next.
func (r *repeats) member(account int, times, next uint32) uint32 {
	m := &r.members[account]
	if m.last>>repeatBits != r.group {
		*m = placeMember{number: next}
	}
	m.last = max(m.last, r.group<<repeatBits|times)
	m.rows++
	return m.number
}

// counted returns how many rows a member has, and the most times that it has one value.
func (r *repeats) counted(account int) (rows int64, most uint32) {
	m := &r.members[account]
	return m.rows, m.last & MaxRepeat
}

// step counts a value of the group, and returns how often the group has it now.
func (r *repeats) step(row catalog.Row, most uint32) (uint32, error) {
	entry, err := r.table.At(row.Session, row.Counter)
	if err != nil {
		return 0, err
	}
	if *entry>>repeatBits != r.group {
		*entry = r.group << repeatBits
	}
	times := *entry & MaxRepeat
	if times >= most {
		return 0, errRepeated(times)
	}
	*entry++
	return times + 1, nil
}

// errRepeated returns the error for a value that a group had so many times already.
func errRepeated(times uint32) error {
	often := "once"
	if times > 1 {
		often = fmt.Sprintf("%d times", times)
	}
	return fmt.Errorf("a group has the same value more than %s, as after a join or UNION ALL that repeats rows (see --max-repeat)", often)
}

// valueCharges adds up the charges of a running statement for each sealed value in a unit, under d1.
//
// # Privacy
//
// Let a statement step value v in places and groups g, m_g(v) times each, with epsilon_g. Every
// answer is a function of a noisy sum, mean, rank or the like that moves by m_g(v)*d if v moves by
// d, so that it distinguishes at most epsilon_g*m_g(v)*d. All answers together distinguish the
// sum over v of (sum over g of epsilon_g*m_g(v)) * d(v), which is at most the largest of these
// sums times the distance d_1 between the account's values. So an account pays its largest sum.
// That it is the same value which several groups step is known and not proved: its session and
// counter are authenticated, and the collector has used them once.
//
// A group enters when it is complete, and stays if it is paid for. An answer that was given before is not
// paid for again and does not count: it distinguishes no more than was paid for then.
// For a role, the same holds of the answers that it has not seen before.
type valueCharges struct {
	memory *allowance
	sums   counts.Table // for each value, the index of its sum among levels
	levels []level
	index  map[level]uint32 // of each level
	rises  map[rise]uint32  // from a level to the next
	paid   []level          // by account, as the keeper counts them
	first  *Group           // the only group so far, while its values are not in sums
	some   bool             // whether any are
	last   struct {
		rise
		to uint32
	}
}

// A level is the charge of a statement: to an account, and to the role of an analyst for it.
type level struct{ account, role budget.Amount }

// A rise is a level and the amount added to it.
type rise struct {
	from uint32
	by   level
}

// valueCharges returns the charges of the running statement in a unit.
func (t *statement) valueCharges(unit budget.Unit) *valueCharges {
	v := t.values[unit]
	if v == nil {
		if t.values == nil {
			t.values = map[budget.Unit]*valueCharges{}
		}
		v = &valueCharges{
			memory: &t.memory, sums: counts.Table{Take: t.memory.take},
			levels: []level{{}}, index: map[level]uint32{{}: 0}, rises: map[rise]uint32{},
		}
		t.values[unit] = v
	}
	return v
}

// enter adds the values of a group to the sums, and computes the amount that each member owes. Most statements have
// one group for each value, and many have one group: its values enter when another one follows.
func (v *valueCharges) enter(t *statement, g *Group) error {
	if more := g.keeper.Accounts() - len(v.paid); more > 0 {
		if err := v.memory.take(int64(more) * int64(unsafe.Sizeof(level{}))); err != nil {
			return err
		}
		v.paid = slices.Grow(v.paid, more)[:g.keeper.Accounts()]
	}
	if v.first == nil && !v.some {
		v.first = g
		for i := range g.members {
			m := &g.members[i]
			m.top = m.due
		}
		return nil
	}
	if first := v.first; first != nil {
		v.first = nil
		v.some = true
		err := v.add(first, func(m *member) level { return m.kept })
		first.Release()
		if err != nil {
			return err
		}
	}
	by := level{g.price.Amount, g.price.Amount}
	if err := v.add(g, func(*member) level { return by }); err != nil {
		return err
	}
	for i := range g.members {
		m := &g.members[i]
		paid := v.paid[m.account]
		m.due = level{max(0, m.top.account-paid.account), max(0, m.top.role-paid.role)}
	}
	return nil
}

// settle keeps the paid part of a group that has entered, and takes the rest of it out of the sums.
func (v *valueCharges) settle(g *Group, paid func(member uint32) (account, role bool)) {
	kept, all := false, true
	for i := range g.members {
		m := &g.members[i]
		account, role := paid(uint32(i))
		m.kept = level{}
		if account {
			m.kept.account = g.price.Amount
		}
		if role {
			m.kept.role = g.price.Amount
		}
		kept, all = kept || account || role, all && account && role
		v.note(m)
	}
	switch {
	case v.first == g && !kept:
		v.first = nil
	case v.first == g:
	default:
		v.some = true
		if !all {
			// Sums that are too large, after an error of the temporary file, charge too much at most.
			_ = v.add(g, func(m *member) level { return m.kept.minus(level{g.price.Amount, g.price.Amount}) })
		}
	}
}

// note notes the payment of a member.
func (v *valueCharges) note(m *member) {
	if m.kept == (level{}) {
		return
	}
	paid := &v.paid[m.account]
	if m.kept.account > 0 {
		paid.account = max(paid.account, m.top.account)
	}
	if m.kept.role > 0 {
		paid.role = max(paid.role, m.top.role)
	}
}

// add adds to the sums of the values of a group, by member.
func (v *valueCharges) add(g *Group, by func(*member) level) error {
	for i := range g.members {
		g.members[i].top = level{}
	}
	for x := range g.rows.all {
		m := &g.members[x.member]
		sum, err := v.sums.At(x.session, x.counter)
		if err != nil {
			return err
		}
		if *sum, err = v.rise(rise{*sum, by(m)}); err != nil {
			return err
		}
		top := v.levels[*sum]
		m.top = level{max(m.top.account, top.account), max(m.top.role, top.role)}
	}
	return nil
}

// rise returns the level that a rise leads to, or the one that it began at with an error. Most are the same as the one
// before.
func (v *valueCharges) rise(r rise) (uint32, error) {
	if v.last.rise == r && r.by != (level{}) {
		return v.last.to, nil
	}
	to, known := v.rises[r]
	if !known {
		sum, ok := v.levels[r.from].plus(r.by)
		if !ok {
			return r.from, errTooMuch
		}
		if err := v.memory.take(levelSize); err != nil {
			return r.from, err
		}
		to = v.number(sum)
		v.rises[r] = to
	}
	v.last.rise, v.last.to = r, to
	return to, nil
}

// number returns the index of a level.
func (v *valueCharges) number(l level) uint32 {
	n, known := v.index[l]
	if !known {
		n = uint32(len(v.levels))
		v.levels, v.index[l] = append(v.levels, l), n
	}
	return n
}

// plus reports false if a sum is more than any budget can hold.
func (l level) plus(by level) (level, bool) {
	sum := level{l.account + by.account, l.role + by.role} // two amounts never overflow
	return sum, sum.account <= budget.Max && sum.role <= budget.Max
}

func (l level) minus(by level) level { return level{l.account - by.account, l.role - by.role} }
