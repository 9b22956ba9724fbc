package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// A sealedForm is what an aggregate makes of sealed values. It gets values of one range only.
type sealedForm interface {
	// start reads the settings of a call for values of a range, and says what an answer costs. Its errors are
	// about the argument sealed if it names none.
	start(c call, of sealedRange) (sealedPrice, error)

	// add adds a value.
	add(account int, d sealed.Data)

	// clear forgets all values.
	clear()

	// draw answers with the values so far.
	draw(c call, paid receipt) answer

	// bytes returns how much memory the form takes with so many values, the next one included, and its answer.
	bytes(values int64) int64
}

// A measuredForm is one whose answer is a number with a bound of its distance from the true one.
type measuredForm interface {
	sealedForm

	// radius returns the bound that holds with probability p, and its unit, which is empty for a count.
	radius(p float64, rows int64) (r float64, unit budget.Unit, err error)
}

// A sealedPrice is what an answer of a group costs each account.
type sealedPrice struct {
	budget.Price
	per multiplier
}

// A multiplier says what a price is multiplied by.
type multiplier int

const (
	perAccount multiplier = iota // once for each account
	perRow                       // for each row of the account
	perValue                     // for the value of the account that the group has most often; see valueCharges
)

// sealedGroup is a group of an aggregate over sealed values. A value is known by its session and counter, which no
// other value of the database has, whatever the shape of the statement that brings it. Nothing is charged or
// drawn before the group is complete.
type sealedGroup struct {
	form      sealedForm
	of        sealedRange // of the first value; of.column is nil before it
	price     sealedPrice
	keeper    *catalog.Keeper
	statement *sealedStatement
	repeats   *repeats // at the place of the group
	members   []member // in which they came

	rows      pieces[contribution] // if they are needed once more
	data      pieces[sealed.Data]  // of the rows, if accounts may be left out
	keeps     bool                 // whether rows are needed
	keepsData bool                 // whether data are
	taken     int64                // memory, see reserve

	key      rowsKey  // of the rows, and
	settings settings // of the first of them, for an analyst
}

// A member is an account that has contributed to a group.
type member struct {
	account int // as the keeper counts them
	rows    int64
	most    uint32 // times that the group has one of its values

	epsilon budget.Amount // that the answer costs by itself
	top     level         // most that the statement charges for one of its values
	due     level         // that it has to pay
	kept    level         // that counts of each of its values, once it is paid
}

func newSealedGroup(form sealedForm) *sealedGroup { return &sealedGroup{form: form} }

func (*sealedGroup) begin(call) error { return nil } // the first value says what the group is about

func (g *sealedGroup) row(c call) error { return g.add(c, argSealed) }

// add adds the sealed value that is an argument.
func (g *sealedGroup) add(c call, a *argument) error {
	o, present, err := c.open(a)
	if err != nil || !present {
		return err
	}
	if o.of != g.of {
		if err := g.admit(c, a, o); err != nil {
			return err
		}
	}
	if err := g.reserve(); err != nil {
		return err
	}
	times, err := g.repeats.step(o.Row, c.session.mayRepeat())
	if err != nil {
		return err
	}
	number := g.number(o.Account)
	m := &g.members[number]
	m.rows++
	m.most = max(m.most, times)
	if g.keeps {
		g.rows.add(contribution{o.Counter, o.Session, number})
	}
	if g.keepsData {
		g.data.add(o.Data)
	}
	if e := evaluationOf(c.session); e != nil {
		e.key.add(&g.key, o.Row)
	}
	g.form.add(o.Account, o.Data)
	return nil
}

// admit admits the first value of a group, which decides what the group is about, and later ones of other columns with
// the same universe or domain.
func (g *sealedGroup) admit(c call, a *argument, o opened) (err error) {
	if g.of.column != nil {
		if !g.of.alike(o.of) {
			return c.argErrorf(a, "changes its universe, domain or range within a group")
		}
		return nil
	}
	if g.price, err = g.form.start(c, o.of); err != nil {
		return err
	}
	if e := evaluationOf(c.session); e != nil {
		if err := e.admit(g.price.Price, 1); err != nil { // before all of the rows are read
			return err
		}
		g.settings = c.copySettings()
		g.keepsData = e.analyst.LeaveOut
	}
	g.statement = sealedOf.of(c.statement())
	g.keeps = g.price.per == perValue || g.keepsData
	if g.repeats, err = g.statement.repeats(c.Place(), o.keeper.Accounts()); err != nil {
		return err
	}
	g.of, g.keeper = o.of, o.keeper
	return nil
}

// alike reports whether values of both ranges may be in a group.
func (r sealedRange) alike(other sealedRange) bool {
	was, is := r.column, other.column
	same := was.Universe != nil && is.Universe != nil && *was.Universe == *is.Universe ||
		was.Domain != nil && is.Domain != nil && *was.Domain == *is.Domain
	return same && r.narrowed == other.narrowed && r.lo == other.lo && r.hi == other.hi
}

// number returns the index of the member for an account.
func (g *sealedGroup) number(account int) uint32 {
	n := g.repeats.member(account, uint32(len(g.members)))
	if n == uint32(len(g.members)) {
		g.members = append(g.members, member{account: account})
	}
	return n
}

// final answers the group.
func (g *sealedGroup) final(c call) error {
	a, err := g.answer(c)
	if err == nil {
		c.result(a)
	}
	return err
}

// answer charges all members in one transaction, or nobody, and draws. A group without values answers NULL.
func (g *sealedGroup) answer(c call) (answer, error) {
	if g.of.column == nil {
		return answer{}, nil
	}
	if err := g.owe(c.session); err != nil {
		return answer{}, err
	}
	if e := evaluationOf(c.session); e != nil {
		return e.askGroup(c, g)
	}
	paid, err := c.payAll(g.bill())
	g.settle(func(uint32) (bool, bool) { return err == nil, false })
	if err != nil {
		return answer{}, err
	}
	return g.form.draw(c, paid), nil
}

// owe finds what each member owes. It must be settled, unless it fails.
func (g *sealedGroup) owe(s *session) error {
	for i := range g.members {
		m := &g.members[i]
		times := int64(1)
		switch g.price.per {
		case perRow:
			times = m.rows
		case perValue:
			times = int64(m.most)
		}
		if e := evaluationOf(s); e != nil {
			if err := e.admit(g.price.Price, times); err != nil {
				return err
			}
		}
		var ok bool
		if m.epsilon, ok = g.price.Amount.Times(times); !ok {
			return errTooMuch
		}
		m.due = level{m.epsilon, m.epsilon}
	}
	if g.price.per == perValue {
		return g.statement.valueCharges(g.price.Unit).enter(g.statement, g)
	}
	return nil
}

// settle says for each member whether the account has paid what was due, and whether the role of an analyst has.
func (g *sealedGroup) settle(paid func(member uint32) (account, role bool)) {
	if g.price.per == perValue {
		g.statement.valueCharges(g.price.Unit).settle(g, paid)
	}
}

// bill returns what the members have to pay.
func (g *sealedGroup) bill() bill {
	b := bill{unit: g.price.Unit, perRow: g.price.per == perRow, byValue: g.price.per == perValue}
	for i := range g.members {
		if m := &g.members[i]; m.due.account > 0 {
			b.items = append(b.items, ledger.Item{Account: g.keeper.Name(m.account), Epsilon: m.due.account, Evaluations: m.rows})
		}
	}
	return b
}

// without forgets the values of some members.
func (g *sealedGroup) without(out func(member uint32) bool) {
	g.form.clear()
	for i, piece := range g.rows.pieces {
		for j, x := range piece {
			if !out(x.member) {
				g.form.add(g.members[x.member].account, g.data.pieces[i][j])
			}
		}
	}
}

// errTooMuch does not say whose rows they are: an account's name is not for everybody.
var errTooMuch = fmt.Errorf("an account would be charged more than any budget can hold")

// A contribution is a value of a group, once for each time that the group has it.
type contribution struct {
	counter         uint64
	session, member uint32
}

// pieces is a list in pieces, so that it is never copied as it grows. Those of lists of equal length are equally long.
type pieces[T any] struct{ pieces [][]T }

// pieceSize is the length of the longest pieces. The first is short: most groups are small.
const pieceSize = 1 << 13

func (l *pieces[T]) add(x T) {
	last := len(l.pieces) - 1
	if last < 0 || len(l.pieces[last]) == cap(l.pieces[last]) {
		size := 16
		if last >= 0 {
			size = min(2*cap(l.pieces[last]), pieceSize)
		}
		l.pieces = append(l.pieces, make([]T, 0, size))
		last++
	}
	l.pieces[last] = append(l.pieces[last], x)
}

// all is the sequence of all of them.
func (l *pieces[T]) all(yield func(*T) bool) {
	for _, piece := range l.pieces {
		for i := range piece {
			if !yield(&piece[i]) {
				return
			}
		}
	}
}
