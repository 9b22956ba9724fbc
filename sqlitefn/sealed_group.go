package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/counts"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed/catalog"
)

// sealedRows are the rows of a group of an aggregate over sealed values: who contributed, and
// how often each value did. A value is known by its session and counter, which no other value of
// the database has, whatever the shape of the statement that brings it.
type sealedRows struct {
	of      sealedRange // of the first value; of.column is nil before it
	keeper  *catalog.Keeper
	repeats *repeats // at the place of the group
	members map[int]*member
	order   []*member     // in which they came
	values  *valueCharges // under d1, otherwise nil
}

// A member is an account that has contributed to a group.
type member struct {
	account int // as the keeper counts them
	rows    int64
	one     bool  // whether one of its readings is 1, for dx_accounts
	owed    *owed // under d1
}

// open opens the sealed value that is an argument, and counts it. It returns nil for a row that does not
// contribute. The first value decides which column the group is about.
func (r *sealedRows) open(c call, a *argument) (*member, opened, error) {
	o, present, err := c.open(a)
	if err != nil || !present {
		return nil, o, err
	}
	if o.of != r.of {
		if err := r.admit(c, a, o); err != nil {
			return nil, o, err
		}
	}
	if r.repeats == nil {
		r.repeats = c.statement().repeats(c.Place())
	}
	if err := r.repeats.step(o.Row, c.session.opts.mayRepeat()); err != nil {
		return nil, o, err
	}
	m := r.member(o.Account)
	m.rows++
	return m, o, nil
}

// admit admits the first value of a group, and later ones of other columns with the same
// universe or domain.
func (r *sealedRows) admit(c call, a *argument, o opened) error {
	if r.of.column == nil {
		r.of, r.keeper = o.of, o.keeper
		return nil
	}
	was, is := r.of.column, o.of.column
	same := was.Universe != nil && is.Universe != nil && *was.Universe == *is.Universe ||
		was.Domain != nil && is.Domain != nil && *was.Domain == *is.Domain
	if !same || r.of.narrowed != o.of.narrowed || r.of.lo != o.of.lo || r.of.hi != o.of.hi {
		return c.argErrorf(a, "changes its universe, domain or range within a group")
	}
	return nil
}

// member returns the group's member for an account.
func (r *sealedRows) member(account int) *member {
	m := r.members[account]
	if m == nil {
		if r.members == nil {
			r.members = map[int]*member{}
		}
		m = &member{account: account}
		r.members[account] = m
		r.order = append(r.order, m)
	}
	return m
}

// step charges a step of a value of a member under d1.
func (r *sealedRows) step(m *member, o opened, epsilon budget.Amount) error {
	if m.owed == nil {
		m.owed = r.values.of(m.account)
	}
	return r.values.step(m.owed, o.Row, epsilon)
}

// pay pays for the answer of a group: the price for each member, or for each of its rows. All
// pay in one transaction, or nobody does.
func (r *sealedRows) pay(c call, price budget.Price, perRow bool) (receipt, error) {
	b := bill{unit: price.Unit, perRow: perRow}
	for _, m := range r.order {
		times := int64(1)
		if perRow {
			times = m.rows
		}
		total, ok := price.Amount.Times(times)
		if !ok {
			return receipt{}, errTooMuch
		}
		b.items = append(b.items, ledger.Item{Account: r.keeper.Name(m.account), Epsilon: total, Evaluations: m.rows})
	}
	return c.session.payer.payAll(c.function, b)
}

// payValues pays for the answer of a group under d1: what each member owes for all its values
// in the statement so far, and has not paid.
func (r *sealedRows) payValues(c call, unit budget.Unit) (receipt, error) {
	b := bill{unit: unit, byValue: true}
	for _, m := range r.order {
		if due := m.owed.due - m.owed.paid; due > 0 {
			b.items = append(b.items, ledger.Item{Account: r.keeper.Name(m.account), Epsilon: due, Evaluations: m.rows})
		}
	}
	paid, err := c.session.payer.payAll(c.function, b)
	if err == nil {
		for _, m := range r.order {
			m.owed.paid = m.owed.due
		}
	}
	return paid, err
}

// errTooMuch does not say whose rows they are: an account's name is not for everybody.
var errTooMuch = fmt.Errorf("an account would be charged more than any budget can hold")

// repeats counts how often the group that is open at a place of a running statement has each
// value. A place never has two open groups: the instruction that steps an aggregate has one
// accumulator. So one table serves all groups of the place, one after the other. It has, for each
// value, the number of the last group that had it and how often it did.
type repeats struct {
	table counts.Table
	group uint32
}

// repeatBits is how many bits of an entry say how often; the others are the number of the group.
const repeatBits = 12

// repeats returns the counts for a group that begins at a place.
func (t *statement) repeats(place int) *repeats {
	r := t.repeated[place]
	if r == nil {
		if t.repeated == nil {
			t.repeated = map[int]*repeats{}
		}
		r = new(repeats)
		t.repeated[place] = r
	}
	r.group++
	if r.group >= 1<<(32-repeatBits) {
		r.table.Close()
		r.group = 1
	}
	return r
}

// step counts a value of the group.
func (r *repeats) step(row catalog.Row, most uint32) error {
	entry, err := r.table.At(row.Session, row.Counter)
	if err != nil {
		return err
	}
	if *entry>>repeatBits != r.group {
		*entry = r.group << repeatBits
	}
	if times := *entry & MaxRepeat; times >= most {
		return fmt.Errorf("a group has the same value more than %d times, as after a join or UNION ALL that repeats rows (see --max-repeat)", times)
	}
	*entry++
	return nil
}

// valueCharges adds up what a running statement charges for each sealed value in a unit, under d1.
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
// Steps count at once. A group pays for steps of groups that have not ended, too: they will not
// pay again.
type valueCharges struct {
	sums   counts.Table // for each value, the index of its sum among levels
	levels []budget.Amount
	index  map[budget.Amount]uint32 // of each level
	rises  map[rise]uint32          // from a level to the next
	owed   map[int]*owed            // by account
	last   struct {
		rise
		to uint32
	}
}

// A rise is a level and what is added to it.
type rise struct {
	from uint32
	by   budget.Amount
}

// owed says what an account owes in a statement, and what of it is paid.
type owed struct{ due, paid budget.Amount }

// valueCharges returns the charges of the running statement in a unit.
func (t *statement) valueCharges(unit budget.Unit) *valueCharges {
	v := t.values[unit]
	if v == nil {
		if t.values == nil {
			t.values = map[budget.Unit]*valueCharges{}
		}
		v = &valueCharges{levels: []budget.Amount{0}, index: map[budget.Amount]uint32{0: 0}, rises: map[rise]uint32{}, owed: map[int]*owed{}}
		t.values[unit] = v
	}
	return v
}

// of returns what an account owes.
func (v *valueCharges) of(account int) *owed {
	o := v.owed[account]
	if o == nil {
		o = new(owed)
		v.owed[account] = o
	}
	return o
}

// step adds epsilon to the sum of a value, whose account owes o.
func (v *valueCharges) step(o *owed, row catalog.Row, epsilon budget.Amount) error {
	level, err := v.sums.At(row.Session, row.Counter)
	if err != nil {
		return err
	}
	to, err := v.rise(rise{*level, epsilon})
	if err != nil {
		return err
	}
	*level = to
	o.due = max(o.due, v.levels[to])
	return nil
}

// rise returns the level that a rise leads to. Most are the same as the one before.
func (v *valueCharges) rise(r rise) (uint32, error) {
	if v.last.rise == r && r.by != 0 {
		return v.last.to, nil
	}
	to, known := v.rises[r]
	if !known {
		var err error
		if to, err = v.level(v.levels[r.from], r.by); err != nil {
			return 0, err
		}
		v.rises[r] = to
	}
	v.last.rise, v.last.to = r, to
	return to, nil
}

// level returns the index of the level a + b.
func (v *valueCharges) level(a, b budget.Amount) (uint32, error) {
	if a > budget.Max-b {
		return 0, errTooMuch
	}
	to, known := v.index[a+b]
	if !known {
		to = uint32(len(v.levels))
		v.levels, v.index[a+b] = append(v.levels, a+b), to
	}
	return to, nil
}
