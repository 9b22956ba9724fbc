package sqlitefn

import (
	"cmp"
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/trace"
)

// Positions of predictive_step's arguments.
const (
	stepTrace = iota
	stepTime
	stepLat
	stepLon
)

// stepPartition reports the steps of one trace, in the order of their time.
type stepPartition struct {
	session *session
	plan    *tracePlan
	name    string // "" before the first row
	account string
	run     trace.Run
	book    *ledger.Trace // nil within a dry run
}

func newStepPartition(s *session, _ *function) partition { return &stepPartition{session: s} }

// row reports one step. What it may cost is on disk before anything is drawn;
// what it did not cost goes back to what the trace has reserved, since the outcome
// of a test is public. Which rows there are, their times, and that the secret is
// NULL are public too.
func (p *stepPartition) row(c call) error {
	if err := p.open(c); err != nil {
		return err
	}
	at, err := c.time(stepTime)
	if err != nil {
		return err
	}
	lat, lon, null, err := c.location(stepLat)
	if err != nil || null {
		return err
	}
	plan, err := p.plan.mechanism.Plan(&p.run, at.UnixMicro())
	if err != nil {
		return c.bad(stepTime, "must be later than the last one of trace %s", quoted([]byte(p.name)))
	}
	if plan.Action == trace.Stop {
		return nil
	}
	point, err := p.draw(c, plan, lat, lon)
	if err != nil {
		return err
	}
	lat, lon = p.plan.plane.Location(point.Z)
	if err := p.add(point, lat, lon); err != nil {
		return err
	}
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], lat, lon))
	return nil
}

// open reads the trace's policy and state at the first row.
func (p *stepPartition) open(c call) error {
	var room [20]byte
	name, err := c.account(stepTrace, &room)
	if err != nil {
		return err
	}
	if p.plan != nil {
		if string(name) != p.name {
			return c.bad(stepTrace, "changes within a partition; write OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)")
		}
		return nil
	}
	declared, err := p.session.tracePolicyOf(string(name))
	if err != nil {
		return err
	}
	plan, err := p.session.tracePlan(declared)
	if err != nil {
		return err
	}
	p.name, p.account = string(name), declared.account
	if err := p.openBook(c.f, plan); err != nil {
		return err
	}
	p.plan = plan
	return nil
}

func (p *stepPartition) openBook(f *function, plan *tracePlan) error {
	s := p.session
	if s.dry != nil {
		s.dry.varies = true // what a step costs depends on the outcome of its test
	}
	book, err := s.ledger()
	if errors.Is(err, errNoLedger) && s.dry != nil {
		return nil
	}
	if err != nil {
		return s.spendError(err, p.account, budget.Metre, plan.mechanism.Policy().Epsilon)
	}
	t, state, lost, err := book.OpenTrace(p.name, p.account, budget.Metre, f.name)
	if err != nil {
		return err
	}
	if len(state) > 0 {
		err = p.run.UnmarshalBinary(state)
	}
	p.run.Lose(lost)
	if err != nil || s.dry != nil {
		closing := t.Close(nil) // nothing was done: nothing is saved
		return cmp.Or(err, closing)
	}
	p.book = t
	return nil
}

// draw takes the step. A dry run takes every test for failed, and answers what the
// public knew before.
func (p *stepPartition) draw(c call, plan trace.Plan, lat, lon float64) (trace.Point, error) {
	cost := plan.Cost()
	if d := p.session.dry; d != nil {
		if cost > 0 {
			d.count(c.f, []byte(p.account), budget.Metre, cost, 1)
		}
		z := plan.Prediction
		if plan.Action == trace.Noise {
			z = p.plan.plane.Cell(p.plan.domain.Centre())
		}
		return trace.Point{T: plan.T, Z: z, Tested: plan.Action == trace.Test, Hard: cost > 0, Spent: cost}, nil
	}
	if cost > 0 {
		left := p.plan.mechanism.Policy().Epsilon - p.run.History().Spent
		if err := p.book.Reserve(cost, left); err != nil {
			return trace.Point{}, err
		}
	}
	return p.plan.mechanism.Draw(p.session.source, plan, p.plan.plane.Cell(lat, lon)), nil
}

// add adds a point to the run, and saves a block of them.
func (p *stepPartition) add(q trace.Point, lat, lon float64) error {
	if err := p.plan.mechanism.Add(&p.run, q); err != nil {
		return err
	}
	if p.book == nil {
		return nil
	}
	p.book.Add(ledger.Point{
		Time: time.UnixMicro(q.T).UTC(), Lat: lat, Lon: lon,
		Hard: q.Hard, Tested: q.Tested, Spent: q.Spent,
	})
	if !p.book.Full() {
		return nil
	}
	return p.book.Save(p.state())
}

func (p *stepPartition) state() []byte {
	state, _ := p.run.AppendBinary(nil) // never fails
	return state
}

// end saves the run. Where that fails the trace stays taken, with all that was
// reserved: its next step says so.
func (p *stepPartition) end() {
	if p.book != nil {
		_ = p.book.Close(p.state())
		p.book = nil
	}
}
