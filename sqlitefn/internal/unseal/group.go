package unseal

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// RowNote says in the notes of functions which rows count.
const RowNote = "A row counts as NULL if its value is NULL, its account erased or its session revoked: it contributes nothing and charges nobody. A group without values gives NULL. " +
	"A value that a group has more than once is an error, unless --max-repeat allows it. "

// A Form computes an aggregate of sealed values. It gets values of one range only.
type Form interface {
	// Start reads the settings of a call for values of a range, and returns the price of an answer. Its errors are
	// about the argument sealed if it names none.
	Start(c frame.Call, of Range) (Terms, error)

	// Add adds a value.
	Add(account int, d sealed.Data)

	// Clear forgets all values.
	Clear()

	// Draw answers with the values so far.
	Draw(c frame.Call, paid frame.Receipt) frame.Answer

	// Bytes returns how much memory the form takes with so many values, the next one included, and its answer.
	Bytes(values int64) int64
}

// A MeasuredForm answers a number with an interval.
type MeasuredForm interface {
	Form

	// Interval returns the interval of an answer over so many rows, and its unit, which is empty for a count.
	Interval(rows int64) (interval.Interval, budget.Unit)
}

// A Terms is the price of a group's answer for each account.
type Terms struct {
	budget.Price
	Per multiplier
}

// A multiplier says how often a price is charged.
type multiplier int

const (
	PerAccount multiplier = iota // once for each account
	PerRow                       // for each row of the account
	PerValue                     // for the value of the account that the group has most often; see valueCharges
)

// Group is a group of an aggregate over sealed values. A value is known by its session and counter, which no
// other value of the database has, whatever the shape of the statement that brings it. Nothing is charged or
// drawn before the group is complete.
type Group struct {
	form      Form
	of        Range // of the first value; of.column is nil before it
	price     Terms
	keeper    *catalog.Keeper
	statement *statement
	evaluates *Evaluation // for an analyst, or nil
	repeats   *repeats    // at the place of the group
	most      uint32      // times that it may have a value
	accounts  []int       // with values, as the keeper counts them, in the order in which they came
	members   []member    // they, once the group is complete

	rows  contributions // if they are needed once more, with data if accounts may be left out
	keeps bool          // whether they are
	taken int64         // memory, see reserve

	key      rowsKey        // of the rows, and
	settings frame.Settings // of the first of them, for an analyst
}

// A member is an account that has contributed to a group.
type member struct {
	account int
	rows    int64
	most    uint32 // times that the group has one of its values

	epsilon budget.Amount // that the answer costs by itself
	top     level         // most that the statement charges for one of its values
	due     level         // that it has to pay
	kept    level         // that counts of each of its values, once it is paid
}

// NewGroup returns a group of an aggregate that makes a form of its values.
func NewGroup(form Form) *Group { return &Group{form: form} }

func (*Group) Begin(frame.Call) error { return nil } // the first value decides the range of the group

func (g *Group) Row(c frame.Call) error { return g.Add(c, ArgSealed) }

// Empty reports whether no value was added that counts.
func (g *Group) Empty() bool { return g.of.Column == nil }

// Add adds the sealed value that is an argument.
func (g *Group) Add(c frame.Call, a *frame.Arg) error {
	o, present, err := Open(c, a)
	if err != nil || !present {
		return err
	}
	if o.Of != g.of {
		if err := g.admit(c, a, o); err != nil {
			return err
		}
	}
	if err := g.reserve(); err != nil {
		return err
	}
	g.repeats.opened = append(g.repeats.opened[:0], o.Row)
	_, err = g.add(g.repeats.opened)
	return err
}

// Take adds the first of the rows that follow, up to one that is not as the ones before them. Sealed rows are in random order, so
// that each waits for memory at its account: loops that do one thing for each row wait for several at once.
func (g *Group) Take(values []sqlite.Value, each int) (rows int) {
	if g.Empty() || g.statement.memory.ask != nil { // it is asked for each row
		return 0
	}
	opened := g.repeats.opened[:0]
	for at := 0; at < len(values) && values[at].Type() == sqlite.Blob; at += each {
		value, narrowed, person, ok := splitSpans(values[at].Bytes())
		if !ok {
			break
		}
		row, present, _ := g.keeper.Decrypt(value)
		if !present || (Range{row.Column, narrowed, person}) != g.of {
			break
		}
		opened = append(opened, row)
	}
	g.repeats.opened = opened
	rows, _ = g.add(opened[:g.keeper.Find(opened)])
	return rows
}

// add adds rows, up to the first that the group has too often, and returns how many.
func (g *Group) add(rows []catalog.Row) (added int, err error) {
	r := g.repeats
	r.numbers = r.numbers[:0]
	for _, row := range rows {
		times, e := r.step(row, g.most)
		if e != nil {
			err = e
			break
		}
		number := r.member(row.Account, times, uint32(len(g.accounts)))
		if number == uint32(len(g.accounts)) {
			g.accounts = append(g.accounts, row.Account)
		}
		r.numbers = append(r.numbers, number)
	}
	for i, number := range r.numbers {
		row := &rows[i]
		if g.keeps {
			g.rows.add(contribution{row.Counter, row.Session, number, row.Data})
		}
		if g.evaluates != nil {
			g.evaluates.key.add(&g.key, row)
		}
		g.form.Add(row.Account, row.Data)
	}
	return len(r.numbers), err
}

// admit admits the first value of a group, which decides the range of the group, and later ones of other columns with
// the same universe or domain.
func (g *Group) admit(c frame.Call, a *frame.Arg, o Opened) (err error) {
	if g.of.Column != nil {
		if !g.of.alike(o.Of) {
			return c.Errorf(a, "changes its universe, domain or range within a group")
		}
		return nil
	}
	if g.price, err = g.form.Start(c, o.Of); err != nil {
		return err
	}
	if e := evaluationOf(c.Session); e != nil {
		if err := e.admit(g.price.Price, 1); err != nil { // before all of the rows are read
			return err
		}
		g.evaluates, g.settings, g.rows.keepsData = e, c.CopySettings(), e.analyst.LeaveOut
	}
	g.statement, g.most = statements.Of(c.Statement()), mayRepeat(c.Session)
	g.keeps = g.price.Per == PerValue || g.rows.keepsData
	if g.repeats, err = g.statement.repeats(c.Place(), o.keeper.Accounts()); err != nil {
		return err
	}
	g.of, g.keeper = o.Of, o.keeper
	return nil
}

// alike reports whether values of both ranges may be in a group.
func (r Range) alike(other Range) bool {
	was, is := r.Column, other.Column
	same := was.Universe != nil && is.Universe != nil && *was.Universe == *is.Universe ||
		was.Domain != nil && is.Domain != nil && *was.Domain == *is.Domain
	return same && r.narrowed == other.narrowed && r.person == other.person
}

// Final answers the group.
func (g *Group) Final(c frame.Call) error {
	return c.Result(g.Answer(c))
}

// Answer charges all members in one transaction, or nobody, and draws. A group without values answers NULL.
func (g *Group) Answer(c frame.Call) (frame.Answer, error) {
	if g.of.Column == nil {
		return frame.Answer{}, nil
	}
	if err := g.owe(); err != nil {
		return frame.Answer{}, err
	}
	if g.evaluates != nil {
		return g.evaluates.askGroup(c, g)
	}
	paid, err := c.PayAll(g.bill())
	g.settle(func(uint32) (bool, bool) { return err == nil, false })
	if err != nil {
		return frame.Answer{}, err
	}
	return g.form.Draw(c, paid), nil
}

// owe computes the amount that each member owes, once the group is complete. It must be settled, unless it fails.
func (g *Group) owe() error {
	g.members = make([]member, len(g.accounts))
	for i, account := range g.accounts {
		m := &g.members[i]
		m.account = account
		m.rows, m.most = g.repeats.counted(account)
		times := int64(1)
		switch g.price.Per {
		case PerRow:
			times = m.rows
		case PerValue:
			times = int64(m.most)
		}
		if g.evaluates != nil {
			if err := g.evaluates.admit(g.price.Price, times); err != nil {
				return err
			}
		}
		var ok bool
		if m.epsilon, ok = g.price.Amount.Times(times); !ok {
			return errTooMuch
		}
		m.due = level{m.epsilon, m.epsilon}
	}
	if g.price.Per == PerValue {
		return g.statement.valueCharges(g.price.Unit).enter(g.statement, g)
	}
	return nil
}

// settle says for each member whether the account has paid its due, and whether the role of an analyst has.
func (g *Group) settle(paid func(member uint32) (account, role bool)) {
	if g.price.Per == PerValue {
		g.statement.valueCharges(g.price.Unit).settle(g, paid)
	}
}

// bill returns the bill of the members.
func (g *Group) bill() frame.Bill {
	b := frame.Bill{Unit: g.price.Unit, PerRow: g.price.Per == PerRow, ByValue: g.price.Per == PerValue}
	for i := range g.members {
		if m := &g.members[i]; m.due.account > 0 {
			if b.Items == nil {
				b.Items = make([]ledger.Item, 0, len(g.members)-i)
			}
			b.Items = append(b.Items, ledger.Item{Account: g.keeper.Name(m.account), Epsilon: m.due.account, Evaluations: m.rows})
		}
	}
	return b
}

// without forgets the values of some members.
func (g *Group) without(out func(member uint32) bool) {
	g.form.Clear()
	for x := range g.rows.all {
		if !out(x.member) {
			g.form.Add(g.accounts[x.member], x.data)
		}
	}
}

// errTooMuch does not name the account of the rows: its name is not for everybody.
var errTooMuch = fmt.Errorf("an account would be charged more than any budget can hold")
