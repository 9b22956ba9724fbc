package draws

import (
	"bytes"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/rules"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/trace"
)

// A traced mechanism reports a trace. Cell returns the lattice point of a secret, and show the numbers of a report.
type traced struct {
	*trace.Mechanism
	unit budget.Unit
	cell func(x, y float64) trace.Cell
	show func(z trace.Cell) []float64
}

func (traced) draw(*exact.Source, float64, float64) []float64 { panic("a trace draws step by step") }

// trace returns the mechanism of a policy, over a domain or over a universe.
func (m *Module) trace(a struct {
	Domain, Universe uint32
	Mechanism        string
	Policy           string
}) (any, error) {
	policy, err := trace.ParsePolicy(a.Mechanism, []byte(a.Policy))
	if err != nil {
		return nil, err
	}
	var t traced
	var space trace.Space
	if a.Universe != 0 {
		u, err := m.universes.Get(a.Universe)
		if err != nil {
			return nil, err
		}
		line := trace.NewLine(u)
		space = line
		t.cell = func(x, _ float64) trace.Cell { return line.Cell(x) }
		t.show = func(z trace.Cell) []float64 { return []float64{line.Value(z)} }
	} else {
		d, err := m.domains.Get(a.Domain)
		if err != nil {
			return nil, err
		}
		plane := trace.NewPlane(d)
		space = plane
		t.cell = plane.Cell
		t.show = func(z trace.Cell) []float64 { lat, lon := plane.Location(z); return []float64{lat, lon} }
	}
	if t.Mechanism, err = trace.New(space, policy); err != nil {
		return nil, err
	}
	t.unit = space.Unit()
	return priced(m.drawers.Add(t), budget.Price{Unit: t.unit, Amount: policy.Epsilon}), nil
}

// A step is one of a trace, charged and not yet drawn, or drawn and not yet stored.
type step struct {
	traced
	account string
	name    string
	plan    trace.Plan
	run     trace.Run // with the point, once it is drawn
	point   trace.Point
	drawn   bool
	term    rules.Term
	stored  []byte // the run in the store meanwhile
}

// draw takes the step for a secret, and returns the report, whether it has noise, and whether a test was made.
func (s *step) draw(src *exact.Source, x, y float64) []float64 {
	if s.drawn {
		panic("the step was taken before")
	}
	s.drawn = true
	s.point = s.Draw(src, s.plan, s.cell(x, y))
	if err := s.Add(&s.run, s.point); err != nil {
		panic(err)
	}
	return append(s.show(s.point.Z), number(s.point.Hard), number(s.point.Tested), s.point.Spent.Float64())
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// begin charges the most that the next step of a trace may cost. Until it ends, the run in the store counts that as lost, so
// that no crash lets a run go on as if the step had not been taken (the promise of package trace is for one run).
func (m *Module) begin(a struct {
	Trace    uint32
	Document string
	Account  string
	Name     string
	State    []byte // of a run that the store does not have
	Now      int64
	T        int64 // of the step, microseconds
}) (any, error) {
	t, err := of[traced](m, a.Trace)
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(a.Document)
	if err != nil {
		return nil, err
	}
	s := &step{traced: t, account: a.Account, name: a.Name}
	state := d.run(a.Account, a.Name, a.State)
	if len(state) > 0 {
		if err := s.run.UnmarshalBinary(state); err != nil {
			return nil, err
		}
	}
	if s.plan, err = t.Plan(&s.run, a.T); err != nil {
		return nil, err
	}
	if s.plan.Action == trace.Stop {
		return nil, errors.New("the trace has stopped: its budget is used up")
	}
	lost := s.run
	if cost := s.plan.Cost(); cost > 0 {
		if s.term, err = d.pay(a.Account, t.unit, cost, a.Now); err != nil {
			return nil, err
		}
		lost.CountLost(cost)
	}
	s.stored, _ = lost.AppendBinary(nil) // never fails
	d.setRun(a.Account, a.Name, s.stored)
	return map[string]any{"handle": m.drawers.Add(s), "document": d.text()}, nil
}

// end stores the run with the point of a step and returns the rest of its charge: whether a test passed is public. If
// another tab has gone on with the trace, the charge stays.
func (m *Module) end(a struct {
	Step     uint32
	Document string
	Now      int64
}) (any, error) {
	s, err := of[*step](m, a.Step)
	if err != nil {
		return nil, err
	}
	m.drawers.Drop(a.Step)
	d, err := parseDocument(a.Document)
	if err != nil || !s.drawn || !bytes.Equal(d.run(s.account, s.name, nil), s.stored) {
		return a.Document, err
	}
	state, _ := s.run.AppendBinary(nil) // never fails
	d.setRun(s.account, s.name, state)
	if rest := s.plan.Cost() - s.point.Spent; rest > 0 {
		standing, err := d.standing(s.account, s.unit, a.Now)
		if err != nil {
			return nil, err
		}
		if standing.Term.Start == s.term.Start { // nothing returns to a window that is over
			d.add(standing, -rest)
		}
	}
	return d.text(), nil
}

// run returns the run of a trace, in the binary form of [trace.Run].
func run(a struct{ Document, Account, Name string }) (any, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return nil, err
	}
	return d.run(a.Account, a.Name, nil), nil
}

func (d *document) run(account, name string, otherwise []byte) []byte {
	if state, ok := d.Traces[account][name]; ok {
		return state
	}
	return otherwise
}

func (d *document) setRun(account, name string, state []byte) {
	if d.Traces == nil {
		d.Traces = map[string]map[string][]byte{}
	}
	if d.Traces[account] == nil {
		d.Traces[account] = map[string][]byte{}
	}
	d.Traces[account][name] = state
}
