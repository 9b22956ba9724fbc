package sqlitefn

import (
	"cmp"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/exact"
)

// A payer pays for releases before they are drawn. A session has one of three. The charger
// charges the ledger, and the release draws. A dry run counts what would be charged, and the
// release answers something public. An evaluation asks the ledger for what a statement elsewhere asks. Releases do not know which payer they have.
type payer interface {
	// pay pays for one evaluation of f by an account.
	pay(t *statement, f *function, account []byte, price budget.Price) (receipt, error)

	// payAll pays for a group of rows: all items or none.
	payAll(t *statement, f *function, b bill) (receipt, error)

	// payDisjoint pays for a group of rows under d1 at a place of the running statement:
	// all items or none, less what they have paid there for groups with other rows.
	payDisjoint(t *statement, place int, f *function, b bill) (receipt, error)

	// payOnce pays for a release that an account gets only once.
	payOnce(f *function, account string, price budget.Price) (receipt, error)

	// openTrace returns what pays for the steps of a trace, and the trace's run so far.
	openTrace(t *statement, f *function, trace, account string, terms *traceTerms) (stepPayer, traceState, error)
}

// A bill says what the accounts of a group of rows are charged.
type bill struct {
	unit   budget.Unit
	items  []ledger.Item
	perRow bool // each account is charged for each of its rows

	// byValue tells that each account is charged the largest sum of epsilon of any of its sealed
	// values, less what it has paid in the statement.
	byValue bool
}

// A traceTerms says how the steps of a trace are charged.
type traceTerms struct {
	unit    budget.Unit
	epsilon budget.Amount // what a refusal without a ledger says was asked
	varies  bool          // whether the cost of a step depends on a draw

	// start restores a run from its state, which is empty for a new run, and from what
	// was spent on points that the state does not contain.
	start func(state []byte, lost budget.Amount) (traceState, error)
}

// A traceState is what payers know of a trace's run.
type traceState interface {
	remaining() budget.Amount // the most that the run may still spend
	state() []byte            // what start needs to restore the run
}

// A stepPayer pays for the steps of one trace and keeps its run. It is closed with the
// partition that takes the steps.
type stepPayer interface {
	// pay pays the most that the next step of the run may cost.
	pay(run traceState, cost budget.Amount) (receipt, error)

	// add adds the step to the run.
	add(run traceState, step ledger.Point) error

	// close saves the run.
	close(run traceState)
}

// A receipt draws what has been paid for. That of a dry run has no source to draw from, so it
// answers with a public stand-in.
type receipt struct {
	source    *exact.Source
	dry       *dryRun // of a location without a source
	elsewhere bool    // it is for a statement that runs elsewhere
}

// here reports whether the statement that the receipt is for may ask how the answer was drawn.
func (r receipt) here() bool { return !r.elsewhere }

// drawLocation draws a location with a mechanism, or returns the mechanism's stand-in.
func (r receipt) drawLocation(m mechanism.Location, lat, lon float64) (zlat, zlon float64) {
	if r.source == nil {
		return r.dry.standIn(m)
	}
	return m.Draw(r.source, lat, lon)
}

// pay pays for one evaluation of the called function by an account.
func (c call) pay(account []byte, price budget.Price) (receipt, error) {
	return c.session.payer.pay(c.statement(), c.function, account, price)
}

// payAll pays for a group of rows: all items or none.
func (c call) payAll(b bill) (receipt, error) {
	return c.session.payer.payAll(c.statement(), c.function, b)
}

// payDisjoint pays for a group of rows under d1: all items or none, less what they have paid at this place
// of the statement for groups with other rows.
func (c call) payDisjoint(b bill) (receipt, error) {
	return c.session.payer.payDisjoint(c.statement(), c.Place(), c.function, b)
}

// openTrace returns what pays for the steps of a trace, and the trace's run so far.
func (c call) openTrace(trace, account string, terms *traceTerms) (stepPayer, traceState, error) {
	return c.session.payer.openTrace(c.statement(), c.function, trace, account, terms)
}

// payOnce pays for a release that an account gets only once.
func (c call) payOnce(account string, price budget.Price) (receipt, error) {
	return c.session.payer.payOnce(c.function, account, price)
}

// drawOrStandIn returns what draw draws, or the stand-in.
func drawOrStandIn[A any](r receipt, draw func(*exact.Source) A, standIn A) A {
	if r.source == nil {
		return standIn
	}
	return draw(r.source)
}

// charger charges the session's ledger.
type charger struct{ session *session }

func (p charger) pay(t *statement, f *function, account []byte, price budget.Price) (receipt, error) {
	spender, err := t.spender(f, price.Unit)
	if err != nil {
		return receipt{}, spendError(err, string(account), price)
	}
	if err := spender.Charge(account, price.Amount); err != nil {
		return receipt{}, err
	}
	p.session.meter.note(account, price)
	return receipt{source: p.session.source}, nil
}

func (p charger) payAll(t *statement, f *function, b bill) (receipt, error) {
	if len(b.items) == 0 {
		return receipt{source: p.session.source}, nil
	}
	book, err := t.charges()
	if err != nil {
		return receipt{}, spendError(err, b.items[0].Account, budget.Price{Unit: b.unit, Amount: b.items[0].Epsilon})
	}
	if t.ended {
		defer t.End()
	}
	if err := book.Charge(f.name, b.unit, b.items); err != nil {
		return receipt{}, err
	}
	p.session.meter.noteAll(b)
	return receipt{source: p.session.source}, nil
}

func (p charger) payDisjoint(t *statement, place int, f *function, b bill) (receipt, error) {
	return payDisjoint(p, t, place, f, b)
}

func (p charger) payOnce(f *function, account string, price budget.Price) (receipt, error) {
	book, err := p.session.chargeableLedger()
	if err != nil {
		return receipt{}, spendError(err, account, price)
	}
	err = book.ChargeOnce(f.name, price.Unit, ledger.Item{Account: account, Epsilon: price.Amount, Evaluations: 1})
	if err != nil {
		return receipt{}, err
	}
	p.session.meter.note([]byte(account), price)
	return receipt{source: p.session.source}, nil
}

func (p charger) openTrace(t *statement, f *function, trace, account string, terms *traceTerms) (stepPayer, traceState, error) {
	book, err := t.charges()
	if err != nil {
		return nil, nil, spendError(err, account, budget.Price{Unit: terms.unit, Amount: terms.epsilon})
	}
	opened, run, err := openRun(book, f, trace, account, terms)
	if err != nil {
		return nil, nil, err
	}
	return &chargedSteps{opened, p.session, account, terms.unit}, run, nil
}

// A traceBook opens traces: a ledger, or a statement of one.
type traceBook interface {
	OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error)
}

// openRun opens a trace and restores its run.
func openRun(book traceBook, f *function, trace, account string, terms *traceTerms) (ledger.Trace, traceState, error) {
	t, state, lost, err := book.OpenTrace(trace, account, terms.unit, f.name)
	if err != nil {
		return nil, nil, err
	}
	run, err := terms.start(state, lost)
	if err != nil {
		return nil, nil, cmp.Or(err, t.Close(nil)) // nothing was done: nothing is saved
	}
	return t, run, nil
}

// chargedSteps charges the ledger for the steps of a trace.
type chargedSteps struct {
	trace   ledger.Trace
	session *session
	account string
	unit    budget.Unit
}

func (s *chargedSteps) pay(run traceState, cost budget.Amount) (receipt, error) {
	if cost > 0 {
		if err := s.trace.Reserve(cost, run.remaining()); err != nil {
			return receipt{}, err
		}
	}
	return receipt{source: s.session.source}, nil
}

// add also saves the run when it is time to.
func (s *chargedSteps) add(run traceState, step ledger.Point) error {
	s.trace.Add(step)
	s.session.meter.note([]byte(s.account), budget.Price{Unit: s.unit, Amount: step.Spent})
	if !s.trace.Full() {
		return nil
	}
	return s.trace.Save(run.state())
}

// close saves the run. If that fails, the trace stays in use with all that was reserved,
// and its next step reports that.
func (s *chargedSteps) close(run traceState) { _ = s.trace.Close(run.state()) }

// pay counts the evaluation instead of charging it; so do the other methods of a dry run.
func (d *dryRun) pay(_ *statement, f *function, account []byte, price budget.Price) (receipt, error) {
	d.count(f, account, price, 1)
	return receipt{dry: d}, nil
}

func (d *dryRun) payAll(_ *statement, f *function, b bill) (receipt, error) {
	for _, item := range b.items {
		t := d.count(f, []byte(item.Account), budget.Price{Unit: b.unit, Amount: item.Epsilon}, item.Evaluations)
		t.perRow, t.byValue = b.perRow, b.byValue
	}
	return receipt{}, nil
}

func (d *dryRun) payDisjoint(t *statement, place int, f *function, b bill) (receipt, error) {
	paid, err := payDisjoint(d, t, place, f, b)
	if _, known := d.rules[f]; err == nil && !known {
		var missing error
		missing, err = t.separate(f)
		d.rules[f] = groupRule(missing)
	}
	return paid, err
}

func (d *dryRun) payOnce(f *function, account string, price budget.Price) (receipt, error) {
	d.count(f, []byte(account), price, 1).once = true
	return receipt{}, nil
}

// openTrace reads the trace's run and closes the trace at once, so that others may use it.
func (d *dryRun) openTrace(_ *statement, f *function, trace, account string, terms *traceTerms) (stepPayer, traceState, error) {
	d.inexact = d.inexact || terms.varies
	counted := &countedSteps{d, f, account, terms.unit}
	book, err := d.session.ledger()
	if errors.Is(err, errNoLedger) {
		run, err := terms.start(nil, 0)
		return counted, run, err
	}
	if err != nil {
		return nil, nil, err
	}
	t, run, err := openRun(book, f, trace, account, terms)
	if err != nil {
		return nil, nil, err
	}
	return counted, run, t.Close(nil)
}

// countedSteps counts the steps of a trace during a dry run.
type countedSteps struct {
	dry     *dryRun
	f       *function
	account string
	unit    budget.Unit
}

func (s *countedSteps) pay(_ traceState, cost budget.Amount) (receipt, error) {
	if cost > 0 {
		s.dry.count(s.f, []byte(s.account), budget.Price{Unit: s.unit, Amount: cost}, 1)
	}
	return receipt{}, nil
}

func (*countedSteps) add(traceState, ledger.Point) error { return nil }
func (*countedSteps) close(traceState)                   {}
