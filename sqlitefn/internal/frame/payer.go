package frame

import (
	"cmp"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/exact"
)

// A Payer pays for releases before they are drawn. A session has one of three. The charger
// charges the ledger, and the release draws. A dry run counts the charges, and the
// release answers something public. An evaluation, for a statement that runs elsewhere, asks the ledger for a
// remembered answer first. Releases do not know which payer they have.
type Payer interface {
	// Pay pays for one evaluation of f by an account.
	Pay(t *Statement, f *Function, account []byte, price budget.Price) (Receipt, error)

	// PayAll pays for a group of rows: all items or none.
	PayAll(t *Statement, f *Function, b Bill) (Receipt, error)

	// PayDisjoint pays for a group of rows under d1 at a place of the running statement:
	// all items or none, each less the amount that its account has paid there for groups with other rows.
	PayDisjoint(t *Statement, place int, f *Function, b Bill) (Receipt, error)

	// PayOnce pays for a release that an account gets only once.
	PayOnce(f *Function, account string, price budget.Price) (Receipt, error)

	// OpenTrace returns the payer of the steps of a trace, and the trace's run so far.
	OpenTrace(t *Statement, f *Function, trace, account string, terms *TraceTerms) (StepPayer, Run, error)
}

// SetPayer has others pay for the session's releases than its ledger, or the ledger again for nil.
func (s *Session) SetPayer(p Payer) {
	if p == nil {
		p = charger{s}
	}
	s.payer = p
}

// CurrentPayer returns the payer of the session's releases.
func (s *Session) CurrentPayer() Payer { return s.payer }

// An Observer is told of the charges and answers of a session.
type Observer interface {
	Charged(account []byte, price budget.Price)

	// Grouped is told of each group of an aggregate that may cost once with others, and why it does not.
	Grouped(by *Function, unit budget.Unit, separate error)

	// Answering is told of the answers of a statement that is about to release its first number, and reports whether it will
	// ask about them.
	Answering(interval.Of) bool
}

// Answering is [Observer.Answering] of the session's observer, false without one.
func (s *Session) Answering(of interval.Of) bool { return s.watcher != nil && s.watcher.Answering(of) }

// Watch has a session tell an observer, or nobody if that is nil. The session's statements then return no row
// to a program that may change something before the next.
func (s *Session) Watch(o Observer) { s.watcher = o }

// Watched reports whether somebody observes the session.
func (s *Session) Watched() bool { return s.watcher != nil }

// note tells the observer of a charge.
func (s *Session) note(account []byte, price budget.Price) {
	if s.watcher != nil {
		s.watcher.Charged(account, price)
	}
}

// A Bill lists the charges of the accounts of a group of rows.
type Bill struct {
	Unit   budget.Unit
	Items  []ledger.Item
	PerRow bool // each account is charged for each of its rows

	// ByValue tells that each account is charged the largest sum of epsilon of any of its sealed
	// values, less the amount that it has paid in the statement.
	ByValue bool
}

// A TraceTerms says how the steps of a trace are charged.
type TraceTerms struct {
	Unit    budget.Unit
	Epsilon budget.Amount // the asked amount in a refusal without a ledger
	Varies  bool          // whether the cost of a step depends on a draw

	// Start restores a run from its state, which is empty for a new run, and from the amount
	// spent on points that the state does not contain.
	Start func(state []byte, lost budget.Amount) (Run, error)
}

// A Run is the run of a trace, as payers see it.
type Run interface {
	Remaining() budget.Amount // the most that the run may still spend
	State() []byte            // the bytes from which Start restores the run
}

// A StepPayer pays for the steps of one trace and keeps its run. It is closed with the
// partition that takes the steps.
type StepPayer interface {
	// Pay pays the most that the next step of the run may cost.
	Pay(run Run, cost budget.Amount) (Receipt, error)

	// Add adds the step to the run.
	Add(run Run, step ledger.Point) error

	// Close saves the run.
	Close(run Run)
}

// A Receipt draws a release that has been paid for. The receipt of a dry run has no source to draw from, so it
// answers with a public stand-in.
type Receipt struct {
	source    *exact.Source
	dry       *DryRun // of a location without a source
	elsewhere bool    // it is for a statement that runs elsewhere
}

// paid returns the receipt of a release that has been paid for.
func (s *Session) paid() Receipt { return Receipt{source: s.source} }

// Receipt returns the receipt of an answer that the ledger has checked for a statement elsewhere, or of a quote for it.
func (s *Session) Receipt(quote bool) Receipt {
	if quote {
		return Receipt{dry: &DryRun{}, elsewhere: true}
	}
	return Receipt{source: s.source, elsewhere: true}
}

// Randomness returns the source to draw from, nil for a stand-in.
func (r Receipt) Randomness() *exact.Source { return r.source }

// Here reports whether the statement that the receipt is for may ask how the answer was drawn.
func (r Receipt) Here() bool { return !r.elsewhere }

// Location draws a location with a mechanism, or returns the mechanism's stand-in.
func (r Receipt) Location(m mechanism.Location, lat, lon float64) (zlat, zlon float64) {
	if r.source == nil {
		return r.dry.standIn(m)
	}
	return m.Draw(r.source, lat, lon)
}

// Pay pays for one evaluation of the called function by an account.
func (c Call) Pay(account []byte, price budget.Price) (Receipt, error) {
	t := c.Statement()
	if err := t.rememberSilence(); err != nil {
		return Receipt{}, err
	}
	return c.Session.payer.Pay(t, c.Function, account, price)
}

// PayAll pays for a group of rows: all items or none.
func (c Call) PayAll(b Bill) (Receipt, error) {
	t := c.Statement()
	if err := t.rememberSilence(); err != nil {
		return Receipt{}, err
	}
	return c.Session.payer.PayAll(t, c.Function, b)
}

// PayDisjoint pays for a group of rows under d1: all items or none, each less the amount that its account has paid at
// this place of the statement for groups with other rows.
func (c Call) PayDisjoint(b Bill) (Receipt, error) {
	return c.Session.payer.PayDisjoint(c.Statement(), c.Place(), c.Function, b)
}

// OpenTrace returns the payer of the steps of a trace, and the trace's run so far.
func (c Call) OpenTrace(trace, account string, terms *TraceTerms) (StepPayer, Run, error) {
	return c.Session.payer.OpenTrace(c.Statement(), c.Function, trace, account, terms)
}

// PayOnce pays for a release that an account gets only once.
func (c Call) PayOnce(account string, price budget.Price) (Receipt, error) {
	return c.Session.payer.PayOnce(c.Function, account, price)
}

// Draw returns the result of draw, or the stand-in.
func Draw[A any](r Receipt, draw func(*exact.Source) A, standIn A) A {
	if r.source == nil {
		return standIn
	}
	return draw(r.source)
}

// charger charges the session's ledger.
type charger struct{ session *Session }

func (p charger) Pay(t *Statement, f *Function, account []byte, price budget.Price) (Receipt, error) {
	spender, err := t.spender(f, price.Unit)
	if err != nil {
		return Receipt{}, SpendError(err, string(account), price)
	}
	if err := spender.Charge(account, price.Amount); err != nil {
		return Receipt{}, err
	}
	p.session.note(account, price)
	return p.session.paid(), nil
}

func (p charger) PayAll(t *Statement, f *Function, b Bill) (Receipt, error) {
	if len(b.Items) == 0 {
		return p.session.paid(), nil
	}
	l, err := t.charges()
	if err != nil {
		return Receipt{}, SpendError(err, b.Items[0].Account, budget.Price{Unit: b.Unit, Amount: b.Items[0].Epsilon})
	}
	if t.ended {
		defer t.End()
	}
	if err := l.Charge(f.Name, b.Unit, b.Items); err != nil {
		return Receipt{}, err
	}
	if p.session.watcher != nil {
		for _, item := range b.Items {
			p.session.note([]byte(item.Account), budget.Price{Unit: b.Unit, Amount: item.Epsilon})
		}
	}
	return p.session.paid(), nil
}

func (p charger) PayDisjoint(t *Statement, place int, f *Function, b Bill) (Receipt, error) {
	paid, err := payDisjoint(p, t, place, f, b)
	if err == nil && p.session.watcher != nil {
		p.session.watcher.Grouped(f, b.Unit, t.callSite(place).separate)
	}
	return paid, err
}

func (p charger) PayOnce(f *Function, account string, price budget.Price) (Receipt, error) {
	l, err := p.session.LedgerToCharge()
	if err != nil {
		return Receipt{}, SpendError(err, account, price)
	}
	err = l.ChargeOnce(f.Name, price.Unit, ledger.Item{Account: account, Epsilon: price.Amount, Evaluations: 1})
	if err != nil {
		return Receipt{}, err
	}
	p.session.note([]byte(account), price)
	return p.session.paid(), nil
}

func (p charger) OpenTrace(t *Statement, f *Function, trace, account string, terms *TraceTerms) (StepPayer, Run, error) {
	l, err := t.charges()
	if err != nil {
		return nil, nil, SpendError(err, account, budget.Price{Unit: terms.Unit, Amount: terms.Epsilon})
	}
	opened, run, err := OpenRun(l, f, trace, account, terms)
	if err != nil {
		return nil, nil, err
	}
	return &chargedSteps{opened, p.session, account, terms.Unit}, run, nil
}

// A traceOpener opens traces: a ledger, or a statement of one.
type traceOpener interface {
	OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error)
}

// OpenRun opens a trace and restores its run.
func OpenRun(l traceOpener, f *Function, trace, account string, terms *TraceTerms) (ledger.Trace, Run, error) {
	t, state, lost, err := l.OpenTrace(trace, account, terms.Unit, f.Name)
	if err != nil {
		return nil, nil, err
	}
	run, err := terms.Start(state, lost)
	if err != nil {
		return nil, nil, cmp.Or(err, t.Close(nil)) // nothing was done: nothing is saved
	}
	return t, run, nil
}

// chargedSteps charges the ledger for the steps of a trace.
type chargedSteps struct {
	trace   ledger.Trace
	session *Session
	account string
	unit    budget.Unit
}

func (s *chargedSteps) Pay(run Run, cost budget.Amount) (Receipt, error) {
	if cost > 0 {
		if err := s.trace.Reserve(cost, run.Remaining()); err != nil {
			return Receipt{}, err
		}
	}
	return s.session.paid(), nil
}

// Add also saves the run when it is time to.
func (s *chargedSteps) Add(run Run, step ledger.Point) error {
	s.trace.Add(step)
	s.session.note([]byte(s.account), budget.Price{Unit: s.unit, Amount: step.Spent})
	if !s.trace.Full() {
		return nil
	}
	return s.trace.Save(run.State())
}

// Close saves the run. If that fails, the trace stays in use with all that was reserved,
// and its next step reports that.
func (s *chargedSteps) Close(run Run) { _ = s.trace.Close(run.State()) }

// Pay counts the evaluation instead of charging it; so do the other methods of a dry run.
func (d *DryRun) Pay(_ *Statement, f *Function, account []byte, price budget.Price) (Receipt, error) {
	d.payments++
	_, err := d.count(f, account, price, 1)
	return Receipt{dry: d}, err
}

func (d *DryRun) PayAll(_ *Statement, f *Function, b Bill) (Receipt, error) {
	if len(b.Items) > 0 {
		d.payments++
	}
	for _, item := range b.Items {
		t, err := d.count(f, []byte(item.Account), budget.Price{Unit: b.Unit, Amount: item.Epsilon}, item.Evaluations)
		if err != nil {
			return Receipt{}, err
		}
		t.perRow, t.byValue = b.PerRow, b.ByValue
		if b.PerRow {
			t.rows = max(t.rows, item.Evaluations)
		}
	}
	return Receipt{}, nil
}

func (d *DryRun) PayDisjoint(t *Statement, place int, f *Function, b Bill) (Receipt, error) {
	paid, err := payDisjoint(d, t, place, f, b)
	g := d.groups[f]
	if err == nil && g == nil {
		g = new(Groups)
		d.groups[f] = g
		g.Separate, err = t.separate(f)
	}
	if err == nil {
		g.Count++
	}
	return paid, err
}

func (d *DryRun) PayOnce(f *Function, account string, price budget.Price) (Receipt, error) {
	total, err := d.count(f, []byte(account), price, 1)
	total.Once = true
	return Receipt{}, err
}

// OpenTrace reads the trace's run and closes the trace at once, so that others may use it.
func (d *DryRun) OpenTrace(_ *Statement, f *Function, trace, account string, terms *TraceTerms) (StepPayer, Run, error) {
	d.varies = d.varies || terms.Varies
	counted := &countedSteps{dry: d, f: f, account: account, terms: terms}
	l, err := d.session.Ledger()
	if errors.Is(err, ErrNoLedger) {
		run, err := terms.Start(nil, 0)
		return counted, run, err
	}
	if err != nil {
		return nil, nil, err
	}
	t, run, err := OpenRun(l, f, trace, account, terms)
	if err != nil {
		return nil, nil, err
	}
	return counted, run, t.Close(nil)
}

// countedSteps counts the steps of a trace during a dry run.
type countedSteps struct {
	dry     *DryRun
	f       *Function
	account string
	terms   *TraceTerms
	total   *Total // nil before the first step that costs something
	open    bool   // the cost of a step may depend on the draw of an earlier one
}

// Pay counts the most that a step may cost.
func (s *countedSteps) Pay(_ Run, cost budget.Amount) (Receipt, error) {
	s.open = s.terms.Varies && s.total != nil
	if cost == 0 {
		return Receipt{}, nil
	}
	var err error
	s.total, err = s.dry.count(s.f, []byte(s.account), budget.Price{Unit: s.terms.Unit, Amount: cost}, 1)
	s.total.trace = true
	return Receipt{}, err
}

func (*countedSteps) Add(Run, ledger.Point) error { return nil }

// Close adds the rest of the run: the less the draws of some steps cost, the more a budget manager may grant to later ones.
func (s *countedSteps) Close(run Run) {
	if s.open {
		s.total.more.Add(run.Remaining())
	}
}
