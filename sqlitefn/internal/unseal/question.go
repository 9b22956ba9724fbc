package unseal

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// PayOne pays for an answer about one value, and draws.
func PayOne(c frame.Call, o Opened, price budget.Price, draw func(frame.Receipt) frame.Answer) (frame.Answer, error) {
	if e := evaluationOf(c.Session); e != nil {
		return e.askValue(c, o, price, draw)
	}
	paid, err := c.Pay([]byte(o.name()), price)
	if err != nil {
		return frame.Answer{}, err
	}
	return draw(paid), nil
}

// A scalarCall is a call of a scalar function without its answer.
type scalarCall struct {
	name     string
	question *ledger.Question // nil if the answer is NULL, for nothing
	standIn  func() frame.Answer
}

// askValue keeps a question about one value with its call.
func (e *Evaluation) askValue(c frame.Call, o Opened, price budget.Price, draw func(frame.Receipt) frame.Answer) (frame.Answer, error) {
	if err := e.admit(price, 1); err != nil {
		return frame.Answer{}, err
	}
	var rows rowsKey
	e.key.add(&rows, &o.Row)
	call := &e.put[len(e.put)-1]
	call.question = &ledger.Question{
		Key: e.key.name(c, c.CopySettings(), o.Of, rows), Function: c.Name, Unit: price.Unit,
		Members: []ledger.Member{{Account: o.name(), Epsilon: price.Amount, Due: price.Amount, RoleDue: price.Amount, Evaluations: 1}},
		Draw: func(leftOut []string) ([]byte, error) {
			if len(leftOut) > 0 {
				return frame.Answer{}.Encode(), nil
			}
			return draw(e.receipt()).Encode(), nil
		},
	}
	call.standIn = func() frame.Answer { return draw(e.receipt()) }
	return frame.Answer{}, nil
}

// Answers answers the first of the calls that were put since the last time, one at least if there are any, in one transaction of the
// ledger. The others are forgotten. The answers of a quote are stand-ins, and are of all calls.
func (e *Evaluation) Answers() (list []frame.Released, err error) {
	calls := e.put
	e.put = e.put[:0]
	for len(calls) > 0 {
		some, err := e.answers(calls)
		if err != nil {
			return nil, err
		}
		list, calls = append(list, some...), calls[len(some):]
		if !e.quote {
			break
		}
	}
	return list, nil
}

// answers answers the first of some calls.
func (e *Evaluation) answers(calls []scalarCall) ([]frame.Released, error) {
	if e.err != nil {
		return nil, e.err
	}
	var qs []*ledger.Question
	for _, c := range calls {
		if c.question != nil {
			qs = append(qs, c.question)
		}
	}
	if e.limit != nil && len(qs) > 1 {
		qs = qs[:1] // whether another one is within the quote depends on it
	}
	all, err := e.ask(qs, 1)
	if err != nil {
		return nil, e.fail(fmt.Errorf("%s: %w", calls[slices.IndexFunc(calls, func(c scalarCall) bool { return c.question != nil })].name, err))
	}
	list := make([]frame.Released, 0, len(calls))
	for _, c := range calls {
		switch {
		case c.question == nil:
			list = append(list, frame.Answer{}.Encode())
			continue
		case len(all) == 0:
			return list, nil
		case e.quote:
			list = append(list, c.standIn().Encode())
		default:
			list = append(list, all[0].Answer)
		}
		all = all[1:]
	}
	return list, nil
}

// askGroup asks the ledger about a group, after owe has set the debts of its members.
func (e *Evaluation) askGroup(c frame.Call, g *Group) (frame.Answer, error) {
	order := make([]uint32, len(g.members)) // members in the order of their accounts' names, which is the ledger's
	for i := range order {
		order[i] = uint32(i)
	}
	name := func(m uint32) string { return g.keeper.Name(g.members[m].account) }
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(name(a), name(b)) })
	q := &ledger.Question{
		Key: e.key.name(c, g.settings, g.of, g.key), Function: c.Name, Unit: g.price.Unit,
		Members: make([]ledger.Member, len(order)),
		Draw: func(leftOut []string) ([]byte, error) {
			if len(leftOut) == len(order) {
				return frame.Answer{}.Encode(), nil
			}
			if len(leftOut) > 0 {
				g.without(func(m uint32) bool {
					_, out := slices.BinarySearch(leftOut, name(m))
					return out
				})
			}
			return g.form.Draw(c, e.receipt()).Encode(), nil
		},
	}
	most := uint32(0)
	for i, n := range order {
		m := &g.members[n]
		q.Members[i] = ledger.Member{Account: name(n), Epsilon: m.epsilon, Due: m.due.account, RoleDue: m.due.role, Evaluations: m.rows}
		most = max(most, m.most)
	}
	var answered ledger.Answered
	all, err := e.ask([]*ledger.Question{q}, int(most))
	if err == nil {
		answered = all[0]
	}
	about := make([]bool, len(order)) // by member
	for i, n := range order {
		about[n] = err == nil && !answered.Out.Has(i)
	}
	g.settle(func(m uint32) (account, role bool) {
		return about[m] && !answered.Remembered, about[m] && !answered.Seen
	})
	if err != nil {
		return frame.Answer{}, err
	}
	within, unit := g.interval()
	if answered.LeftOut > 0 {
		within.Radius = math.NaN() // it would be that of more rows
	}
	e.asked.within95(c.Name, within, unit)
	if e.quote {
		return g.form.Draw(c, e.receipt()), nil
	}
	a, err := frame.ParseAnswer(answered.Answer)
	if x, is := a.Number(); is {
		e.asked.interval(x, within)
	}
	return a, err
}

// interval returns how far from the true answer the group's may be, by public facts, and in which unit that is, which is empty
// for a count.
func (g *Group) interval() (interval.Interval, budget.Unit) {
	if f, measured := g.form.(MeasuredForm); measured {
		return f.Interval(g.key.n)
	}
	return interval.Interval{Times: 1, Radius: math.NaN()}, ""
}

// receipt returns the receipt to draw an answer that the ledger has checked, or a stand-in for a quote.
func (e *Evaluation) receipt() frame.Receipt {
	return e.evaluator.session.Receipt(e.quote)
}

// ask asks the ledger the first of some questions, or for a quote the price of asking them.
func (e *Evaluation) ask(qs []*ledger.Question, multiplicity int) ([]ledger.Answered, error) {
	if len(qs) == 0 {
		return nil, nil
	}
	l, err := e.evaluator.session.LedgerToCharge()
	if err != nil {
		return nil, err
	}
	for _, q := range qs {
		q.Role, q.LeaveOut = e.analyst.Role, e.analyst.LeaveOut
		q.RoleLimit, _ = e.analyst.Budget(q.Unit)
	}
	var all []ledger.Answered
	if e.quote {
		all, err = e.quoteOf(l, qs)
	} else {
		all, err = e.answersOf(l, qs)
	}
	if err != nil {
		return nil, err
	}
	for i, a := range all {
		e.asked.add(qs[i], a, multiplicity)
	}
	return all, nil
}

// quoteOf returns the price of the first of some questions.
func (e *Evaluation) quoteOf(l ledger.Questions, qs []*ledger.Question) ([]ledger.Answered, error) {
	if e.asked.before[qs[0].Key] {
		return []ledger.Answered{{Remembered: true, Seen: true, Time: e.asked.drawn}}, nil // as it will be
	}
	behind := make([]ledger.Question, 0, len(qs))
	memory := &statements.Of(e.statement).memory
	for _, q := range qs {
		if e.asked.before[q.Key] {
			break
		}
		if err := e.asked.keep(q, memory); err != nil {
			return nil, err
		}
		behind = append(behind, e.asked.withEarlier(q))
	}
	all, err := l.QuoteAll(e.analyst.Context, behind)
	for _, q := range qs[len(all):len(behind)] {
		delete(e.asked.before, q.Key)
	}
	return all, err
}

var errUnseen = errors.New("the analyst has not seen the answer")

// answersOf asks the ledger, which keeps new answers.
func (e *Evaluation) answersOf(l ledger.Questions, qs []*ledger.Question) ([]ledger.Answered, error) {
	if e.recall {
		a, err := l.Quote(e.analyst.Context, *qs[0])
		if err == nil && a.Answer == nil {
			err = errUnseen
		}
		return []ledger.Answered{a}, err
	}
	if e.limit != nil {
		a, err := l.Quote(e.analyst.Context, *qs[0])
		if err == nil {
			err = e.asked.within(qs[0], a, e.limit)
		}
		if err != nil {
			return nil, err
		}
	}
	asked := make([]ledger.Question, len(qs))
	for i, q := range qs {
		asked[i] = *q
		if e.analyst.MayDraw != nil {
			asked[i].Draw = func(leftOut []string) ([]byte, error) {
				if err := e.analyst.MayDraw(i); err != nil {
					return nil, err
				}
				return q.Draw(leftOut)
			}
		}
	}
	all, err := l.AnswerAll(e.analyst.Context, asked)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if e.analyst.Drew != nil && !a.Remembered {
			e.analyst.Drew(len(a.Answer))
		}
	}
	return all, nil
}

// A Report has the costs of a statement's answers, made or quoted.
type Report struct {
	Answers    int // that were given
	Remembered int // of them, those in the ledger already
	Costs      []Cost
	LeftOut    int      // most accounts that are left out of an answer
	Columns    []string // sealed ones that were asked about, as catalog.ColumnName writes them, in order
	Functions  []string // that were called, in order

	// Radius is how far from the truth each answer is at most, with a probability of 95 % and by public facts. It is 0 if
	// no such bound is known, or if the answers are of several functions or in several units.
	Radius float64
	Unit   string    // of Radius; empty for a count
	Drawn  time.Time // when the oldest of the answers was drawn
}

// A Cost is the cost of a statement in one unit.
type Cost struct {
	Unit         budget.Unit
	Accounts     int           // that are charged
	Most         budget.Amount // of them, the largest amount charged to one
	RoleAccounts int           // for which the role is charged
	RoleMost     budget.Amount
	Multiplicity int // the most often that a value is in a group
}

// An OverQuoteError says that a statement would cost more than it was quoted for: see [Evaluation.Limit].
type OverQuoteError struct{ Unit budget.Unit }

func (e *OverQuoteError) Error() string {
	return fmt.Sprintf("this costs more per %s now than it was quoted for", e.Unit)
}

// asked adds up the questions of an evaluation.
type asked struct {
	answers, remembered, leftOut int
	spent                        map[budget.Unit]*spent
	columns, functions           map[string]bool
	drawn                        time.Time
	before                       map[[32]byte]bool // the questions of a quote

	bounds    bounds
	intervals map[float64]interval.Interval // of the numbers that were answered
}

// mostIntervals is the most numbers of which the intervals are remembered; of more, none is.
const mostIntervals = 1 << 16

// interval remembers the interval of a number that was answered.
func (a *asked) interval(number float64, within interval.Interval) {
	if a.intervals == nil {
		a.intervals = map[float64]interval.Interval{}
	}
	if len(a.intervals) <= mostIntervals {
		a.intervals[number] = a.intervals[number].Plus(within)
	}
}

// Intervals tells of numbers how far from the truth they may be, if the evaluation so far has answered them.
func (e *Evaluation) Intervals() interval.Of {
	all := e.asked.intervals
	return func(number float64) interval.Interval {
		if len(all) > mostIntervals {
			return interval.Interval{}
		}
		return all[number]
	}
}

// bounds collects the radii of answers.
type bounds struct {
	function, unit string
	most           float64
	answers        int // of the function, in the unit, with a known radius
}

// spent is the amount spent in one unit.
type spent struct {
	Cost
	accounts map[string]level // the payment of each, and of the role for it
}

// within95 notes the interval of an answer of a group.
func (a *asked) within95(function string, within interval.Interval, of budget.Unit) {
	unit, b := string(of), &a.bounds
	if b.answers == 0 {
		b.function, b.unit = function, unit
	}
	if !within.Ranks && !math.IsNaN(within.Radius) && function == b.function && unit == b.unit {
		b.answers++
		b.most = max(b.most, within.Radius)
	}
}

func (a *asked) column(name string) {
	if a.columns == nil {
		a.columns = map[string]bool{}
	}
	a.columns[name] = true
}

// add adds an answer to a question.
func (a *asked) add(q *ledger.Question, got ledger.Answered, multiplicity int) {
	if a.spent == nil {
		a.spent, a.functions = map[budget.Unit]*spent{}, map[string]bool{}
	}
	a.answers++
	a.functions[q.Function] = true
	a.leftOut = max(a.leftOut, got.LeftOut)
	if got.Remembered {
		a.remembered++
	}
	if a.drawn.IsZero() || got.Time.Before(a.drawn) {
		a.drawn = got.Time
	}
	in := a.spent[q.Unit]
	if in == nil {
		in = &spent{Cost: Cost{Unit: q.Unit}, accounts: map[string]level{}}
		a.spent[q.Unit] = in
	}
	in.Cost = in.after(q, got)
	in.Multiplicity = max(in.Multiplicity, multiplicity)
	for i, m := range q.Members {
		if by := paidOf(q, i, got); by != (level{}) {
			in.accounts[m.Account], _ = in.accounts[m.Account].plus(by)
		}
	}
}

// keep keeps the name of a question that was quoted.
func (a *asked) keep(q *ledger.Question, memory *allowance) error {
	if a.before[q.Key] {
		return nil
	}
	if err := memory.take(2 * int64(len(q.Key))); err != nil {
		return err
	}
	if a.before == nil {
		a.before = map[[32]byte]bool{}
	}
	a.before[q.Key] = true
	return nil
}

// withEarlier returns a question of a quote with the debts of its accounts for the questions before it.
func (a *asked) withEarlier(q *ledger.Question) ledger.Question {
	all := *q
	if in := a.spent[q.Unit]; in != nil {
		all.Earlier = func(name string) (account, role budget.Amount) {
			l := in.accounts[name]
			return l.account, l.role
		}
	}
	return all
}

// paidOf returns the payment of a member for an answer.
func paidOf(q *ledger.Question, member int, got ledger.Answered) (by level) {
	if got.Out.Has(member) {
		return by
	}
	if !got.Remembered {
		by.account = q.Members[member].Due
	}
	if q.Role != "" && !got.Seen {
		by.role = q.Members[member].RoleDue
	}
	return by
}

// after returns the cost after another answer.
func (s *spent) after(q *ledger.Question, got ledger.Answered) Cost {
	c := s.Cost
	for i, m := range q.Members {
		by := paidOf(q, i, got)
		if by == (level{}) {
			continue
		}
		before := s.accounts[m.Account]
		sum, _ := before.plus(by)
		if before.account == 0 && sum.account > 0 {
			c.Accounts++
		}
		if before.role == 0 && sum.role > 0 {
			c.RoleAccounts++
		}
		c.Most, c.RoleMost = max(c.Most, sum.account), max(c.RoleMost, sum.role)
	}
	return c
}

// within checks that an answer does not make the costs exceed a quote.
func (a *asked) within(q *ledger.Question, got ledger.Answered, quoted *Report) error {
	in := a.spent[q.Unit]
	if in == nil {
		in = new(spent)
	}
	var most Cost
	for _, c := range quoted.Costs {
		if c.Unit == q.Unit {
			most = c
		}
	}
	if c := in.after(q, got); c.Accounts > most.Accounts || c.Most > most.Most || c.RoleAccounts > most.RoleAccounts ||
		c.RoleMost > most.RoleMost || got.LeftOut > quoted.LeftOut {
		return &OverQuoteError{q.Unit}
	}
	return nil
}

// report returns the questions and their costs.
func (a *asked) report() Report {
	r := Report{
		Answers: a.answers, Remembered: a.remembered, LeftOut: a.leftOut, Drawn: a.drawn,
		Columns: slices.Sorted(maps.Keys(a.columns)), Functions: slices.Sorted(maps.Keys(a.functions)),
	}
	if a.bounds.answers == a.answers {
		r.Radius, r.Unit = a.bounds.most, a.bounds.unit
	}
	for _, unit := range slices.Sorted(maps.Keys(a.spent)) {
		r.Costs = append(r.Costs, a.spent[unit].Cost)
	}
	return r
}
