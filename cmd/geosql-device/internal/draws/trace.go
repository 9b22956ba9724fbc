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

// DomainTrace returns the mechanism of a policy over a domain. Settings are texts and numbers, by the keys of [trace.Policy].
func (m *Module) DomainTrace(domain uint32, mechanism string, settings map[string]any) (Priced, error) {
	d, err := m.domains.get(domain)
	if err != nil {
		return Priced{}, err
	}
	plane := trace.NewPlane(d)
	return m.trace(plane, mechanism, settings, traced{
		cell: plane.Cell,
		show: func(z trace.Cell) []float64 { lat, lon := plane.Location(z); return []float64{lat, lon} },
	})
}

// UniverseTrace returns the mechanism of a policy over a universe.
func (m *Module) UniverseTrace(universe uint32, mechanism string, settings map[string]any) (Priced, error) {
	u, err := m.universes.get(universe)
	if err != nil {
		return Priced{}, err
	}
	line := trace.NewLine(u)
	return m.trace(line, mechanism, settings, traced{
		cell: func(x, _ float64) trace.Cell { return line.Cell(x) },
		show: func(z trace.Cell) []float64 { return []float64{line.Value(z)} },
	})
}

func (m *Module) trace(space trace.Space, mechanism string, settings map[string]any, t traced) (Priced, error) {
	policy, err := trace.NewPolicy(mechanism, settings)
	if err != nil {
		return Priced{}, err
	}
	if t.Mechanism, err = trace.New(space, policy); err != nil {
		return Priced{}, err
	}
	t.unit = space.Unit()
	return Priced{m.drawers.add(t), budget.Price{Unit: t.unit, Amount: policy.Epsilon}}, nil
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

// Begin charges the most that the next step of a trace may cost, at a time in microseconds, and returns the step's handle and
// the document with the charge. If the document has no run of that name, the trace goes on from state.
//
// Until the step ends, the run in the store counts its cost as lost, so that no crash lets a run go on as if the step had not
// been taken (the promise of package trace is for one run).
func (m *Module) Begin(a Account, mechanism uint32, name string, state []byte, at int64) (handle uint32, after string, err error) {
	t, err := of[traced](m, mechanism)
	if err != nil {
		return 0, "", err
	}
	d, err := parseDocument(a.Document)
	if err != nil {
		return 0, "", err
	}
	s := &step{traced: t, account: a.Name, name: name}
	stored := d.entry(traces, a.Name, name)
	if stored.run == nil {
		stored.run = state
	}
	if len(stored.run) > 0 {
		if err := s.run.UnmarshalBinary(stored.run); err != nil {
			return 0, "", err
		}
	}
	if s.plan, err = t.Plan(&s.run, at); err != nil {
		return 0, "", err
	}
	if s.plan.Action == trace.Stop {
		return 0, "", errors.New("the trace has stopped: its budget is used up")
	}
	lost := s.run
	if cost := s.plan.Cost(); cost > 0 {
		if s.term, err = d.pay(a.Name, t.unit, cost, a.Now); err != nil {
			return 0, "", err
		}
		lost.CountLost(cost)
	}
	s.stored, _ = lost.AppendBinary(nil) // never fails
	stored.run = s.stored
	return m.drawers.add(s), d.text(), nil
}

// End stores the run with the point of a step, returns the rest of its charge, since whether a test passed is public, and
// returns the document. If another tab has gone on with the trace, the charge stays.
func (m *Module) End(a Account, handle uint32) (string, error) {
	s, err := of[*step](m, handle)
	if err != nil {
		return "", err
	}
	m.drawers.drop(handle)
	d, err := parseDocument(a.Document)
	if err != nil {
		return "", err
	}
	stored := d.find(traces, s.account, s.name)
	if !s.drawn || stored == nil || !bytes.Equal(stored.run, s.stored) {
		return a.Document, nil
	}
	stored.run, _ = s.run.AppendBinary(nil) // never fails
	if rest := s.plan.Cost() - s.point.Spent; rest > 0 {
		standing, err := d.standing(s.account, s.unit, a.Now)
		if err != nil {
			return "", err
		}
		if standing.Term.Start == s.term.Start { // nothing returns to a window that is over
			d.add(standing, -rest)
		}
	}
	return d.text(), nil
}

// Run returns the run of a trace in the binary form of [trace.Run], or nil if the document has none.
func (a Account) Run(name string) ([]byte, error) {
	d, err := parseDocument(a.Document)
	if err != nil {
		return nil, err
	}
	if e := d.find(traces, a.Name, name); e != nil {
		return e.run, nil
	}
	return nil, nil
}
